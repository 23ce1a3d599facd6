/** Aggregates and groups against the book: each computed anew from the rows, with NULLs, duplicates and filters. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { SelectStatement } from '../ast.js';
import type { Dialect } from '../dialect.js';
import { parseStatement } from '../parse/parse.js';
import type { Value } from '../value.js';
import { evaluateSelect } from './evaluate.js';
import { isUndecidable } from './undecidable.js';

const dialects: readonly Dialect[] = ['postgres', 'mysql', 'sqlite', 'duckdb'];

function select(sql: string, rows: readonly (readonly Value[])[], dialect: Dialect, types = ['INT', 'INT']) {
  const columns = types.map((type, i) => ({ name: 'ab'[i]!, type }));
  const result = evaluateSelect(parseStatement(sql, dialect) as SelectStatement, {
    dialect,
    table: () => ({ columns, rows }),
  });
  return isUndecidable(result) ? result.undecidable : result.rows;
}

const cell = fc.oneof(fc.constant(null), fc.integer({ min: -3, max: 3 }));
const tables = fc.array(fc.tuple(cell, cell), { maxLength: 8 });
const known = (values: readonly (number | null)[]) => values.filter((value) => value !== null);
const total = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0);

describe.each(dialects)('over a whole table in %s', (dialect) => {
  const one = (sql: string, rows: readonly (readonly Value[])[]) =>
    (select(sql, rows, dialect) as Value[][])[0]![0];

  it('COUNT counts rows, values, and values once', () => {
    fc.assert(
      fc.property(tables, (rows) => {
        const values = known(rows.map(([a]) => a));
        expect(one('SELECT COUNT(*) FROM t', rows)).toBe(rows.length);
        expect(one('SELECT COUNT(a) FROM t', rows)).toBe(values.length);
        expect(one('SELECT COUNT(DISTINCT a) FROM t', rows)).toBe(new Set(values).size);
      }),
      { numRuns: 40 },
    );
  });

  it('SUM, MIN and MAX pass over NULL, and of nothing are NULL', () => {
    fc.assert(
      fc.property(tables, (rows) => {
        const values = known(rows.map(([a]) => a));
        const empty = values.length === 0;
        // MySQL's sums are decimals.
        const sum = (of: readonly number[]) =>
          empty ? null : dialect === 'mysql' ? { decimal: String(total(of)) } : total(of) || 0;
        expect(one('SELECT SUM(a) FROM t', rows)).toEqual(sum(values));
        expect(one('SELECT SUM(DISTINCT a) FROM t', rows)).toEqual(sum([...new Set(values)]));
        expect(one('SELECT MIN(a) FROM t', rows)).toBe(empty ? null : Math.min(...values));
        expect(one('SELECT MAX(a) FROM t', rows)).toBe(empty ? null : Math.max(...values));
      }),
      { numRuns: 40 },
    );
  });

  it('groups hold the rows of one key, NULL being one', () => {
    fc.assert(
      fc.property(tables, (rows) => {
        const keys = [...new Set(rows.map(([a]) => a))];
        const expected = keys.map((key) => {
          const members = rows.filter(([a]) => a === key);
          return JSON.stringify([key, members.length, known(members.map(([, b]) => b)).length]);
        });
        const found = select('SELECT a, COUNT(*), COUNT(b) FROM t GROUP BY a', rows, dialect) as Value[][];
        expect(found.map((row) => JSON.stringify(row)).sort()).toEqual(expected.sort());
      }),
      { numRuns: 40 },
    );
  });

  it('HAVING keeps groups as WHERE keeps rows', () => {
    fc.assert(
      fc.property(tables, (rows) => {
        const all = select('SELECT a, COUNT(*) FROM t GROUP BY a', rows, dialect) as Value[][];
        const kept = select('SELECT a, COUNT(*) FROM t GROUP BY a HAVING COUNT(*) > 1', rows, dialect);
        expect(kept).toEqual(all.filter(([, count]) => (count as number) > 1));
      }),
      { numRuns: 30 },
    );
  });
});

describe('types of results', () => {
  const three: Value[][] = [
    [1, 1],
    [2, 1],
    [4, 1],
  ];

  it.each<[sql: string, ...answers: (Value | string)[]]>([
    ['SUM(a)', 7, { decimal: '7' }, 7, 7],
    ['AVG(a)', { decimal: '2.3333333333333333' }, 'an average that must be rounded', 7 / 3, 7 / 3],
    ['SUM(a) / 2', 3, { decimal: '3.5000' }, 3, 3.5],
    ['COUNT(*) / 2', 1, { decimal: '1.5000' }, 1, 1.5],
    ['SUM(a + 0.5)', { decimal: '8.5' }, { decimal: '8.5' }, 8.5, { decimal: '8.5' }],
    ['MAX(a) > 3', true, 1, 1, true],
  ])('%s', (expression, ...answers) => {
    const found = dialects.map((dialect) => {
      const rows = select(`SELECT ${expression} FROM t`, three, dialect);
      const value = typeof rows === 'string' ? rows : rows[0]![0]!;
      return isUndecidable(value) ? value.undecidable : value;
    });
    expect(found).toEqual(answers);
  });

  it('are wider than the column where the engine’s are', () => {
    const large: Value[][] = [
      [2147483647, 1],
      [2147483647, 1],
    ];
    expect(select('SELECT SUM(a) FROM t', large, 'postgres')).toEqual([[4294967294]]);
    const largest: Value[][] = [[{ int: '9223372036854775807' }], [1]];
    expect(select('SELECT SUM(a) FROM t', largest, 'postgres', ['BIGINT'])).toEqual([
      [{ decimal: '9223372036854775808' }],
    ]);
    expect(select('SELECT SUM(a) FROM t', largest, 'sqlite', ['BIGINT'])).toEqual([
      [{ undecidable: 'overflow' }],
    ]);
  });

  it('of doubles are open where the order of adding could round', () => {
    const exact: Value[][] = [[0.5], [0.25], [-4]];
    const inexact: Value[][] = [[0.1], [0.2], [0.3]];
    for (const dialect of dialects) {
      const type = [dialect === 'sqlite' ? 'REAL' : 'DOUBLE PRECISION'];
      expect(select('SELECT SUM(a) FROM t', exact, dialect, type)).toEqual([[-3.25]]);
      expect(select('SELECT SUM(a) FROM t', inexact, dialect, type)).toEqual([
        [{ undecidable: 'a sum that depends on the order of its terms' }],
      ]);
    }
  });
});

describe('texts in groups', () => {
  const texts: Value[][] = [['a'], ['A'], ['a']];

  it('differ by case, except where the collation decides', () => {
    for (const dialect of ['postgres', 'sqlite', 'duckdb'] as const)
      expect(select('SELECT COUNT(DISTINCT a) FROM t', texts, dialect, ['TEXT'])).toEqual([[2]]);
    expect(select('SELECT a, COUNT(*) FROM t GROUP BY a', texts, 'mysql', ['TEXT'])).toBe(
      'the collation decides which texts are equal',
    );
  });

  it('that no collation takes for one another are decided in MySQL, too', () => {
    expect(select('SELECT COUNT(DISTINCT a) FROM t', [['a'], ['b'], ['a']], 'mysql', ['TEXT'])).toEqual([
      [2],
    ]);
  });

  it('decimals of one value but two spellings are one group, and which is shown is open', () => {
    const spelt: Value[][] = [[{ decimal: '1.0' }], [{ decimal: '1.00' }]];
    expect(select('SELECT COUNT(*) FROM t GROUP BY a', spelt, 'postgres', ['NUMERIC'])).toEqual([[2]]);
    expect(select('SELECT DISTINCT a FROM t', spelt, 'postgres', ['NUMERIC'])).toBe(
      'two spellings of one value',
    );
    expect(select('SELECT MIN(a) FROM t', spelt, 'postgres', ['NUMERIC'])).toEqual([
      [{ undecidable: 'two spellings of one value' }],
    ]);
  });
});
