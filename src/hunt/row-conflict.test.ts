import { describe, expect, it } from 'vitest';
import type { History, Operation, OperationError } from '../histories/index.js';
import { classifyStatement } from '../sql/index.js';
import { findRowConflict } from './row-conflict.js';

const setup = ['CREATE TABLE t (id INT PRIMARY KEY, v INT)', 'INSERT INTO t VALUES (1, 10), (2, 20)'];

/** `1: BEGIN`: transaction 1 of session 1; one line after the other. `!`: refused with a serialization error. */
function run(lines: readonly string[], tables: readonly string[] = setup): History {
  const refusal: OperationError = { class: 'serialization', message: 'conflict' };
  return {
    header: { sessions: ['T0', 'T1', 'T2', 'T3'], dialect: 'postgres', setup: tables },
    operations: lines.map((line, index): Operation => {
      const [, number, mark, sql] = /^(\d): (!?)(.*)$/.exec(line)!;
      const { kind } = classifyStatement(sql!, 'postgres');
      const ended = kind === 'commit' || kind === 'rollback' ? { ends: kind } : {};
      const answer =
        mark === '!' ? { outcome: 'error' as const, error: refusal } : { outcome: 'ok' as const };
      const transaction = Number(number);
      return {
        index,
        session: transaction,
        transaction,
        kind,
        sql: sql!,
        start: 10 * index,
        end: 10 * index + 5,
        ...answer,
        ...ended,
      };
    }),
  };
}

const meet = (...lines: readonly string[]) => findRowConflict(run(lines));

describe('two transactions meet', () => {
  it.each([
    ['when both write a row', '1: UPDATE t SET v = 1 WHERE id = 1', '2: UPDATE t SET v = 2 WHERE id = 1'],
    ['when one reads what the other writes', '1: SELECT * FROM t', '2: DELETE FROM t WHERE id = 2'],
    ['by another column', '1: UPDATE t SET v = 1 WHERE v > 15', '2: SELECT v FROM t WHERE id = 2'],
    [
      'when a search misses a version that now satisfies it',
      '1: UPDATE t SET v = 99 WHERE id = 1',
      '2: SELECT count(*) FROM t WHERE v = 99',
    ],
    ['when one is refused', '1: UPDATE t SET v = 1 WHERE id = 1', '2: !UPDATE t SET v = 2 WHERE NOT id <> 1'],
    ['over a new key', '1: INSERT INTO t VALUES (7, 1)', '2: !INSERT INTO t VALUES (7, 2)'],
    [
      'through a join',
      '1: UPDATE t SET v = 1 WHERE id = 1',
      '2: SELECT a.id FROM t AS a JOIN t AS b ON a.id = b.v WHERE a.id = 1',
    ],
    [
      'through a subquery',
      '1: UPDATE t SET v = 1 WHERE id = 1',
      '2: SELECT (SELECT max(v) FROM t WHERE id = 1)',
    ],
    [
      'through an upsert',
      '1: SELECT * FROM t WHERE id = 1',
      '2: INSERT INTO t VALUES (1, 5) ON CONFLICT (id) DO UPDATE SET v = 5',
    ],
  ])('%s', (_, one, other) => {
    const found = meet('1: BEGIN', '2: BEGIN', one, other, '1: COMMIT', '2: COMMIT');
    expect(found?.transactions.toSorted()).toEqual([1, 2]);
  });

  it('through a MERGE', () => {
    const merge =
      '2: MERGE INTO t USING (SELECT 1 AS id) AS s ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = 7';
    expect(meet('1: BEGIN', '1: SELECT * FROM t WHERE id = 1', merge, '1: COMMIT')?.row).toBe('t/1');
  });

  it.each([
    [
      'an upsert of what a query returns',
      'INSERT INTO t SELECT id, 5 FROM u ON CONFLICT (id) DO UPDATE SET v = excluded.v',
    ],
    ['MERGE of a table', 'MERGE INTO t USING u ON t.id = u.id WHEN MATCHED THEN UPDATE SET v = 7'],
    [
      'an upsert that inserts one row and meets another',
      'INSERT INTO t VALUES (1, 5), (7, 5) ON CONFLICT (id) DO UPDATE SET v = excluded.v',
      7,
    ],
  ] as readonly (readonly [string, string, number?])[])('through %s', (_, sql, id = 1) => {
    const tables = [...setup, 'CREATE TABLE u (id INT PRIMARY KEY)', 'INSERT INTO u VALUES (1)'];
    const lines = ['1: BEGIN', '2: BEGIN', `1: ${sql}`, `2: UPDATE t SET v = 0 WHERE id = ${id}`];
    expect(findRowConflict(run(lines, tables))?.row).toBe(`t/${id}`);
  });

  it('and the first one named wrote', () => {
    const found = meet('1: BEGIN', '1: SELECT * FROM t', '2: UPDATE t SET v = 1 WHERE id = 2', '1: COMMIT');
    expect(found).toEqual({ row: 't/2', transactions: [2, 1] });
  });

  it('on a row whose delete was taken back', () => {
    const lines = ['1: BEGIN', '1: SAVEPOINT s', '1: DELETE FROM t', '1: ROLLBACK TO s', '1: COMMIT'];
    const after = [
      '2: BEGIN',
      '3: BEGIN',
      '2: UPDATE t SET v = 1 WHERE id = 1',
      '3: SELECT v FROM t WHERE id = 1',
    ];
    expect(meet(...lines, ...after)?.transactions).toEqual([2, 3]);
  });
});

