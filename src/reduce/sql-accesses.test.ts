import { describe, expect, it } from 'vitest';
import { parseScript } from '../cases/index.js';
import type { History } from '../histories/index.js';
import type { Dialect } from '../sql/index.js';
import { candidateOf } from './candidate.js';
import { modelOf } from './case-model.js';
import { dependencyGraph, reachable } from './dependencies.js';
import { sqlAccesses } from './sql-accesses.js';

const head = 'CREATE TABLE t (v INT, id INT PRIMARY KEY);\nCREATE TABLE u (a INT, b INT);\n';

function modelFor(statements: string) {
  return modelOf(candidateOf(parseScript(head + statements, { file: 'test.sql', dialect: 'postgres' })));
}

function accessesOf(sql: string): readonly string[] {
  const source = sqlAccesses(modelFor(`T1: ${sql};`), 'postgres');
  return source.accesses(0).map(({ table, row, writes }) => `${writes ? 'w' : 'r'} ${table}/${row ?? '*'}`);
}

/** What a writing statement depends on, and what it does to rows. */
function writingOf(sql: string): string {
  const [access] = sqlAccesses(modelFor(`T1: ${sql};`), 'postgres').accesses(0);
  const needs = access!.blind === true ? 'presence' : 'content';
  return `needs ${needs}, ${access!.keepsRow === true ? 'keeps' : 'makes or removes'} rows`;
}

describe('the rows a statement accesses', () => {
  it.each([
    ['SELECT * FROM t WHERE id = 3', ['r t/3']],
    ['SELECT * FROM t WHERE v > 1 AND 3 = id', ['r t/3']],
    ['SELECT * FROM t WHERE id IN (1, 2)', ['r t/1', 'r t/2']],
    ['SELECT * FROM t WHERE id = 1 OR v = 2', ['r t/*']],
    ['SELECT * FROM t', ['r t/*']],
    ['UPDATE t SET v = 1 WHERE id = 2', ['w t/2']],
    ['DELETE FROM t', ['w t/*']],
    ['INSERT INTO t VALUES (10, 1), (20, 2)', ['w t/1', 'w t/2']],
    ['INSERT INTO t (id, v) VALUES (1, 10)', ['w t/1']],
    ['INSERT INTO u VALUES (7, 8)', ['w u/7']],
    ['UPDATE t SET v = (SELECT MAX(a) FROM u) WHERE id = 1', ['w t/1', 'r u/*']],
    ['TRUNCATE u', ['w u/*']],
  ])('of %s', (sql, expected) => {
    expect(accessesOf(sql)).toEqual(expected);
  });

  it.each([
    ['UPDATE t SET v = 1 WHERE id = 2', 'needs presence, keeps rows'],
    ['UPDATE t SET v = 1', 'needs presence, keeps rows'],
    ['UPDATE t SET v = 1 WHERE id IN (2, 3) AND id < 9', 'needs presence, keeps rows'],
    ['UPDATE t SET v = v + 1 WHERE id = 2', 'needs content, keeps rows'],
    ['UPDATE t SET v = 1 WHERE id = 2 AND v = 0', 'needs content, keeps rows'],
    ['UPDATE t SET v = 1 WHERE id = 2 OR v = 0', 'needs content, keeps rows'],
    // A column that is assigned names no rows.
    ['UPDATE t SET id = 3 WHERE id = 2', 'needs content, keeps rows'],
    ['DELETE FROM t WHERE id = 2', 'needs presence, makes or removes rows'],
    ['DELETE FROM t WHERE v = 2', 'needs content, makes or removes rows'],
    ['INSERT INTO t VALUES (1, 2)', 'needs presence, makes or removes rows'],
    [
      'INSERT INTO t VALUES (1, 2) ON CONFLICT (id) DO UPDATE SET v = 1',
      'needs content, makes or removes rows',
    ],
    ['INSERT INTO t SELECT a, b FROM u', 'needs content, makes or removes rows'],
    ['TRUNCATE t', 'needs content, makes or removes rows'],
  ])('of %s: %s', (sql, expected) => {
    expect(writingOf(sql)).toBe(expected);
  });

  it('are told apart by the table: "T" and t are two in PostgreSQL, one in SQLite', () => {
    const tables = 'CREATE TABLE t (id INT PRIMARY KEY);\nCREATE TABLE "T" (id INT PRIMARY KEY);\n';
    const written = (dialect: Dialect, setup: string) => {
      const text = `${setup}T1: DELETE FROM T WHERE id = 1;\nT1: DELETE FROM "T" WHERE id = 1;\n`;
      const model = modelOf(candidateOf(parseScript(text, { file: 'test.sql', dialect })));
      const source = sqlAccesses(model, dialect);
      return [0, 1].flatMap((id) => source.accesses(id).map(({ table, row }) => `${table}/${row}`));
    };
    expect(written('postgres', tables)).toEqual(['t/1', 'T/1']);
    expect(written('sqlite', tables.slice(0, tables.indexOf('\n') + 1))).toEqual(['t/1', 't/1']);
  });

  it('are not told apart by a column called rid whose values are not unique', () => {
    const accesses = (values: string) => {
      const setup = `CREATE TABLE t (rid INT, v INT);\nINSERT INTO t VALUES ${values};\n`;
      const text = `${setup}T1: UPDATE t SET v = 5 WHERE rid = 1;\n`;
      const model = modelOf(candidateOf(parseScript(text, { file: 'test.sql', dialect: 'postgres' })));
      return sqlAccesses(model, 'postgres').accesses(0);
    };
    expect(accesses('(1, 10), (2, 20)')).toMatchObject([{ row: '1', blind: true }]);
    expect(accesses('(1, 10), (1, 20)')).toEqual([{ table: 't', writes: true, keepsRow: true }]);
  });

  it('are those that came back, where a run tells', () => {
    const model = modelFor('T1: SELECT id, v FROM t WHERE v > 5;');
    const history: History = {
      header: { sessions: ['T1'] },
      operations: [
        {
          ...{ index: 0, session: 0, transaction: 0, kind: 'select', start: 0, end: 1, outcome: 'ok' },
          statement: [0, 0],
          columns: ['id', 'v'],
          rows: [
            [4, 6],
            [9, 7],
          ],
        },
      ],
    };
    expect(sqlAccesses(model, 'postgres', history).accesses(0)).toEqual([
      { table: 't', row: '4', writes: false },
      { table: 't', row: '9', writes: false },
    ]);
  });
});

