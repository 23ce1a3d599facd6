import { describe, expect, test } from 'vitest';
import type {
  CreateTableStatement,
  DeleteStatement,
  InsertStatement,
  SelectStatement,
  UpdateStatement,
} from '../ast.js';
import type { Dialect } from '../dialect.js';
import { parseExpressionText, parseStatement } from '../parse/parse.js';
import type { Row } from '../value.js';
import { compilePredicate, evaluateSelect } from './evaluate.js';
import { applyUpdate, evaluateExpression, evaluateWhere } from './one-row.case.js';
import type { ColumnInfo, EvaluateOptions } from './scope.js';
import { tableShape } from './shape.js';
import { isUndecidable } from './undecidable.js';
import { applyInsert } from './write.js';

const columns: readonly ColumnInfo[] = [
  { name: 'a', table: 't', type: 'INT' },
  { name: 's', table: 't', type: 'VARCHAR(5)' },
  { name: 'd', table: 't', type: 'DECIMAL(6, 2)' },
];
const row: Row = [3, 'ab', { decimal: '1.50' }];

function value(sql: string, dialect: Dialect = 'postgres', over: Row = row) {
  const expression = parseExpressionText(sql, dialect);
  if (expression === undefined) throw new Error(`cannot parse ${sql}`);
  return evaluateExpression(expression, { columns, row: over }, { dialect });
}

describe('three-valued logic', () => {
  test.each([
    ['NULL AND FALSE', false],
    ['NULL AND TRUE', null],
    ['NULL OR TRUE', true],
    ['NULL OR FALSE', null],
    ['NOT NULL', null],
    ['NULL = NULL', null],
    ['NULL IS NULL', true],
    ['(NULL = 1) IS NOT TRUE', true],
    ['NULL IS NOT DISTINCT FROM NULL', true],
    ['1 IS DISTINCT FROM NULL', true],
    ['1 IN (2, NULL)', null],
    ['1 IN (1, NULL)', true],
    ['1 NOT IN (2, NULL)', null],
    ['1 BETWEEN NULL AND 0', false],
    ['1 BETWEEN NULL AND 2', null],
    ['(1, NULL) = (2, 1)', false],
    ['(1, NULL) = (1, 1)', null],
    ['CASE WHEN NULL THEN 1 ELSE 2 END', 2],
    ['CASE NULL WHEN NULL THEN 1 END', null],
    ['COALESCE(NULL, 3)', 3],
    ['NULLIF(1, 1)', null],
    ["NULL LIKE 'x'", null],
  ] as const)('%s is %s', (sql, expected) => {
    expect(value(sql)).toEqual(expected);
  });

  test('a condition is decided although one side is not', () => {
    expect(value('a = 4 AND unknown_function(a) = 1')).toMatchObject({
      undecidable: 'the function unknown_function',
    });
    const doubtful = "s > 'AB'";
    expect(value(doubtful)).toHaveProperty('undecidable');
    expect(value(`a = 4 AND ${doubtful}`)).toBe(false);
    expect(value(`a = 3 OR ${doubtful}`)).toBe(true);
    expect(value(`a = 3 AND ${doubtful}`)).toHaveProperty('undecidable');
  });
});

