import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { sqlArbitraries } from '../arbitrary.case.js';
import type { Dialect } from '../dialect.js';
import { parseStatement } from '../parse/parse.js';
import type { Value } from '../value.js';
import { printLiteral } from './literal.js';
import { printStatement } from './print.js';

const dialects: readonly Dialect[] = ['postgres', 'mysql', 'sqlite', 'duckdb'];

describe('printLiteral', () => {
  test.each([
    [null, ['NULL', 'NULL', 'NULL', 'NULL']],
    [true, ['TRUE', 'TRUE', 'TRUE', 'TRUE']],
    [0.1, ['0.1e0', '0.1e0', '0.1e0', '0.1e0']],
    [{ int: '9007199254740993' }, Array(4).fill('9007199254740993')],
    [{ decimal: '1.10' }, Array(4).fill('1.10')],
    ["it's \\", ["'it''s \\'", "'it''s \\\\'", "'it''s \\'", "'it''s \\'"]],
    [{ bytes: '00ff' }, ["'\\x00ff'::BYTEA", "X'00ff'", "X'00ff'", "'\\x00\\xff'::BLOB"]],
    [{ date: '2024-02-29' }, ["DATE '2024-02-29'", "DATE '2024-02-29'", "'2024-02-29'", "DATE '2024-02-29'"]],
  ] as [Value, string[]][])('%j', (value, spellings) => {
    expect(dialects.map((dialect) => printLiteral(value, dialect))).toEqual(spellings);
  });
});

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
