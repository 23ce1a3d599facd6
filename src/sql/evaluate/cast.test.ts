/** CAST: the conversions whose result is certain, and those that must stay open. */
import { describe, expect, it } from 'vitest';
import type { Dialect } from '../dialect.js';
import { parseExpressionText } from '../parse/parse.js';
import type { Row, Value } from '../value.js';
import { evaluateExpression } from './one-row.case.js';
import type { ColumnInfo } from './scope.js';
import { isUndecidable } from './undecidable.js';

const dialects: readonly Dialect[] = ['postgres', 'mysql', 'sqlite', 'duckdb'];
const open = Symbol('open');
const none = Symbol('none');
type Answer = Value | typeof open | typeof none;

const columns: readonly ColumnInfo[] = [
  { name: 'i', type: 'INT' },
  { name: 'big', type: 'BIGINT' },
  { name: 'd', type: 'DECIMAL(6, 2)' },
  { name: 'f', type: 'DOUBLE PRECISION' },
  { name: 's', type: 'VARCHAR(9)' },
  { name: 'o', type: 'BOOLEAN' },
];
const row: Row = [12, { int: '9007199254740993' }, { decimal: '1.50' }, 2.5, 'abc', true];

function cast(sql: string, dialect: Dialect): Answer {
  const expression = parseExpressionText(sql, dialect);
  if (expression === undefined) return none;
  const value = evaluateExpression(expression, { columns, row }, { dialect });
  return isUndecidable(value) ? open : value;
}

describe('CAST', () => {
  it.each<[sql: string, postgres: Answer, mysql: Answer, sqlite: Answer, duckdb: Answer]>([
    // A text type with a length cuts off in PostgreSQL and MariaDB, and means nothing in DuckDB.
    ['CAST(i AS VARCHAR(1))', open, open, open, '12'],
    ['CAST(i AS VARCHAR(2))', '12', '12', open, '12'],
    ['CAST(i AS VARCHAR)', '12', '12', open, '12'],
    ['CAST(-5 AS VARCHAR(1))', open, open, open, '-5'],
    ['CAST(i AS TEXT)', '12', '12', '12', '12'],
    ['CAST(s AS VARCHAR(2))', open, open, open, 'abc'],
    ['CAST(s AS TEXT)', 'abc', 'abc', 'abc', 'abc'],
    // A float's spelling is the engine's.
    ['CAST(f AS TEXT)', open, open, open, open],
    ['CAST(d AS TEXT)', open, open, open, open],
    ['CAST(5.0 AS TEXT)', open, open, open, open],
    // Whole numbers change their type; others would be rounded, each engine its own way.
    ['CAST(i AS BIGINT)', 12, 12, open, 12],
    ['CAST(i AS SMALLINT)', 12, 12, open, 12],
    ['CAST(big AS INT)', open, open, { int: '9007199254740993' }, open],
    ['CAST(2.0 AS INT)', 2, 2, 2, 2],
    ['CAST(2.5 AS INT)', open, open, open, open],
    ['CAST(f AS INT)', open, open, open, open],
    ['CAST(d AS DECIMAL(6, 1))', { decimal: '1.5' }, { decimal: '1.5' }, open, { decimal: '1.5' }],
    ['CAST(d AS DECIMAL(6, 0))', open, open, open, open],
    ['CAST(i AS DECIMAL(5, 2))', { decimal: '12.00' }, { decimal: '12.00' }, open, { decimal: '12.00' }],
    ['CAST(i AS DECIMAL(3, 2))', open, open, open, open],
    ['CAST(i AS DOUBLE PRECISION)', 12, 12, open, 12],
    ['CAST(d AS DOUBLE PRECISION)', 1.5, 1.5, open, 1.5],
    ['CAST(o AS INT)', 1, 1, 1, open],
    ["CAST('12' AS INT)", open, open, open, open],
    ["CAST('x' AS DATE)", open, open, open, open],
    ['CAST(NULL AS DECIMAL(5, 2))', null, null, open, null],
    ['CAST(i AS JSON)', open, open, open, open],
    ['CAST(i AS INT) + 1', 13, 13, 13, 13],
  ])('%s', (sql, ...answers) => {
    expect(dialects.map((dialect) => cast(sql, dialect))).toEqual(answers);
  });

  it('never decides TRY_CAST, which may answer NULL instead of failing', () => {
    expect(cast('TRY_CAST(i AS TEXT)', 'duckdb')).toBe(open);
  });

  it('gives its result the type it names: what follows overflows by it', () => {
    expect(cast('CAST(i AS SMALLINT) + CAST(32760 AS SMALLINT)', 'postgres')).toBe(open);
    expect(cast('CAST(i AS INT) + CAST(32760 AS SMALLINT)', 'postgres')).toBe(32772);
  });
});