describe('dialects compute differently', () => {
  test.each([
    ['7 / 2', 'postgres', 3],
    ['7 / 2', 'sqlite', 3],
    ['7 / 2', 'duckdb', 3.5],
    ['7 / 2', 'mysql', { decimal: '3.5000' }],
    ['-7 / 2', 'postgres', -3],
    ['-7 % 2', 'postgres', -1],
    ['1 / 0', 'sqlite', null],
    ['1.5 / 3', 'postgres', { decimal: '0.50000000000000000000' }],
    ['a = 3', 'mysql', 1],
    ['a = 3', 'duckdb', true],
    ["s LIKE 'AB'", 'sqlite', 1],
    ["s LIKE 'AB'", 'postgres', false],
    ["s || 'c'", 'postgres', 'abc'],
    ['d + 1', 'postgres', { decimal: '2.50' }],
    ['d * d', 'duckdb', { decimal: '2.2500' }],
    ['GREATEST(1, NULL)', 'postgres', 1],
    ['GREATEST(1, NULL)', 'mysql', null],
    ["d = 1.5 AND a > 2 AND s = 'ab'", 'postgres', true],
  ] as const)('%s in %s is %j', (sql, dialect, expected) => {
    expect(value(sql, dialect)).toEqual(expected);
  });

  test.each([
    ['1 / 0', 'postgres'],
    ['1 / 3', 'mysql'],
    ["s = 'AB'", 'mysql'],
    ["s LIKE 'AB'", 'mysql'],
    ["s < 'B'", 'postgres'],
    ["a = '3'", 'mysql'],
    ['a + 2147483647', 'postgres'],
    ['random()', 'sqlite'],
    ['a = $1', 'postgres'],
    ['missing = 1', 'postgres'],
    ["CAST('x' AS INT)", 'postgres'],
  ] as const)('%s in %s is not decided', (sql, dialect) => {
    expect(value(sql, dialect)).toHaveProperty('undecidable');
  });

  test('a column of unknown type is compared only where every type agrees', () => {
    const at = (sql: string, over: Row) =>
      evaluateExpression(
        parseExpressionText(sql)!,
        { columns: [{ name: 'n' }], row: over },
        { dialect: 'postgres' },
      );
    expect(at("n = 'x'", ['x'])).toBe(true);
    expect(at("n = 'x'", ['y'])).toBe(false);
    expect(at("n = 'x'", ['X '])).toHaveProperty('undecidable');
    expect(at("n < 'x'", ['a'])).toHaveProperty('undecidable');
    expect(at('n = 2', [2])).toBe(true);
    expect(at('n = 0.1', [0.1])).toHaveProperty('undecidable');
  });

  test('numbers are exact beyond doubles', () => {
    const big: ColumnInfo[] = [{ name: 'n', type: 'BIGINT' }];
    const at = (sql: string, n: Row) =>
      evaluateExpression(parseExpressionText(sql)!, { columns: big, row: n }, { dialect: 'postgres' });
    expect(at('n = 9007199254740993', [{ int: '9007199254740992' }])).toBe(false);
    expect(at('n + 1', [{ int: '9007199254740992' }])).toEqual({ int: '9007199254740993' });
    expect(at('n + 1', [{ int: '9223372036854775807' }])).toHaveProperty('undecidable');
  });
});

describe('evaluateSelect', () => {
  const rows: readonly Row[] = [
    [1, 'a', { decimal: '1.00' }],
    [2, 'b', null],
    [2, null, { decimal: '2.50' }],
  ];
  const options: EvaluateOptions = {
    dialect: 'postgres',
    table: (name) => (name === 't' ? { columns, rows } : undefined),
  };
  const run = (sql: string) => evaluateSelect(parseStatement(sql, 'postgres') as SelectStatement, options);

  test.each([
    [
      'SELECT COUNT(*), COUNT(s), SUM(a), AVG(a), MAX(d) FROM t',
      [[3, 2, 5, { decimal: '1.6666666666666667' }, { decimal: '2.50' }]],
    ],
    ['SELECT COUNT(*), SUM(a) FROM t WHERE FALSE', [[0, null]]],
    ['SELECT a FROM t WHERE FALSE GROUP BY a', []],
    ['SELECT a, COUNT(*) FROM t GROUP BY a HAVING COUNT(*) > 1', [[2, 2]]],
    ['SELECT x.a FROM t AS x LEFT JOIN t AS y ON x.s < y.s WHERE y.a IS NULL', [[2], [2]]],
    [
      'SELECT s FROM t AS o WHERE a = (SELECT MIN(a) FROM t AS i WHERE i.a >= o.a AND i.d IS NOT NULL)',
      [['a'], ['b'], [null]],
    ],
    ['SELECT a FROM t UNION SELECT 7', [[1], [2], [7]]],
    ['WITH c (n) AS (SELECT a + 1 FROM t) SELECT DISTINCT n FROM c', [[2], [3]]],
    ['SELECT a FROM t ORDER BY a DESC LIMIT 2', [[2], [2]]],
    ['SELECT s FROM t ORDER BY s LIMIT 3', [['a'], ['b'], [null]]],
    ['SELECT * FROM (VALUES (1), (NULL)) AS v (n) WHERE n IS NULL', [[null]]],
    ['SELECT k.a, s FROM t JOIN (SELECT 1 AS a) AS k USING (a)', [[1, 'a']]],
  ] as const)('%s', (sql, expected) => {
    const result = run(sql);
    if (isUndecidable(result)) throw new Error(result.undecidable);
    expect([...result.rows].map((cells) => JSON.stringify(cells)).sort()).toEqual(
      expected.map((cells) => JSON.stringify(cells)).sort(),
    );
  });

  test.each([
    ['SELECT s FROM t ORDER BY a LIMIT 2', 'LIMIT cuts through rows of equal rank'],
    ['SELECT s FROM t LIMIT 1', 'LIMIT cuts through rows of equal rank'],
    ['SELECT ROW_NUMBER() OVER () FROM t', 'a window function'],
    ['SELECT * FROM u', 'table u is not known'],
    ['SELECT nothing FROM t', 'no column nothing is known'],
    ['SELECT a FROM t AS x, t AS y', 'column a is ambiguous'],
  ])('%s is undecidable: %s', (sql, reason) => {
    expect(run(sql)).toEqual({ undecidable: reason });
  });

  test('a column that varies inside its group is the only doubtful cell', () => {
    const result = run('SELECT a, s, COUNT(*) FROM t GROUP BY a');
    expect(result).toMatchObject({
      rows: [
        [1, 'a', 1],
        [2, { undecidable: 'a column that varies inside its group' }, 2],
      ],
    });
  });

  test('says whether the order is certain', () => {
    expect(run('SELECT a, s FROM t ORDER BY a, s')).toMatchObject({ order: 'total' });
    expect(run('SELECT a, s FROM t ORDER BY a')).toMatchObject({ order: 'partial' });
    expect(run('SELECT a, s FROM t')).toMatchObject({ order: 'none' });
  });
});

