/**
 * Every operator and function, by dialect: what PostgreSQL, MySQL and MariaDB, SQLite, and DuckDB answer. Where an engine refuses an
 * expression, or its settings or collation decide, the evaluator must say that it does not know.
 */
import { describe, expect, test } from 'vitest';
import type { Dialect } from '../dialect.js';
import { parseExpressionText } from '../parse/parse.js';
import type { Row, Value } from '../value.js';
import { evaluateExpression } from './one-row.case.js';
import type { ColumnInfo } from './scope.js';
import { isUndecidable } from './undecidable.js';

const columns: readonly ColumnInfo[] = [
  { name: 'i', type: 'INT' },
  { name: 'b', type: 'BIGINT' },
  { name: 's', type: 'VARCHAR(9)' },
  { name: 'f', type: 'DOUBLE PRECISION' },
  { name: 'n', type: 'INT' },
  { name: 'o', type: 'BOOLEAN' },
];
const row: Row = [7, 5, 'abC', 2.5, null, true];

const dialects: readonly Dialect[] = ['postgres', 'mysql', 'sqlite', 'duckdb'];
/** It cannot be known. */
const open = Symbol('open');
/** The dialect has no such expression. */
const none = Symbol('none');
type Answer = Value | typeof open | typeof none;
type Answers = readonly [Answer, Answer, Answer, Answer];

const everywhere = (answer: Answer): Answers => [answer, answer, answer, answer];
const truth = (answer: boolean): Answers => [answer, Number(answer), Number(answer), answer];

