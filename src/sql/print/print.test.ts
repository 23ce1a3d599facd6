import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { sqlArbitraries } from '../arbitrary.case.js';
import type { Dialect } from '../dialect.js';
import { parseStatement } from '../parse/parse.js';
import { printStatement } from './print.js';

const dialects: readonly Dialect[] = ['postgres', 'mysql', 'sqlite', 'duckdb'];

describe.each(dialects)('in %s', (dialect) => {
  const arbitraries = sqlArbitraries(dialect);

  test('what is printed reads back as the same tree', () => {
    fc.assert(
      fc.property(arbitraries.statement, (statement) => {
        const sql = printStatement(statement, dialect);
        expect(parseStatement(sql, dialect), sql).toEqual(statement);
      }),
      { numRuns: 300 },
    );
  });

  test('trees survive JSON', () => {
    fc.assert(
      fc.property(arbitraries.statement, (statement) => {
        expect(JSON.parse(JSON.stringify(statement))).toEqual(statement);
      }),
      { numRuns: 50 },
    );
  });
});