describe('writes', () => {
  const create =
    'CREATE TABLE t (id INT PRIMARY KEY, a INT NOT NULL DEFAULT 7, s VARCHAR(3), g INT GENERATED ALWAYS AS (a * 2) STORED)';
  const shape = tableShape(parseStatement(create, 'postgres') as CreateTableStatement, 'postgres');
  const update = (sql: string, dialect: Dialect, old: Row) =>
    applyUpdate(parseStatement(sql, dialect) as UpdateStatement, shape, old, { dialect });
  const insert = (sql: string) =>
    applyInsert(parseStatement(sql) as InsertStatement, shape, { dialect: 'postgres' });

  test('the old row is read throughout, except in MySQL, which assigns from left to right', () => {
    const sql = 'UPDATE t SET a = a + 1, id = a WHERE id = 1';
    expect(update(sql, 'postgres', [1, 10, 'x', 20])).toEqual([10, 11, 'x', 22]);
    expect(update(sql, 'mysql', [1, 10, 'x', 20])).toEqual([11, 11, 'x', 22]);
  });

  test('WHERE touches only rows for which it is true', () => {
    const statement = parseStatement("DELETE FROM t AS x WHERE x.s <> 'a'") as DeleteStatement;
    const touches = (s: string | null) =>
      evaluateWhere(statement, shape, [1, 1, s, 2], { dialect: 'postgres' });
    expect([touches('b'), touches('a'), touches(null)]).toEqual([true, false, null]);
  });

  test('an inserted row has its defaults and generated values', () => {
    expect(insert("INSERT INTO t (id, s) VALUES (1, 'x'), (2, NULL)")).toEqual([
      [1, 7, 'x', 14],
      [2, 7, null, 14],
    ]);
    expect(insert('INSERT INTO t SELECT 5, 6, NULL')).toEqual([[5, 6, null, 12]]);
  });

  test('a column with its own collation is of unknown type', () => {
    const nocase = tableShape(
      parseStatement('CREATE TABLE t (s TEXT COLLATE NOCASE)', 'sqlite') as CreateTableStatement,
      'sqlite',
    );
    const statement = parseStatement("DELETE FROM t WHERE s = 'A'", 'sqlite') as DeleteStatement;
    expect(evaluateWhere(statement, nocase, ['a'], { dialect: 'sqlite' })).toHaveProperty('undecidable');
    expect(evaluateWhere(statement, nocase, ['b'], { dialect: 'sqlite' })).toBe(false);
  });

  test('what a column may refuse or change is doubtful in that cell', () => {
    expect(insert("INSERT INTO t (id, s) VALUES (1, 'toolong')")).toMatchObject([
      [1, 7, { undecidable: 'a value its column may not hold' }, 14],
    ]);
    expect(insert('INSERT INTO t (id, a) VALUES (1, NULL)')).toMatchObject([
      [1, { undecidable: 'a cannot be NULL' }, null, {}],
    ]);
    expect(insert('INSERT INTO t (id, a) VALUES (1, 1.5)')).toMatchObject([
      [1, { undecidable: 'a value that must be rounded' }, null, {}],
    ]);
  });
});

test('a compiled predicate answers for millions of rows', () => {
  const holds = compilePredicate(parseExpressionText("a > 1 AND (s = 'ab' OR d IS NULL)")!, columns, {
    dialect: 'postgres',
  });
  expect([holds([3, 'ab', null]), holds([3, 'x', { decimal: '1.00' }]), holds([null, 'ab', null])]).toEqual([
    true,
    false,
    null,
  ]);
});
