/** Queries over small tables: joins, groups, set operations, subqueries, order and limits, with NULLs in every place. */
import { describe, expect, test } from 'vitest';
import type { SelectStatement } from '../ast.js';
import type { Dialect } from '../dialect.js';
import { parseStatement } from '../parse/parse.js';
import type { Row } from '../value.js';
import { evaluateSelect } from './evaluate.js';
import type { TableRows } from './scope.js';
import { isUndecidable } from './undecidable.js';

const int = (name: string) => ({ name, type: 'INT' });
const tables: Readonly<Record<string, TableRows>> = {
  t: {
    columns: [int('id'), int('g'), int('v')],
    rows: [
      [1, 1, 10],
      [2, 1, 20],
      [3, 2, null],
      [4, null, 40],
    ],
  },
  u: {
    columns: [int('id'), { name: 'w', type: 'VARCHAR(5)' }],
    rows: [
      [1, 'one'],
      [3, 'three'],
      [5, 'five'],
    ],
  },
  e: { columns: [int('x')], rows: [] },
};

function run(sql: string, dialect: Dialect = 'postgres') {
  return evaluateSelect(parseStatement(sql, dialect) as SelectStatement, {
    dialect,
    table: (name) => tables[name],
  });
}

function rowsOf(sql: string, dialect?: Dialect): { rows: readonly (readonly unknown[])[]; order: string } {
  const result = run(sql, dialect);
  if (isUndecidable(result)) throw new Error(result.undecidable);
  return result;
}

const text = (row: readonly unknown[]) => JSON.stringify(row);

function sameRows(sql: string, expected: readonly Row[]): void {
  const { rows, order } = rowsOf(sql);
  if (order === 'total') expect(rows).toEqual(expected);
  else expect(rows.map(text).sort()).toEqual(expected.map(text).sort());
}

