/**
 * What is not known stays harmless: if an answer is decided although a cell is hidden, then no value of that cell could change
 * it. Random typed expressions, rows and tables; the hidden cell is tried with its true value, with NULL and with values of
 * other rows.
 */
import { describe, expect, it } from 'vitest';
import type { SelectStatement } from '../ast.js';
import type { Dialect } from '../dialect.js';
import { parseExpressionText, parseStatement } from '../parse/parse.js';
import { compilePredicate, evaluateSelect } from './evaluate.js';
import type { EvaluateOptions } from './scope.js';
import { randomFrom, TypedSql, type TypedTable } from './typed-sql.case.js';
import { type EvaluatedRow, isUndecidable, undecidable } from './undecidable.js';

const hidden = undecidable('hidden');
const dialects = ['postgres', 'mysql', 'sqlite', 'duckdb'] as const;
const rounds = 150;

function optionsOf(dialect: Dialect, tables: readonly TypedTable[]): EvaluateOptions {
  return { dialect, table: (name) => tables.find((table) => table.name === name) };
}

const replaced = (row: EvaluatedRow, at: number, cell: EvaluatedRow[number]): EvaluatedRow =>
  row.map((old, i) => (i === at ? cell : old));

describe.each(dialects)('in %s', (dialect) => {
  it('a condition decided with a hidden cell has that answer for every value of it', () => {
    const random = randomFrom(20260101);
    let decided = 0;
    for (let round = 0; round < rounds; round++) {
      const sql = new TypedSql(dialect, random);
      const [table] = sql.tables as [TypedTable];
      const scope = table.columns.map((column) => ({ ...column, table: table.name }));
      const text = sql.condition(scope, 2);
      const parsed = parseExpressionText(text, dialect);
      if (parsed === undefined) throw new Error(`cannot parse ${text}`);
      const columns = table.columns.map(({ name, type }) => ({ name, type, table: table.name }));
      const holds = compilePredicate(parsed, columns, optionsOf(dialect, sql.tables));
      for (const row of table.rows) {
        const at = Math.floor(random() * row.length);
        const answer = holds(replaced(row, at, hidden));
        if (isUndecidable(answer)) continue;
        decided++;
        const values = [row[at]!, null, ...table.rows.map((other) => other[at]!)];
        for (const value of values) {
          const known = holds(replaced(row, at, value));
          if (isUndecidable(known)) continue;
          expect(known, `${text} on ${JSON.stringify(row)} without cell ${at}`).toBe(answer);
        }
      }
    }
    expect(decided).toBeGreaterThan(rounds / 2);
  });

  it('a query over a table whose rows are not known decides nothing that depends on them', () => {
    const random = randomFrom(7);
    let [decided, undecided] = [0, 0];
    for (let round = 0; round < rounds; round++) {
      const sql = new TypedSql(dialect, random);
      const text = sql.select();
      const query = parseStatement(text, dialect) as SelectStatement;
      const [first, second] = sql.tables as [TypedTable, TypedTable];
      const without: EvaluateOptions = {
        dialect,
        table: (name) => (name === second.name ? { ...second, rows: hidden } : first),
      };
      const answer = evaluateSelect(query, without);
      const cells = isUndecidable(answer) ? [] : answer.rows.flat();
      if (isUndecidable(answer) || cells.some(isUndecidable)) {
        undecided++;
        continue;
      }
      decided++;
      for (const rows of [second.rows, [], second.rows.slice(0, 1)]) {
        const known = evaluateSelect(query, optionsOf(dialect, [first, { ...second, rows }]));
        if (isUndecidable(known) || known.rows.flat().some(isUndecidable)) continue;
        expect(known.rows, text).toEqual(answer.rows);
      }
    }
    expect(Math.min(decided, undecided)).toBeGreaterThan(5);
  });
});
