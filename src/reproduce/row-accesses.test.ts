import { describe, expect, it } from 'vitest';
import { findContract } from '../contracts/index.js';
import type { History } from '../histories/index.js';
import { rowAccesses } from './row-accesses.js';

const history: History = {
  header: {
    sessions: ['A'],
    dialect: 'postgres',
    setup: ['CREATE TABLE t (id INT PRIMARY KEY, v INT)', 'INSERT INTO t VALUES (1, 10), (2, 20)'],
  },
  operations: [
    { kind: 'begin', sql: 'BEGIN' },
    { kind: 'update', sql: 'UPDATE t SET v = 0 WHERE v < 15', matched: 1 },
    { kind: 'select', sql: 'SELECT id, v FROM t WHERE id = 2', columns: ['id', 'v'], rows: [[2, 20]] },
    { kind: 'commit', sql: 'COMMIT', ends: 'commit' },
  ].map((op, index) => ({
    ...{ index, session: 0, transaction: 0, start: index * 2, end: index * 2 + 1, outcome: 'ok' },
    ...op,
  })) as History['operations'],
};

describe('row accesses', () => {
  it('names the rows a statement with a condition changed, those a read saw, and what a COMMIT published', () => {
    const found = rowAccesses(history, findContract('postgres:read-committed')!);
    expect(found.map(({ statement }) => statement)).toEqual([
      [0, 0],
      [0, 1],
      [0, 2],
      [0, 3],
    ]);
    const nothing = { reads: false, writes: false, locks: false, publishes: false };
    expect(found[0]!.rows).toEqual([]);
    expect(found[1]!.rows).toContainEqual({ table: 't', row: '1', ...nothing, writes: true });
    expect(found[1]!.rows).toContainEqual({ table: 't', ...nothing, reads: true });
    expect(found[2]!.rows).toEqual([{ table: 't', row: '2', ...nothing, reads: true }]);
    expect(found[3]!.rows).toContainEqual({ table: 't', row: '1', ...nothing, publishes: true });
  });
});