describe.each<[string, readonly (readonly [sql: string, rows: readonly Row[]])[]]>([
  [
    'conditions',
    [
      [
        'SELECT * FROM t',
        [
          [1, 1, 10],
          [2, 1, 20],
          [3, 2, null],
          [4, null, 40],
        ],
      ],
      [
        'SELECT id, v * 2 FROM t WHERE g = 1',
        [
          [1, 20],
          [2, 40],
        ],
      ],
      ['SELECT id FROM t WHERE v > 15', [[2], [4]]],
      ['SELECT id FROM t WHERE NOT v > 15', [[1]]],
      ['SELECT id FROM t WHERE v IS NULL OR g IS NULL', [[3], [4]]],
      ['SELECT id FROM t WHERE v = v', [[1], [2], [4]]],
      ['SELECT id FROM t WHERE (g, v) = (1, 20)', [[2]]],
      ['SELECT 1 WHERE FALSE', []],
      ['SELECT 1 FROM e', []],
      ['SELECT id FROM t FOR UPDATE', [[1], [2], [3], [4]]],
    ],
  ],
  [
    'joins',
    [
      [
        'SELECT t.id, w FROM t JOIN u ON t.id = u.id',
        [
          [1, 'one'],
          [3, 'three'],
        ],
      ],
      [
        'SELECT t.id, w FROM t LEFT JOIN u ON t.id = u.id',
        [
          [1, 'one'],
          [2, null],
          [3, 'three'],
          [4, null],
        ],
      ],
      [
        'SELECT t.id, u.id FROM t RIGHT JOIN u ON t.id = u.id',
        [
          [1, 1],
          [3, 3],
          [null, 5],
        ],
      ],
      [
        'SELECT t.id, u.id FROM t FULL JOIN u ON t.id = u.id',
        [
          [1, 1],
          [2, null],
          [3, 3],
          [4, null],
          [null, 5],
        ],
      ],
      ['SELECT t.id FROM t LEFT JOIN u ON t.id = u.id WHERE u.id IS NULL', [[2], [4]]],
      ['SELECT t.id FROM t LEFT JOIN u ON t.id = u.id AND u.id > 1', [[1], [2], [3], [4]]],
      ['SELECT COUNT(*) FROM t CROSS JOIN u', [[12]]],
      ['SELECT COUNT(*) FROM t, u WHERE t.id < u.id', [[6]]],
      [
        'SELECT id, w, v FROM t NATURAL JOIN u',
        [
          [1, 'one', 10],
          [3, 'three', null],
        ],
      ],
      [
        'SELECT id, w FROM t JOIN u USING (id)',
        [
          [1, 'one'],
          [3, 'three'],
        ],
      ],
      [
        'SELECT * FROM t JOIN u USING (id)',
        [
          [1, 1, 10, 'one'],
          [3, 2, null, 'three'],
        ],
      ],
      ['SELECT * FROM t LEFT JOIN e ON TRUE WHERE id = 1', [[1, 1, 10, null]]],
      ['SELECT COUNT(*) FROM t JOIN e ON TRUE', [[0]]],
      ['SELECT a.id, b.id FROM t AS a JOIN t AS b ON a.g = b.g AND a.id < b.id', [[1, 2]]],
      ["SELECT t.* FROM t, u WHERE t.id = u.id AND w = 'one'", [[1, 1, 10]]],
    ],
  ],
  [
    'aggregates and groups',
    [
      ['SELECT COUNT(*), COUNT(v), SUM(v), MIN(v), MAX(v) FROM t', [[4, 3, 70, 10, 40]]],
      ['SELECT COUNT(DISTINCT g) FROM t', [[2]]],
      ['SELECT AVG(v) FROM t', [[{ decimal: '23.3333333333333333' }]]],
      ['SELECT SUM(v) / COUNT(v) FROM t', [[23]]],
      ['SELECT SUM(v + id) FROM t', [[77]]],
      ['SELECT COUNT(*) > 3 FROM t', [[true]]],
      ['SELECT MAX(w) FROM u', [['three']]],
      ['SELECT MIN(w), MAX(w) FROM u WHERE id > 1', [['five', 'three']]],
      ['SELECT SUM(v) FILTER (WHERE g = 1) FROM t', [[30]]],
      [
        'SELECT g, COUNT(*), SUM(v) FROM t GROUP BY g',
        [
          [1, 2, 30],
          [2, 1, null],
          [null, 1, 40],
        ],
      ],
      [
        'SELECT g AS k, COUNT(*) FROM t GROUP BY k',
        [
          [1, 2],
          [2, 1],
          [null, 1],
        ],
      ],
      [
        'SELECT g, SUM(v) FROM t GROUP BY g HAVING SUM(v) IS NOT NULL',
        [
          [1, 30],
          [null, 40],
        ],
      ],
      ['SELECT g FROM t GROUP BY g HAVING COUNT(*) = 1', [[2], [null]]],
      [
        'SELECT g, v FROM t GROUP BY g, v HAVING v > 10',
        [
          [1, 20],
          [null, 40],
        ],
      ],
      [
        "SELECT CASE WHEN v IS NULL THEN 'none' ELSE 'some' END, COUNT(*) FROM t GROUP BY 1",
        [
          ['some', 3],
          ['none', 1],
        ],
      ],
      ['SELECT SUM(x), COUNT(x), MAX(x) FROM e', [[null, 0, null]]],
      ['SELECT x FROM e GROUP BY x', []],
      ['SELECT COUNT(*) FROM e GROUP BY x', []],
      ['SELECT COUNT(*) FROM e HAVING COUNT(*) > 0', []],
    ],
  ],
  [
    'order and limits',
    [
      ['SELECT id FROM t ORDER BY id DESC', [[4], [3], [2], [1]]],
      ['SELECT id FROM t ORDER BY g, id', [[1], [2], [3], [4]]],
      ['SELECT id FROM t ORDER BY v LIMIT 2', [[1], [2]]],
      ['SELECT id FROM t ORDER BY id LIMIT 2 OFFSET 1', [[2], [3]]],
      ['SELECT id FROM t ORDER BY id OFFSET 3', [[4]]],
      ['SELECT id FROM t ORDER BY id LIMIT 0', []],
      ['SELECT id FROM t ORDER BY id LIMIT 9', [[1], [2], [3], [4]]],
      ['SELECT g FROM t ORDER BY g NULLS FIRST', [[null], [1], [1], [2]]],
      ['SELECT v FROM t ORDER BY v DESC NULLS LAST', [[40], [20], [10], [null]]],
      ['SELECT id AS k FROM t ORDER BY k DESC LIMIT 1', [[4]]],
      ['SELECT id FROM t ORDER BY -id LIMIT 1', [[4]]],
    ],
  ],
  [
    'distinct rows and set operations',
    [
      ['SELECT DISTINCT g FROM t', [[1], [2], [null]]],
      [
        'SELECT DISTINCT g, v IS NULL FROM t',
        [
          [1, false],
          [2, true],
          [null, false],
        ],
      ],
      ['SELECT id FROM t UNION SELECT id FROM u', [[1], [2], [3], [4], [5]]],
      ['SELECT id FROM t UNION ALL SELECT id FROM u', [[1], [2], [3], [4], [1], [3], [5]]],
      ['SELECT id FROM t INTERSECT SELECT id FROM u', [[1], [3]]],
      ['SELECT id FROM t EXCEPT SELECT id FROM u', [[2], [4]]],
      ['SELECT g FROM t EXCEPT SELECT g FROM t WHERE g = 1', [[2], [null]]],
      ['SELECT g FROM t EXCEPT ALL SELECT 1', [[1], [2], [null]]],
      ['SELECT g FROM t INTERSECT ALL SELECT g FROM t WHERE id < 2', [[1]]],
      ['SELECT NULL UNION SELECT NULL', [[null]]],
      ['(SELECT id FROM t ORDER BY id LIMIT 1) UNION ALL SELECT 9', [[1], [9]]],
    ],
  ],
  [
    'subqueries',
    [
      ['SELECT id FROM t WHERE id IN (SELECT id FROM u)', [[1], [3]]],
      ['SELECT id FROM t WHERE id NOT IN (SELECT id FROM u)', [[2], [4]]],
      ['SELECT id FROM t WHERE id NOT IN (SELECT g FROM t)', []],
      ['SELECT id FROM t WHERE g IN (SELECT x FROM e)', []],
      ['SELECT id FROM t WHERE g NOT IN (SELECT x FROM e)', [[1], [2], [3], [4]]],
      ['SELECT id FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.id = t.id)', [[1], [3]]],
      ['SELECT id FROM t WHERE NOT EXISTS (SELECT 1 FROM u WHERE u.id = t.id)', [[2], [4]]],
      [
        'SELECT id, (SELECT w FROM u WHERE u.id = t.id) FROM t',
        [
          [1, 'one'],
          [2, null],
          [3, 'three'],
          [4, null],
        ],
      ],
      ['SELECT id FROM t WHERE v >= ALL (SELECT v FROM t WHERE v IS NOT NULL)', [[4]]],
      ['SELECT id FROM t WHERE v >= ALL (SELECT v FROM t)', []],
      ['SELECT id FROM t WHERE v >= ALL (SELECT x FROM e)', [[1], [2], [3], [4]]],
      ['SELECT id FROM t WHERE v = ANY (SELECT x FROM e)', []],
      ['SELECT id FROM t WHERE v < ANY (SELECT v FROM t)', [[1], [2]]],
      ['SELECT (SELECT x FROM e)', [[null]]],
      ['SELECT (SELECT MAX(id) FROM t) + 1', [[5]]],
      ['SELECT id FROM t AS a WHERE v = (SELECT MAX(v) FROM t AS b WHERE b.g = a.g)', [[2]]],
      ['SELECT n FROM (SELECT id + 1 AS n FROM t) AS s WHERE n > 3', [[4], [5]]],
      [
        "SELECT * FROM (VALUES (1, 'a'), (2, 'b')) AS v (x, y)",
        [
          [1, 'a'],
          [2, 'b'],
        ],
      ],
      ['WITH c AS (SELECT g, COUNT(*) AS n FROM t GROUP BY g) SELECT n FROM c WHERE g = 1', [[2]]],
      ['WITH a AS (SELECT 1 AS x), b AS (SELECT x + 1 AS y FROM a) SELECT x, y FROM a, b', [[1, 2]]],
    ],
  ],
])('%s', (_, cases) => {
  test.each(cases)('%s', (sql, expected) => sameRows(sql, expected));
});

