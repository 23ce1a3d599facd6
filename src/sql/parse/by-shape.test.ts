import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { sqlArbitraries } from '../arbitrary.case.js';
import type { Dialect } from '../dialect.js';
import { printStatement } from '../print/print.js';
import { ShapeParser } from './by-shape.js';
import { parseStatement } from './parse.js';

const dialects: readonly Dialect[] = ['postgres', 'mysql', 'sqlite', 'duckdb'];

describe('parsing by shape', () => {
  test.each(dialects)('gives the tree that parsing gives, for any statement of %s', (dialect) => {
    const parser = new ShapeParser(dialect);
    fc.assert(
      fc.property(
        sqlArbitraries(dialect).statement,
        fc.array(fc.nat(99_999), { minLength: 1 }),
        (statement, numbers) => {
          const sql = printStatement(statement, dialect);
          let at = 0;
          const other = sql.replace(/\d+/g, () => String(numbers[at++ % numbers.length]));
          for (const text of [sql, other, sql])
            expect(parser.parse(text).statement).toEqual(parseStatement(text, dialect));
        },
      ),
    );
  });

  test('shares what does not differ, and tells that statements have one shape', () => {
    const parser = new ShapeParser('mysql');
    const one = parser.parse('select a from t where b = 1 and c > -2 for update');
    const two = parser.parse('select a from t where b = 30 and c > -0 for update');
    expect(one.shape).toBe(two.shape);
    expect(two.statement).toEqual(
      parseStatement('select a from t where b = 30 and c > -0 for update', 'mysql'),
    );
    expect((one.statement as { locks?: unknown }).locks).toBe((two.statement as { locks?: unknown }).locks);
  });

  test.each([
    "select a from t where b = '1'",
    'select `a 1` from t where b = 1',
    'select cast(a as decimal(10, 2)) from t where b = 1',
    'select a from t where b = 1 -- not 2',
    'select a from t where b = 900000000000000 and c = 900000000000001',
    'select a from t where b = 9000000000000000 or c = 1',
    'select a from t where b = \u0001',
    'select a from t where b = 1 order by 1 limit 2',
    'no statement 1',
  ])('keeps %s as it is', (sql) => {
    const parser = new ShapeParser('mysql');
    for (const text of [sql, sql.replaceAll('1', '7'), sql])
      expect(parser.parse(text).statement).toEqual(parseStatement(text, 'mysql'));
  });
});
