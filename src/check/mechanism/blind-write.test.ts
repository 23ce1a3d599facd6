import { expect, it } from 'vitest';
import { findContract } from '../../contracts/index.js';
import type { History, Operation } from '../../histories/index.js';
import { verifyMechanism } from './index.js';

const operation = (index: number, sql: string, more: Partial<Operation>): Operation => ({
  index,
  session: index,
  transaction: index,
  kind: 'update',
  sql,
  start: index * 10,
  end: index * 10 + 5,
  outcome: 'ok',
  ends: 'commit',
  ...more,
});

it('does not count rows that a write it could not follow may have taken away', () => {
  const history: History = {
    header: {
      sessions: ['T1', 'T2'],
      dialect: 'mysql',
      setup: [
        'CREATE TABLE t (rid INT, k VARCHAR(9) PRIMARY KEY, v INT)',
        "INSERT INTO t VALUES (1, 'a', 10), (2, 'b', 20)",
      ],
    },
    operations: [
      operation(0, "REPLACE INTO t VALUES (3, 'a', 30)", { kind: 'replace', matched: 1, changed: 1 }),
      operation(1, 'UPDATE t SET v = 0 WHERE rid <= 2', { matched: 1, changed: 1 }),
    ],
  };
  expect(verifyMechanism(history, findContract('mariadb:serializable')!).findings).toEqual([]);
});