describe('two transactions do not meet', () => {
  it.each([
    ['on different rows', '1: UPDATE t SET v = 1 WHERE id = 1', '2: UPDATE t SET v = 2 WHERE id = 2'],
    ['when both only read', '1: SELECT * FROM t FOR UPDATE', '2: SELECT * FROM t'],
    [
      'on rows no version of which fits',
      '1: UPDATE t SET v = 11 WHERE id = 1',
      '2: SELECT v FROM t WHERE v = 12',
    ],
    ['over different keys', '1: INSERT INTO t VALUES (7, 1)', '2: INSERT INTO t VALUES (8, 1)'],
  ])('%s', (_, one, other) => {
    expect(meet('1: BEGIN', '2: BEGIN', one, other, '1: COMMIT', '2: COMMIT')).toBeUndefined();
  });

  it('one after the other', () => {
    const one = ['1: BEGIN', '1: UPDATE t SET v = 1 WHERE id = 1', '1: COMMIT'];
    expect(meet(...one, '2: BEGIN', '2: UPDATE t SET v = 2 WHERE id = 1', '2: COMMIT')).toBeUndefined();
  });

  it('in tables of PostgreSQL whose names differ by case', () => {
    const tables = [
      'CREATE TABLE t (id INT PRIMARY KEY, v INT)',
      'CREATE TABLE "T" (id INT PRIMARY KEY, v INT)',
      'INSERT INTO T VALUES (1, 10)',
      'INSERT INTO "T" VALUES (1, 10)',
    ];
    const one = '1: UPDATE t SET v = 1 WHERE id = 1';
    const met = (name: string) =>
      findRowConflict(run(['1: BEGIN', '2: BEGIN', one, `2: SELECT v FROM ${name} WHERE id = 1`], tables));
    expect(met('"T"')).toBeUndefined();
    expect(met('T')).toEqual({ row: 't/1', transactions: [1, 2] });
  });

  it('over what the database says matched no row', () => {
    const { header, operations } = run([
      '1: BEGIN',
      '2: BEGIN',
      '1: UPDATE t SET v = 1 WHERE id = 1',
      '2: UPDATE t SET v = 2 WHERE id = 1',
    ]);
    const none = operations.map((each) => (each.kind === 'update' ? { ...each, matched: 0 } : each));
    expect(findRowConflict({ header, operations: none })).toBeUndefined();
  });

  it('and rows without a key are told apart', () => {
    const tables = ['CREATE TABLE t (id INT, v INT)', 'INSERT INTO t VALUES (1, 10), (1, 20)'];
    const lines = ['1: BEGIN', '2: BEGIN', '1: UPDATE t SET v = 11 WHERE v = 10'];
    expect(findRowConflict(run([...lines, '2: SELECT * FROM t WHERE v = 20'], tables))).toBeUndefined();
    expect(findRowConflict(run([...lines, '2: SELECT * FROM t WHERE id = 1'], tables))).toBeDefined();
  });
});