describe('the dependency graph', () => {
  it('leads from the writer of a version to those who read it or make the next from it', () => {
    const model = modelFor(`
      T1: UPDATE t SET v = 1 WHERE id = 1;
      T2: UPDATE t SET v = 2 WHERE id = 2;
      T1: UPDATE t SET v = v + 3 WHERE id = 1;
      T2: SELECT * FROM t WHERE id = 1;
      T1: SELECT * FROM t;
      T2: DELETE FROM t WHERE v > 0;
      T1: SELECT * FROM t WHERE id = 2;`);
    const { successors, predecessors } = dependencyGraph(model, sqlAccesses(model, 'postgres'));
    expect(successors).toEqual([[2], [4, 5], [3, 4, 5], [], [], [6], []]);
    expect(predecessors[5]).toEqual([1, 2]);
    expect(reachable(successors, [0])).toEqual([0, 2, 3, 4, 5, 6]);
  });

  it('passes by writes of constants, which only need the row to be there', () => {
    const model = modelFor(`
      T1: INSERT INTO t VALUES (0, 1);
      T2: UPDATE t SET v = 2 WHERE id = 1;
      T1: UPDATE t SET v = 3 WHERE id = 1;
      T2: SELECT * FROM t WHERE id = 1;
      T1: DELETE FROM t WHERE id = 1;
      T2: INSERT INTO t VALUES (5, 1);
      T1: UPDATE t SET v = 6 WHERE id = 1;`);
    const { successors } = dependencyGraph(model, sqlAccesses(model, 'postgres'));
    expect(successors).toEqual([[1, 2, 4], [], [3], [], [5], [6], []]);
  });
});
