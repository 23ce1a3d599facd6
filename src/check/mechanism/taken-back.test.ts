import { expect, it } from 'vitest';
import { findContract } from '../../contracts/index.js';
import type { History, Operation } from '../../histories/index.js';
import { verifyMechanism } from './index.js';

/** T1 deletes the row that T2 updates, and commits first. */
function kinds(takesBack: boolean): readonly string[] {
  const steps: readonly (Partial<Omit<Operation, 'session'>> & { readonly session: 0 | 1 })[] = [
    { session: 1, kind: 'begin', sql: 'BEGIN OPTIMISTIC' },
    { session: 0, kind: 'begin', sql: 'BEGIN OPTIMISTIC' },
    { session: 0, kind: 'savepoint', sql: 'SAVEPOINT s' },
    { session: 0, kind: 'delete', sql: 'DELETE FROM t', matched: 1, changed: 1 },
    { session: 1, kind: 'update', sql: 'UPDATE t SET v = 0', matched: 1, changed: 1 },
    ...(takesBack ? [{ session: 0, kind: 'rollback-to', sql: 'ROLLBACK TO SAVEPOINT s' } as const] : []),
    { session: 0, kind: 'commit', sql: 'COMMIT', ends: 'commit' },
    { session: 1, kind: 'commit', sql: 'COMMIT', ends: 'commit' },
  ];
  const history: History = {
    header: {
      sessions: ['T1', 'T2'],
      dialect: 'mysql',
      setup: ['CREATE TABLE t (rid INT PRIMARY KEY, v INT)', 'INSERT INTO t VALUES (1, 1)'],
    },
    operations: steps.map((step, index) => ({
      ...step,
      ...{ index, session: step.session, transaction: step.session, kind: step.kind ?? 'other' },
      ...{ outcome: 'ok', start: index * 10, end: index * 10 + 5 },
    })),
  };
  return verifyMechanism(history, findContract('tidb:snapshot+optimistic')!).findings.map(({ kind }) => kind);
}

it('finds a change at commit that was not refused, unless it was taken back before', () => {
  expect(kinds(false)).toContain('update-of-changed-row');
  expect(kinds(true)).toEqual([]);
});
