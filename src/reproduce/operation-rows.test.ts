import { expect, it } from 'vitest';
import type { Operation } from '../histories/index.js';
import { classifyStatement } from '../sql/index.js';
import { lockOfText } from './operation-rows.js';

it.each([
  ['SELECT * FROM t FOR UPDATE', 'exclusive'],
  ['SELECT * FROM t FOR NO KEY UPDATE', 'exclusive'],
  ['SELECT * FROM t FOR KEY SHARE', 'share'],
  ['SELECT * FROM t LOCK IN SHARE MODE', 'share'],
  ['SELECT * FROM t', 'none'],
  ["SELECT 'for update' FROM t", 'none'],
  ["SELECT * FROM t WHERE v = 'for a share'", 'none'],
  ['UPDATE t SET v = 1', 'none'],
])('the lock of %s: %s', (sql, lock) => {
  const { kind } = classifyStatement(sql, 'mysql');
  const operation = { kind, sql } as Operation;
  expect(lockOfText(operation, 'mysql')).toBe(lock);
});