const table: readonly (readonly [title: string, cases: readonly (readonly [sql: string, ...Answers])[]])[] = [
  [
    'integers',
    [
      ['1 + 2', ...everywhere(3)],
      ['i - 10', ...everywhere(-3)],
      ['i * b', ...everywhere(35)],
      ['-i', ...everywhere(-7)],
      ['- - i', ...everywhere(7)],
      ['+i', ...everywhere(7)],
      ['i + n', ...everywhere(null)],
      ['7 / 2', 3, { decimal: '3.5000' }, 3, 3.5],
      ['-7 / 2', -3, { decimal: '-3.5000' }, -3, -3.5],
      ['i / 2', 3, { decimal: '3.5000' }, 3, 3.5],
      ['7 % 3', ...everywhere(1)],
      ['-7 % 3', ...everywhere(-1)],
      ['7 % -3', ...everywhere(1)],
      ['i % 0', open, open, null, open],
      ['1 / 0', open, open, null, open],
      ['0 - 0', ...everywhere(0)],
      ['0 * -1', ...everywhere(0)],
      ['7 DIV 2', none, 3, none, none],
      ['-6 DIV 2', none, -3, none, none],
      ['-7 DIV 2', none, open, none, none],
      ['2147483646 + 1', ...everywhere(2147483647)],
      ['2147483647 + 1', open, 2147483648, 2147483648, open],
      ['-2147483647 - 1', open, -2147483648, -2147483648, open],
      ['-2147483647 - 2', open, -2147483649, -2147483649, open],
      ['i + 2147483647', open, 2147483654, 2147483654, open],
      ['b + 9007199254740993', ...everywhere({ int: '9007199254740998' })],
      ['9223372036854775807 + 0', ...everywhere({ int: '9223372036854775807' })],
      ['9223372036854775807 + 1', ...everywhere(open)],
      ['i & 3', ...everywhere(open)],
      ['i | 8', ...everywhere(open)],
      ['i << 1', ...everywhere(open)],
      ['~i', ...everywhere(open)],
    ],
  ],
  [
    'decimals and doubles',
    [
      ['0.1 + 0.2', { decimal: '0.3' }, { decimal: '0.3' }, 0.30000000000000004, { decimal: '0.3' }],
      ['1.50 * 2', { decimal: '3.00' }, { decimal: '3.00' }, 3, { decimal: '3.00' }],
      ['1.5 - 1.50', { decimal: '0.00' }, { decimal: '0.00' }, 0, { decimal: '0.00' }],
      ['10.0 / 4', { decimal: '2.5000000000000000' }, { decimal: '2.50000' }, 2.5, open],
      ['f + 1', ...everywhere(3.5)],
      ['f - f', ...everywhere(0)],
      ['f * 2', ...everywhere(5)],
      ['f / 2', ...everywhere(1.25)],
      ['f / 0', open, open, null, open],
      ['1e2 + 1', { decimal: '101' }, 101, 101, 101],
      ['i + 0.5', { decimal: '7.5' }, { decimal: '7.5' }, 7.5, { decimal: '7.5' }],
      ['i * f', ...everywhere(17.5)],
      ['ABS(f - 3)', ...everywhere(0.5)],
      ['0.10 = 0.1', ...truth(true)],
      ['1 = 1.0', ...truth(true)],
      ['2.5 > 2', ...truth(true)],
      ['f = 2.5', ...truth(true)],
      ['f = 5 / 2.0', true, 1, 1, open],
    ],
  ],
  [
    'NULL in every operator',
    [
      ['1 + NULL', ...everywhere(null)],
      ['NULL - 1', ...everywhere(null)],
      ['n * 2', ...everywhere(null)],
      ['-n', ...everywhere(null)],
      ['n = n', ...everywhere(null)],
      ['NULL <> 1', ...everywhere(null)],
      ['n < 1', ...everywhere(null)],
      ['s > NULL', ...everywhere(null)],
      ['n BETWEEN 1 AND 2', ...everywhere(null)],
      ['3 BETWEEN n AND 2', ...truth(false)],
      ['1 BETWEEN n AND 2', ...everywhere(null)],
      ['n IN (1)', ...everywhere(null)],
      ['i IN (1, NULL)', ...everywhere(null)],
      ['i IN (7, NULL)', ...truth(true)],
      ['i NOT IN (1, NULL)', ...everywhere(null)],
      ['i NOT IN (7, NULL)', ...truth(false)],
      ["NULL LIKE 'a'", ...everywhere(null)],
      ['s LIKE NULL', ...everywhere(null)],
      ['NOT NULL', ...everywhere(null)],
      ['n IS NULL', ...truth(true)],
      ['i IS NULL', ...truth(false)],
      ['i IS NOT NULL', ...truth(true)],
      ['n IS TRUE', ...truth(false)],
      ['n IS NOT TRUE', ...truth(true)],
      ['n IS FALSE', ...truth(false)],
      ['(n = 1) IS UNKNOWN', ...truth(true)],
      ['(i = 7) IS UNKNOWN', ...truth(false)],
      ['n IS DISTINCT FROM NULL', ...truth(false)],
      ['n IS DISTINCT FROM 1', ...truth(true)],
      ['i IS NOT DISTINCT FROM 7', ...truth(true)],
      ['1 <=> NULL', none, 0, none, none],
      ['NULL <=> NULL', none, 1, none, none],
      ['(1, NULL) = (1, 2)', null, null, null, open],
      ['(1, NULL) = (1, NULL)', null, null, null, open],
      ['(1, 2) NOT IN ((1, NULL))', null, null, null, open],
      ['(1, 2) IN ((1, NULL), (1, 2))', ...truth(true)],
      ['(1, NULL) = (2, 2)', ...truth(false)],
      ['(1, NULL) <> (2, 2)', ...truth(true)],
      ['CASE n WHEN NULL THEN 1 ELSE 2 END', ...everywhere(2)],
      ['CASE WHEN n = 1 THEN 1 END', ...everywhere(null)],
    ],
  ],
  [
    'three-valued logic',
    [
      ['TRUE AND TRUE', ...truth(true)],
      ['TRUE AND FALSE', ...truth(false)],
      ['TRUE AND NULL', ...everywhere(null)],
      ['FALSE AND NULL', ...truth(false)],
      ['NULL AND NULL', ...everywhere(null)],
      ['TRUE OR NULL', ...truth(true)],
      ['FALSE OR NULL', ...everywhere(null)],
      ['FALSE OR FALSE', ...truth(false)],
      ['NULL OR NULL', ...everywhere(null)],
      ['NOT TRUE', ...truth(false)],
      ['NOT FALSE', ...truth(true)],
      ['NOT (n = 1)', ...everywhere(null)],
      ['TRUE XOR FALSE', none, 1, none, none],
      ['TRUE XOR TRUE', none, 0, none, none],
      ['TRUE XOR NULL', none, null, none, none],
      ['o IS TRUE', ...truth(true)],
      ['o IS NOT TRUE', ...truth(false)],
      ['o IS FALSE', ...truth(false)],
      ['o AND i = 7', ...truth(true)],
      ["i = 7 AND s = 'abC' OR n = 1", ...truth(true)],
      ['NOT i = 7 OR n IS NULL', ...truth(true)],
      ['i = 8 AND n = 1', ...truth(false)],
      ['i = 7 OR n = 1', ...truth(true)],
    ],
  ],
  [
    'numbers where a condition is wanted',
    [
      ['i AND 1', open, 1, 1, open],
      ['0 OR i', open, 1, 1, open],
      ['NOT i', open, 0, 0, open],
      ['NOT 0', open, 1, 1, open],
      ['TRUE = 1', open, 1, 1, open],
      ['TRUE > FALSE', ...truth(true)],
    ],
  ],
  [
    'comparisons',
    [
      ['1 < 2', ...truth(true)],
      ['2 <= 2', ...truth(true)],
      ['2 >= 3', ...truth(false)],
      ['3 > 2', ...truth(true)],
      ['1 <> 2', ...truth(true)],
      ['1 = 2', ...truth(false)],
      ['i BETWEEN 1 AND 7', ...truth(true)],
      ['i BETWEEN 7 AND 7', ...truth(true)],
      ['i BETWEEN 9 AND 1', ...truth(false)],
      ['i NOT BETWEEN 8 AND 9', ...truth(true)],
      ['i IN (1, 7)', ...truth(true)],
      ['i IN (1)', ...truth(false)],
      ['i NOT IN (1, 2)', ...truth(true)],
      ['(1, 2) = (1, 2)', ...truth(true)],
      ['(1, 2) <> (1, 3)', ...truth(true)],
      ['(1, 2) < (1, 3)', ...everywhere(open)],
      ['(i, b) IN ((7, 5), (1, 1))', ...truth(true)],
      ['(i, b) NOT IN ((7, 5))', ...truth(false)],
      ['i > ALL (SELECT 1)', ...truth(true)],
      ['i = ANY (SELECT 7)', ...truth(true)],
      ['i IN (SELECT 1)', ...truth(false)],
      ['EXISTS (SELECT 1)', ...truth(true)],
      ['NOT EXISTS (SELECT 1)', ...truth(false)],
      ["DATE '2020-01-02' < DATE '2020-01-03'", true, 1, none, true],
      ["DATE '2020-01-02' = '2020-01-02'", true, 1, none, true],
    ],
  ],
  [
    'texts and collations',
    [
      ["s = 'abC'", ...truth(true)],
      ["s <> 'x'", ...truth(true)],
      ["s = 'ABC'", false, open, 0, false],
      ["s = 'abC '", false, open, 0, false],
      ["'b' > 'a'", ...truth(true)],
      ["'a' = 'a'", ...truth(true)],
      ["'10' > '9'", ...truth(false)],
      ["'é' = 'e'", false, open, 0, false],
      ["s || 'x'", 'abCx', open, 'abCx', 'abCx'],
      ['s || NULL', null, open, null, null],
      ['LOWER(s)', ...everywhere('abc')],
      ['UPPER(s)', ...everywhere('ABC')],
      ["UPPER('é')", ...everywhere(open)],
      ['LENGTH(s)', ...everywhere(3)],
      ["LENGTH('')", ...everywhere(0)],
      ["LENGTH('é')", ...everywhere(open)],
      ["CHAR_LENGTH('abc')", ...everywhere(3)],
    ],
  ],
  [
    'LIKE',
    [
      ["s LIKE 'abC'", ...truth(true)],
      ["s LIKE 'a%'", ...truth(true)],
      ["s LIKE '%'", ...truth(true)],
      ["s LIKE ''", ...truth(false)],
      ["s LIKE '_bC'", ...truth(true)],
      ["s LIKE '__'", ...truth(false)],
      ["s LIKE '%b%'", ...truth(true)],
      ["s NOT LIKE '%z%'", ...truth(true)],
      ["s LIKE 'A%'", false, open, 1, false],
      ["s ILIKE 'A%'", true, none, none, true],
      ["'a%' LIKE 'a!%' ESCAPE '!'", ...truth(true)],
      ["'ab' LIKE 'a!%' ESCAPE '!'", ...truth(false)],
      ["'a_c' LIKE 'a\\_c'", true, 1, 0, false],
    ],
  ],
  [
    'functions',
    [
      ['ABS(-3)', ...everywhere(3)],
      ['ABS(3)', ...everywhere(3)],
      ['ABS(n)', ...everywhere(null)],
      ['MOD(n, 3)', null, null, open, null],
      ['MOD(7, 3)', 1, 1, open, 1],
      ['MOD(-7, 3)', -1, -1, open, -1],
      ['NULLIF(1, 1)', ...everywhere(null)],
      ['NULLIF(1, 2)', ...everywhere(1)],
      ['NULLIF(i, n)', ...everywhere(7)],
      ['IFNULL(n, 3)', open, 3, 3, 3],
      ['IFNULL(i, 3)', open, 7, 7, 7],
      ['COALESCE(n, NULL, 4)', ...everywhere(4)],
      ['COALESCE(i, 4)', ...everywhere(7)],
      ['COALESCE(n, n)', ...everywhere(null)],
      ['COALESCE(n, 1, s)', ...everywhere(open)],
      ['MIN(3, 1)', open, open, 1, open],
      ['MAX(3, 1)', open, open, 3, open],
      ['MAX(3, n)', open, open, null, open],
      ['RANDOM()', ...everywhere(open)],
      ['NOW()', ...everywhere(open)],
      ['some_function(1)', ...everywhere(open)],
      ['LENGTH(i)', ...everywhere(open)],
      ['ABS(s)', ...everywhere(open)],
    ],
  ],
  [
    'CASE and CAST',
    [
      ["CASE WHEN i > 5 THEN 'big' ELSE 'small' END", ...everywhere('big')],
      ["CASE WHEN i < 5 THEN 'small' END", ...everywhere(null)],
      ['CASE i WHEN 7 THEN 1 WHEN 8 THEN 2 END', ...everywhere(1)],
      ['CASE i WHEN 8 THEN 1 ELSE 0 END', ...everywhere(0)],
      ['CAST(NULL AS INT)', ...everywhere(null)],
      ["CAST('12' AS INT)", ...everywhere(open)],
      ['CAST(2.5 AS INT)', ...everywhere(open)],
    ],
  ],
  [
    'subqueries',
    [
      ['(SELECT 3)', ...everywhere(3)],
      ['(SELECT 3) + 1', ...everywhere(4)],
      ['(SELECT i) + 1', ...everywhere(8)],
      ['(SELECT 1 WHERE FALSE)', ...everywhere(null)],
      ['1 IN (SELECT 1 WHERE FALSE)', ...truth(false)],
      ['1 NOT IN (SELECT 1 WHERE FALSE)', ...truth(true)],
      ['EXISTS (SELECT 1 WHERE FALSE)', ...truth(false)],
      ['i > ALL (SELECT 1 WHERE FALSE)', ...truth(true)],
      ['i > ANY (SELECT 1 WHERE FALSE)', ...truth(false)],
    ],
  ],
  [
    'texts beside numbers',
    [
      ["1 = '1'", true, open, open, true],
      ["i = '7'", true, open, open, true],
      ["i = 'x'", ...everywhere(open)],
      ["'1' + 1", ...everywhere(open)],
    ],
  ],
];

