/** Joins: which rows meet, and what `*` shows where USING and NATURAL merge columns, which every dialect does its own way. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { SelectStatement } from '../ast.js';
import type { Dialect } from '../dialect.js';
import { parseStatement } from '../parse/parse.js';
import type { Row, Value } from '../value.js';
import { evaluateSelect } from './evaluate.js';
import type { TableRows } from './scope.js';
import { isUndecidable } from './undecidable.js';

const dialects: readonly Dialect[] = ['postgres', 'mysql', 'sqlite', 'duckdb'];
const int = (name: string) => ({ name, type: 'INT' });

const tables: Readonly<Record<string, TableRows>> = {
  t: {
    columns: [int('id'), int('g'), int('v')],
    rows: [
      [1, 1, 10],
      [2, 1, 20],
      [3, 2, null],
    ],
  },
  u: {
    columns: [int('id'), { name: 'w', type: 'VARCHAR(5)' }, int('g')],
    rows: [
      [1, 'one', 1],
      [3, 'three', 5],
      [5, 'five', 2],
    ],
  },
};

function run(sql: string, dialect: Dialect, all: Readonly<Record<string, TableRows>> = tables) {
  return evaluateSelect(parseStatement(sql, dialect) as SelectStatement, {
    dialect,
    table: (name) => all[name],
  });
}

function rowsOf(sql: string, dialect: Dialect, all?: Readonly<Record<string, TableRows>>) {
  const result = run(sql, dialect, all);
  if (isUndecidable(result)) throw new Error(`${sql}: ${result.undecidable}`);
  return result;
}

describe('what * shows of a join with USING', () => {
  // As PostgreSQL, MariaDB, SQLite and DuckDB were seen to answer.
  it.each<[sql: string, postgres: string, mysql: string, sqlite: string, duckdb: string]>([
    ['t JOIN u USING (id)', 'id g v w g', 'id g v w g', 'id g v w g', 'id g v w g'],
    ['u JOIN t USING (g, id)', 'g id w v', 'id g w v', 'id w g v', 'id w g v'],
    ['u NATURAL JOIN t', 'id g w v', 'id g w v', 'id w g v', 'id w g v'],
    ['u NATURAL LEFT JOIN t', 'id g w v', 'id g w v', 'id w g v', 'id w g v'],
    ['t RIGHT JOIN u USING (id)', 'id g v w g', 'id w g g v', 'id g v w g', 'id g v w g'],
    ['t NATURAL RIGHT JOIN u', 'id g v w', 'id g w v', 'id g v w', 'id g v w'],
    ['u RIGHT JOIN t USING (g)', 'g id w id v', 'g id v id w', 'id w g id v', 'id w g id v'],
    [
      't RIGHT JOIN u USING (id) LEFT JOIN t AS x USING (id)',
      'id g v w g g v',
      'id w g g v g v',
      'id g v w g g v',
      'id g v w g g v',
    ],
  ])('%s', (from, ...names) => {
    const shown = dialects.map((dialect) => rowsOf(`SELECT * FROM ${from}`, dialect).columns.join(' '));
    expect(shown).toEqual(names);
  });

  it('moves the values with the names', () => {
    const rows = (dialect: Dialect) => rowsOf('SELECT * FROM u LEFT JOIN t USING (g, id)', dialect).rows;
    expect(rows('postgres')).toEqual([
      [1, 1, 'one', 10],
      [5, 3, 'three', null],
      [2, 5, 'five', null],
    ]);
    expect(rows('mysql')).toEqual([
      [1, 1, 'one', 10],
      [3, 5, 'three', null],
      [5, 2, 'five', null],
    ]);
    expect(rows('sqlite')).toEqual([
      [1, 'one', 1, 10],
      [3, 'three', 5, null],
      [5, 'five', 2, null],
    ]);
  });

  it.each(dialects)('takes a merged column from the side that has a row, in %s', (dialect) => {
    expect(rowsOf('SELECT id FROM t RIGHT JOIN u USING (id)', dialect).rows).toEqual([[1], [3], [5]]);
    expect(rowsOf('SELECT id FROM t LEFT JOIN u USING (id)', dialect).rows).toEqual([[1], [2], [3]]);
  });

  it('takes a merged column of a FULL JOIN from either side', () => {
    const ids = rowsOf('SELECT id FROM t FULL JOIN u USING (id)', 'postgres').rows;
    expect(ids).toEqual([[1], [2], [3], [5]]);
  });

  it('keeps both sides reachable by their qualified names', () => {
    expect(rowsOf('SELECT t.id, u.id, id FROM t LEFT JOIN u USING (id)', 'postgres').rows).toEqual([
      [1, 1, 1],
      [2, null, 2],
      [3, 3, 3],
    ]);
  });
});

describe('joins that are not decided', () => {
  it.each<[sql: string, dialect: Dialect, reason: string]>([
    ['SELECT * FROM t FULL JOIN u USING (id)', 'mysql', 'FULL JOIN'],
    ['SELECT t.* FROM t JOIN u USING (id)', 'postgres', 'a star that cannot be expanded'],
    ['SELECT g FROM t JOIN u USING (id)', 'postgres', 'column g is ambiguous'],
    [
      'SELECT 1 FROM t AS a JOIN t AS b ON TRUE JOIN u USING (id)',
      'postgres',
      'column id of USING is not unique',
    ],
    ['SELECT 1 FROM t JOIN u USING (w)', 'postgres', 'column w of USING is not unique'],
    ['SELECT 1 FROM t, LATERAL (SELECT t.id) AS x', 'postgres', 'LATERAL'],
    ['SELECT 1 FROM generate_series(1, 3)', 'postgres', 'a table function'],
    ["SELECT 1 FROM u JOIN t ON u.w = 'ONE'", 'mysql', 'the collation decides'],
  ])('%s in %s: %s', (sql, dialect, reason) => {
    expect(run(sql, dialect)).toEqual({ undecidable: reason });
  });
});

describe('names in FROM', () => {
  it.each<[sql: string, rows: readonly Row[]]>([
    ['SELECT x.id FROM t AS x WHERE x.v = 20', [[2]]],
    ['SELECT b FROM t AS x (a, b) WHERE a = 3', [[2]]],
    ['SELECT x.a FROM (SELECT id AS a FROM t WHERE g = 2) AS x', [[3]]],
    ['SELECT a FROM (SELECT 1, 2) AS x (a, b)', [[1]]],
    ['SELECT o.id FROM t AS o WHERE EXISTS (SELECT 1 FROM u AS o WHERE o.id = 5) AND o.id = 1', [[1]]],
  ])('%s', (sql, rows) => {
    expect(rowsOf(sql, 'postgres').rows).toEqual(rows);
  });

  it('do not reach a table by the name its alias hides', () => {
    expect(run('SELECT t.id FROM t AS x', 'postgres')).toEqual({ undecidable: 'no column id is known' });
  });

  it('differ by case only where the dialect says so', () => {
    expect(rowsOf('SELECT X.ID FROM t AS x WHERE x.id = 1', 'sqlite').rows).toEqual([[1]]);
    expect(run('SELECT "ID" FROM t', 'postgres')).toEqual({ undecidable: 'no column ID is known' });
  });
});

/** Joins by the book: the inner rows, then whoever met nobody. */
function joinSlowly(
  kind: string,
  left: readonly Row[],
  right: readonly Row[],
  on: (a: Row, b: Row) => boolean,
): Value[][] {
  const inner = left.flatMap((a) => right.filter((b) => on(a, b)).map((b) => [...a, ...b]));
  const aloneLeft = left.filter((a) => !right.some((b) => on(a, b))).map((a) => [...a, null, null]);
  const aloneRight = right.filter((b) => !left.some((a) => on(a, b))).map((b) => [null, null, ...b]);
  return [
    ...inner,
    ...(kind === 'LEFT' || kind === 'FULL' ? aloneLeft : []),
    ...(kind === 'RIGHT' || kind === 'FULL' ? aloneRight : []),
  ];
}