describe('what cannot be known is said, with the reason', () => {
  test.each([
    ['SELECT id FROM t ORDER BY g LIMIT 1', 'LIMIT cuts through rows of equal rank'],
    ['SELECT id FROM t WHERE (id, g) IN (SELECT 1, 1)', 'IN with rows and a query'],
    ['SELECT id FROM missing', 'table missing is not known'],
    ['SELECT missing FROM t', 'no column missing is known'],
    ['SELECT id FROM t, u', 'column id is ambiguous'],
    ['SELECT id FROM t ORDER BY id FOR UPDATE SKIP LOCKED', 'SKIP LOCKED'],
    ['SELECT ROW_NUMBER() OVER (ORDER BY id) FROM t', 'a window function'],
    ['SELECT BOOL_AND(v > 5) FROM t', 'the aggregate bool_and'],
    ["SELECT STRING_AGG(w, ',') FROM u", 'the aggregate string_agg'],
    [
      'SELECT (WITH c AS (SELECT t.id AS x) SELECT (SELECT x FROM c)) FROM t',
      'a common table that reads the query around it',
    ],
    ['SELECT id FROM t LIMIT 1 + 1', 'LIMIT by an expression'],
    ['SELECT id FROM t LIMIT -1', 'a LIMIT below zero'],
    ['SELECT DISTINCT g FROM t ORDER BY v', 'DISTINCT ordered by what is not in the list'],
    ['SELECT DISTINCT ON (g) v FROM t', 'DISTINCT ON or WINDOW'],
    ['SELECT id FROM t ORDER BY 2', 'ORDER BY a number'],
    ['SELECT COUNT(*) FROM t GROUP BY 3', 'GROUP BY a number'],
    ['SELECT id FROM t UNION SELECT id, w FROM u', 'a set operation on different widths'],
    ['SELECT id FROM t UNION SELECT w FROM u', 'a set operation on different types'],
    ["SELECT * FROM (VALUES (1), ('a')) AS x", 'VALUES with different types in one column'],
    ['SELECT id FROM t UNION SELECT id FROM u ORDER BY id + 1', 'ORDER BY of what is not in the list'],
    ['WITH RECURSIVE c AS (SELECT 1 AS n) SELECT n FROM c', 'WITH RECURSIVE'],
    ['WITH c AS (DELETE FROM t RETURNING id) SELECT id FROM c', 'a write inside WITH'],
    ['SELECT id AS a, g AS a FROM t ORDER BY a', 'ORDER BY a is ambiguous'],
  ])('%s: %s', (sql, reason) => {
    expect(run(sql)).toEqual({ undecidable: reason });
  });

  test('a subquery of several rows where one value is wanted leaves that cell open', () => {
    const { rows } = rowsOf('SELECT 1, (SELECT id FROM t)');
    expect(rows[0]![0]).toBe(1);
    expect(isUndecidable(rows[0]![1] as never)).toBe(true);
  });
});

