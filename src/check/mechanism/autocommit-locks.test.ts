import { expect, it } from 'vitest';
import { findContract } from '../../contracts/index.js';
import type { History, Operation } from '../../histories/index.js';
import { verifyMechanism } from './index.js';

/** T1 holds the row in a transaction, while a statement of T2 outside of any matches it. */
function kinds(contract: string, changed: number): readonly string[] {
  const operation = (index: number, session: number, more: Partial<Operation>): Operation => ({
    ...{ index, session, transaction: session, kind: 'update', outcome: 'ok' },
    ...{ start: index * 10, end: index * 10 + 5, ...more },
  });
  const history: History = {
    header: {
      sessions: ['T1', 'T2'],
      dialect: 'mysql',
      setup: ['CREATE TABLE t (rid INT PRIMARY KEY, v INT, w INT)', 'INSERT INTO t VALUES (1, 0, 0)'],
    },
    operations: [
      operation(0, 0, { kind: 'begin', sql: 'BEGIN' }),
      operation(1, 0, { sql: 'UPDATE t SET v = 1', matched: 1, changed: 1 }),
      operation(2, 1, { sql: `UPDATE t SET w = ${changed}`, matched: 1, changed, ends: 'commit' }),
      operation(3, 0, { kind: 'rollback', sql: 'ROLLBACK', ends: 'rollback' }),
    ],
  };
  return verifyMechanism(history, findContract(contract)!).findings.map(({ kind }) => kind);
}

it.each([
  ['tidb:read-committed', 0, []],
  ['tidb:repeatable-read', 0, []],
  ['tidb:repeatable-read', 1, ['lock-violated']],
  ['mysql:repeatable-read', 0, ['lock-violated']],
] as const)(
  '%s, a statement outside of a transaction that changes %i of 1 rows: %j',
  (contract, changed, expected) => {
    expect(kinds(contract, changed)).toEqual(expected);
  },
);