function answerOf(sql: string, dialect: Dialect): Answer {
  const expression = parseExpressionText(sql, dialect);
  if (expression === undefined) return none;
  const value = evaluateExpression(expression, { columns, row }, { dialect });
  return isUndecidable(value) ? open : value;
}

for (const [title, cases] of table) {
  describe(title, () => {
    test.each(cases.map(([sql, ...answers]) => ({ sql, answers })))('$sql', ({ sql, answers }) => {
      expect(dialects.map((dialect) => answerOf(sql, dialect))).toEqual(answers);
    });
  });
}

test('a condition on a row is NULL or false where the operand is, never true', () => {
  for (const dialect of dialects)
    for (const operator of ['=', '<>', '<', '<=', '>', '>='])
      for (const sql of [`n ${operator} 1`, `1 ${operator} n`, `n ${operator} n`])
        expect(answerOf(sql, dialect)).toBeNull();
});

test('AND and OR do not depend on the order of their sides, NOT is its own inverse', () => {
  const sides = ['TRUE', 'FALSE', 'NULL', '(n = 1)', '(i = 7)', '(i = 8)'];
  for (const dialect of dialects)
    for (const a of sides)
      for (const b of sides) {
        expect(answerOf(`${a} AND ${b}`, dialect)).toEqual(answerOf(`${b} AND ${a}`, dialect));
        expect(answerOf(`${a} OR ${b}`, dialect)).toEqual(answerOf(`${b} OR ${a}`, dialect));
        expect(answerOf(`NOT (${a} AND ${b})`, dialect)).toEqual(answerOf(`NOT ${a} OR NOT ${b}`, dialect));
      }
});
