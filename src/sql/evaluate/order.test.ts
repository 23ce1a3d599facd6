/** ORDER BY and LIMIT: a cut is decided exactly where every order the engine may choose gives the same rows. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { SelectStatement } from '../ast.js';
import type { Dialect } from '../dialect.js';
import { parseStatement } from '../parse/parse.js';
import type { Row, Value } from '../value.js';
import { evaluateSelect } from './evaluate.js';
import { isUndecidable } from './undecidable.js';

const dialects: readonly Dialect[] = ['postgres', 'mysql', 'sqlite', 'duckdb'];

function select(sql: string, rows: readonly Row[], dialect: Dialect) {
  const table = {
    columns: [
      { name: 'a', type: 'INT' },
      { name: 'b', type: 'INT' },
    ],
    rows,
  };
  return evaluateSelect(parseStatement(sql, dialect) as SelectStatement, { dialect, table: () => table });
}

/** Where NULL stands among numbers: at which end, by dialect and direction. */
function nullRank(dialect: Dialect, descending: boolean): 'first' | 'last' {
  if (dialect === 'duckdb') return 'last';
  return (dialect === 'postgres') === descending ? 'first' : 'last';
}

function compareSlowly(a: Value, b: Value, descending: boolean, nulls: 'first' | 'last'): number {
  if (a === null && b === null) return 0;
  if (a === null) return nulls === 'first' ? -1 : 1;
  if (b === null) return nulls === 'first' ? 1 : -1;
  return descending ? Number(b) - Number(a) : Number(a) - Number(b);
}

/** Every order of rows that the sort allows. */
function allOrders(rows: readonly Row[], compare: (a: Row, b: Row) => number): Row[][] {
  if (rows.length === 0) return [[]];
  return rows.flatMap((row, i) => {
    const others = rows.filter((_, j) => j !== i);
    if (others.some((other) => compare(other, row) < 0)) return [];
    return allOrders(others, compare).map((rest) => [row, ...rest]);
  });
}

const bag = (rows: readonly (readonly unknown[])[]) =>
  rows
    .map((row) => JSON.stringify(row))
    .sort()
    .join();
const list = (rows: readonly (readonly unknown[])[]) => rows.map((row) => JSON.stringify(row)).join();

describe.each(dialects)('in %s', (dialect) => {
  const cell = fc.oneof(fc.constant(null), fc.integer({ min: 0, max: 2 }));
  const tables = fc.array(fc.tuple(cell, cell), { maxLength: 5 });

  it('agrees with all orders an engine may choose', () => {
    fc.assert(
      fc.property(
        tables,
        fc.boolean(),
        fc.option(fc.constantFrom('FIRST' as const, 'LAST' as const)),
        fc.nat(4),
        fc.nat(3),
        (rows, descending, nulls, limit, offset) => {
          const spelt = dialect === 'mysql' || nulls === null ? '' : ` NULLS ${nulls}`;
          const sql = `SELECT a, b FROM t ORDER BY a${descending ? ' DESC' : ''}${spelt} LIMIT ${limit} OFFSET ${offset}`;
          const end = spelt === '' ? nullRank(dialect, descending) : nulls === 'FIRST' ? 'first' : 'last';
          const orders = allOrders(rows, (x, y) => compareSlowly(x[0]!, y[0]!, descending, end));
          const answers = orders.map((order) => order.slice(offset, offset + limit));
          const result = select(sql, rows, dialect);
          const bags = new Set(answers.map(bag));
          if (isUndecidable(result)) {
            expect(bags.size, sql).toBeGreaterThan(1);
            return;
          }
          expect(bags, sql).toEqual(new Set([bag(result.rows)]));
          if (result.order === 'total')
            expect(new Set(answers.map(list))).toEqual(new Set([list(result.rows)]));
          else expect(new Set(answers.map(list)).size, sql).toBeGreaterThan(1);
        },
      ),
      { numRuns: 150 },
    );
  });

  it('cuts rows without an order only where all are alike', () => {
    const same: Row[] = [
      [1, 1],
      [1, 1],
    ];
    expect(select('SELECT a FROM t LIMIT 1', same, dialect)).toMatchObject({ rows: [[1]] });
    const different: Row[] = [
      [1, 1],
      [2, 1],
    ];
    expect(select('SELECT a FROM t LIMIT 1', different, dialect)).toEqual({
      undecidable: 'LIMIT cuts through rows of equal rank',
    });
    expect(select('SELECT b FROM t LIMIT 1', different, dialect)).toMatchObject({ rows: [[1]] });
    expect(select('SELECT a FROM t LIMIT 2', different, dialect)).toMatchObject({ order: 'none' });
    expect(select('SELECT a FROM t LIMIT 0', different, dialect)).toMatchObject({ rows: [] });
  });
});

describe('a key that cannot be compared', () => {
  const texts = (sql: string) =>
    evaluateSelect(parseStatement(sql, 'postgres') as SelectStatement, {
      dialect: 'postgres',
      table: () => ({ columns: [{ name: 's', type: 'TEXT' }], rows: [['a'], ['B'], ['c']] }),
    });

  it('leaves the order open, not the rows', () => {
    expect(texts('SELECT s FROM t ORDER BY s')).toMatchObject({ rows: [['a'], ['B'], ['c']], order: 'none' });
  });

  it('leaves the rows open where they are cut', () => {
    expect(texts('SELECT s FROM t ORDER BY s LIMIT 1')).toEqual({ undecidable: 'the collation decides' });
  });

  it('does not matter where a key before it decides', () => {
    expect(texts("SELECT s FROM t WHERE s = 'a' ORDER BY s LIMIT 1")).toMatchObject({
      rows: [['a']],
      order: 'total',
    });
  });
});
