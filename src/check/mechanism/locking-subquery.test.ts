import { expect, it } from 'vitest';
import { findContract } from '../../contracts/index.js';
import type { History, Operation } from '../../histories/index.js';
import { verifyMechanism } from './index.js';
import { story } from './story.case.js';

it('does not take a locking clause inside a subquery for a plain read', () => {
  const operation = (index: number, session: number, sql: string, more: Partial<Operation>): Operation => ({
    ...{ index, session, transaction: session, kind: 'select', sql, outcome: 'ok' },
    ...{ start: index * 10, end: index * 10 + 5 },
    ...more,
  });
  const history: History = {
    header: {
      sessions: ['T1', 'T2'],
      dialect: 'mysql',
      setup: ['CREATE TABLE t (id INT PRIMARY KEY, v INT)', 'INSERT INTO t VALUES (1, 10), (2, 20)'],
    },
    operations: [
      operation(0, 0, 'BEGIN', { kind: 'begin' }),
      operation(1, 0, 'SELECT id, v FROM t', {
        columns: ['id', 'v'],
        rows: [
          [1, 10],
          [2, 20],
        ],
      }),
      operation(2, 1, 'UPDATE t SET v = v * 10', { kind: 'update', matched: 2, changed: 2, ends: 'commit' }),
      // What InnoDB answers: the subquery reads the newest row, and locks it.
      operation(3, 0, 'SELECT (SELECT v FROM t WHERE id = 2 FOR UPDATE) AS v', {
        columns: ['v'],
        rows: [[200]],
      }),
      operation(4, 0, 'COMMIT', { kind: 'commit', ends: 'commit' }),
    ],
  };
  const { findings, skipped } = verifyMechanism(history, findContract('mariadb:repeatable-read')!);
  expect(findings).toEqual([]);
  expect(JSON.stringify(skipped)).toContain('a locking clause inside a subquery');
});

it('lets the subquery of a locking read see what is not committed, where plain reads do', () => {
  const text = `
    T1: BEGIN
    T1: DELETE FROM t -> 2
    T2: SELECT id, v FROM t WHERE EXISTS (SELECT * FROM t AS s) FOR UPDATE -> nothing
    T1: ROLLBACK`;
  const kinds = (id: string) =>
    verifyMechanism(story(text, { dialect: 'mysql' }), findContract(id)!).findings.map(({ kind }) => kind);
  expect(kinds('mysql:read-uncommitted')).toEqual([]);
  expect(kinds('mysql:read-committed')).toEqual(['wrong-result']);
});
