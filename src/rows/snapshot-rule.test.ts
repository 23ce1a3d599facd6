import { describe, expect, it } from 'vitest';
import type { Mechanism } from '../contracts/index.js';
import type { Operation } from '../histories/index.js';
import { classifyStatement, type Dialect } from '../sql/index.js';
import { fixesSnapshot } from './snapshot-rule.js';

function fixes(sql: string, pivot: Mechanism['pivot'], dialect: Dialect, more: Partial<Operation> = {}) {
  const { kind } = classifyStatement(sql, dialect);
  const operation: Operation = {
    ...{ index: 0, session: 0, transaction: 0, start: 0, end: 1, outcome: 'ok', kind, sql },
    ...more,
  };
  return fixesSnapshot(operation, pivot, dialect);
}

describe('which statement takes the snapshot', () => {
  it.each([
    ['BEGIN', 'begin', 'certainly'],
    ['BEGIN IMMEDIATE', 'begin', 'likely'],
    ['BEGIN DEFERRED', 'begin', 'likely'],
    ['SELECT 1', 'begin', 'certainly'],
    ['COMMIT', 'begin', 'perhaps'],
    ['BEGIN', 'first-statement', 'no'],
    ['SELECT * FROM t', 'first-statement', 'certainly'],
    ['UPDATE t SET v = 1', 'first-statement', 'certainly'],
    ['DELETE FROM t', 'first-statement', 'certainly'],
    ['INSERT INTO t VALUES (1)', 'first-statement', 'certainly'],
    ['SAVEPOINT s', 'first-statement', 'perhaps'],
    ['SET x = 1', 'first-statement', 'perhaps'],
    ['CREATE TABLE u (a INT)', 'first-statement', 'likely'],
  ] as const)('PostgreSQL: %s, pivot %s: %s', (sql, pivot, expected) => {
    expect(fixes(sql, pivot, 'postgres')).toBe(expected);
  });

  it.each([
    ['BEGIN CONCURRENT', 'certainly'],
    ['BEGIN', 'likely'],
    ['BEGIN DEFERRED', 'likely'],
  ] as const)('Turso in MVCC mode: %s: %s', (sql, expected) => {
    expect(fixes(sql, 'begin', 'sqlite')).toBe(expected);
  });

  it.each<[string, Partial<Operation>, string]>([
    ['START TRANSACTION WITH CONSISTENT SNAPSHOT', {}, 'certainly'],
    ['BEGIN', {}, 'no'],
    ['SELECT * FROM t WHERE id = 1', {}, 'certainly'],
    ['SELECT * FROM t WHERE id = 1 AND id = 2', {}, 'likely'],
    ['SELECT * FROM t WHERE id = 1 AND id = 2', { rows: [[7]] }, 'certainly'],
    ['SELECT COUNT(*) FROM t WHERE id = 1 AND id = 2', { rows: [[0]] }, 'likely'],
    ['SELECT 1', { rows: [[1]] }, 'likely'],
    ['SELECT * FROM t FOR UPDATE', {}, 'no'],
    ['SELECT * FROM t LOCK IN SHARE MODE', {}, 'no'],
    ['SELECT * FROM t WHERE id IN (SELECT id FROM u) FOR UPDATE', {}, 'perhaps'],
    ['UPDATE t SET v = 1', {}, 'no'],
    ['UPDATE t SET v = (SELECT MAX(v) FROM u)', {}, 'perhaps'],
    ['INSERT INTO t SELECT * FROM u', {}, 'perhaps'],
    ['COMMIT', {}, 'no'],
  ])('InnoDB, by the first plain read: %s %j: %s', (sql, more, expected) => {
    expect(fixes(sql, 'first-read', 'mysql', more)).toBe(expected);
  });

  it('MyRocks takes it with the first statement that certainly met a row', () => {
    const answers = (more: Partial<Operation>) =>
      fixes('UPDATE t SET v = 1 WHERE id = 1', 'first-statement', 'mysql', more);
    expect([answers({ matched: 0 }), answers({ matched: 1 }), answers({})]).toEqual([
      'likely',
      'certainly',
      'likely',
    ]);
  });
});
