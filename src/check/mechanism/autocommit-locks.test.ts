import { expect, it } from 'vitest';
import { findContract } from '../../contracts/index.js';
import type { History, Operation } from '../../histories/index.js';
import { verifyMechanism } from './index.js';

const operation = (index: number, session: number, more: Partial<Operation>): Operation => ({
  ...{ index, session, transaction: session, kind: 'update', outcome: 'ok' },
  ...{ start: index * 10, end: index * 10 + 5, ...more },
});

function judged(contract: string, operations: readonly Operation[]): readonly string[] {
  const history: History = {
    header: {
      sessions: ['T1', 'T2'],
      dialect: 'mysql',
      setup: ['CREATE TABLE t (rid INT PRIMARY KEY, v INT, w INT)', 'INSERT INTO t VALUES (1, 0, 0)'],
    },
    operations,
  };
  return verifyMechanism(history, findContract(contract)!).findings.map(({ kind }) => kind);
}

/** T1 holds the row in a transaction, while a statement of T2 outside of any matches it. */
function kinds(contract: string, changed: number): readonly string[] {
  return judged(contract, [
    operation(0, 0, { kind: 'begin', sql: 'BEGIN' }),
    operation(1, 0, { sql: 'UPDATE t SET v = 1', matched: 1, changed: 1 }),
    operation(2, 1, { sql: `UPDATE t SET w = ${changed}`, matched: 1, changed, ends: 'commit' }),
    operation(3, 0, { kind: 'rollback', sql: 'ROLLBACK', ends: 'rollback' }),
  ]);
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

/** The same while T1 commits: the statement looks for what T1 is about to replace. A third transaction then reads what T1 has left. */
function kindsAtCommit(contract: string, changed: number): readonly string[] {
  return judged(contract, [
    operation(0, 0, { kind: 'begin', sql: 'BEGIN' }),
    operation(1, 0, { sql: 'UPDATE t SET v = 7', matched: 1, changed: 1 }),
    operation(2, 0, { kind: 'commit', sql: 'COMMIT', ends: 'commit', end: 40 }),
    operation(3, 1, {
      ...{ sql: `UPDATE t SET w = ${changed} WHERE v < 5`, matched: 1, changed },
      ...{ ends: 'commit', end: 45 },
    }),
    operation(5, 2, {
      ...{ kind: 'select', sql: 'SELECT rid, v, w FROM t', columns: ['rid', 'v', 'w'] },
      ...{ rows: [[1, 7, changed]], ends: 'commit' },
    }),
  ]);
}

it.each([
  ['tidb:read-committed', 0, []],
  ['tidb:repeatable-read', 0, []],
  // It has waited, so it cannot have met the row; and whoever reads what it wrote there reads what nobody can have written.
  ['tidb:repeatable-read', 1, ['write-extra-row', 'wrong-version']],
  ['mysql:repeatable-read', 0, ['write-extra-row']],
] as const)(
  '%s, a statement outside of a transaction that finds a row as it was, and changes %i of 1 rows: %j',
  (contract, changed, expected) => {
    expect(kindsAtCommit(contract, changed)).toEqual(expected);
  },
);