describe('joins of random tables', () => {
  const cell = fc.oneof(fc.constant(null), fc.integer({ min: 0, max: 3 }));
  const rows = fc.array(fc.tuple(cell, cell), { maxLength: 6 });
  const bag = (all: readonly (readonly unknown[])[]) => all.map((row) => JSON.stringify(row)).sort();

  it.each(['INNER', 'LEFT', 'RIGHT', 'FULL'])('%s JOIN … ON is what the book says', (kind) => {
    fc.assert(
      fc.property(rows, rows, (left, right) => {
        const all: Readonly<Record<string, TableRows>> = {
          l: { columns: [int('a'), int('b')], rows: left },
          r: { columns: [int('c'), int('d')], rows: right },
        };
        const result = rowsOf(`SELECT * FROM l ${kind} JOIN r ON l.a = r.c AND l.b <= r.d`, 'postgres', all);
        const on = (a: Row, b: Row) =>
          a[0] !== null && a[0] === b[0] && a[1] !== null && b[1] !== null && a[1]! <= b[1]!;
        expect(bag(result.rows)).toEqual(bag(joinSlowly(kind, left, right, on)));
      }),
      { numRuns: 100 },
    );
  });

  it.each(dialects)('NATURAL JOIN has the rows of the join on all shared columns, in %s', (dialect) => {
    fc.assert(
      fc.property(rows, rows, (left, right) => {
        const all: Readonly<Record<string, TableRows>> = {
          l: { columns: [int('a'), int('b')], rows: left },
          r: { columns: [int('b'), int('c')], rows: right },
        };
        const natural = rowsOf('SELECT a, b, c FROM l NATURAL JOIN r', dialect, all);
        const plain = rowsOf('SELECT a, l.b, c FROM l JOIN r ON l.b = r.b', dialect, all);
        expect(bag(natural.rows)).toEqual(bag(plain.rows));
      }),
      { numRuns: 50 },
    );
  });
});