describe('dialects differ', () => {
  const dialects = ['postgres', 'mysql', 'sqlite', 'duckdb'] as const;
  test.each<[string, ...(readonly (readonly unknown[])[])[]]>([
    ['SELECT id FROM t ORDER BY v LIMIT 1', [[1]], [[3]], [[3]], [[1]]],
    [
      'SELECT g FROM t ORDER BY g, id',
      [[1], [1], [2], [null]],
      [[null], [1], [1], [2]],
      [[null], [1], [1], [2]],
      [[1], [1], [2], [null]],
    ],
    [
      'SELECT g FROM t ORDER BY g DESC',
      [[null], [2], [1], [1]],
      [[2], [1], [1], [null]],
      [[2], [1], [1], [null]],
      [[2], [1], [1], [null]],
    ],
    ['SELECT SUM(v) / 7 FROM t', [[10]], [[{ decimal: '10.0000' }]], [[10]], [[10]]],
    ['SELECT COUNT(*) = 4 FROM t', [[true]], [[1]], [[1]], [[true]]],
    [
      'SELECT v / 20 FROM t WHERE v IS NOT NULL ORDER BY v',
      [[0], [1], [2]],
      [[{ decimal: '0.5000' }], [{ decimal: '1.0000' }], [{ decimal: '2.0000' }]],
      [[0], [1], [2]],
      [[0.5], [1], [2]],
    ],
  ])('%s', (sql, ...answers) => {
    expect(dialects.map((dialect) => rowsOf(sql, dialect).rows)).toEqual(answers);
  });
});

describe('names in HAVING', () => {
  // MySQL and DuckDB see -SUM(v) in `v`, PostgreSQL refuses it, SQLite sees the column.
  const shadowing = 'SELECT id, -SUM(v) AS v FROM t GROUP BY id HAVING v > 15';

  test.each(['mysql', 'duckdb'] as const)('may be an alias of the list in %s', (dialect) => {
    expect(run(shadowing, dialect)).toEqual({ undecidable: 'HAVING by the alias v' });
    expect(run('SELECT id, v AS g FROM t GROUP BY id, v HAVING g > 5', dialect)).toEqual({
      undecidable: 'HAVING by the alias g',
    });
  });

  test('are columns first in SQLite', () => {
    expect(rowsOf(shadowing, 'sqlite').rows).toEqual([
      [2, -20],
      [4, -40],
    ]);
  });

  test.each(['postgres', 'mysql', 'sqlite', 'duckdb'] as const)(
    'are the columns of the groups in %s',
    (dialect) => {
      expect(rowsOf('SELECT g, COUNT(*) FROM t GROUP BY g HAVING g > 1', dialect).rows).toEqual([[2, 1]]);
      expect(rowsOf('SELECT t.g AS g FROM t GROUP BY g HAVING g = 1', dialect).rows).toEqual([[1]]);
    },
  );
});

test('HAVING without groups makes one group, except in MySQL, where it filters rows', () => {
  const sql = 'SELECT 1 FROM t HAVING TRUE';
  expect(rowsOf(sql, 'postgres').rows).toEqual([[1]]);
  expect(rowsOf(sql, 'duckdb').rows).toEqual([[1]]);
  expect(run(sql, 'mysql')).toEqual({ undecidable: 'HAVING without groups' });
  expect(rowsOf('SELECT 1 FROM t HAVING COUNT(*) = 4', 'mysql').rows).toEqual([[1]]);
});
