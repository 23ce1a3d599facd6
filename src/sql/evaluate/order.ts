/** ORDER BY and LIMIT: sorting with the dialect's place for NULLs, and cutting only where no tie is cut. */
import type { OrderItem } from '../ast.js';
import { valueKey } from '../value.js';
import { type Comparison, comparison } from './compare.js';
import type { Context, RelationRows } from './scope.js';
import type { SqlType } from './types.js';
import { type Evaluated, isUndecidable, NotDecidable } from './undecidable.js';

export interface KeyedRow {
  readonly row: readonly Evaluated[];
  readonly keys: readonly Evaluated[];
}

export interface Order {
  /** Where the keys stand in the row, when they are output columns. */
  readonly indexes: readonly number[];
  readonly compare: (a: KeyedRow, b: KeyedRow) => number;
}

export function compileOrder(
  items: readonly OrderItem[],
  types: readonly SqlType[],
  indexes: readonly number[],
  ctx: Context,
): Order {
  const comparisons = items.map(({ descending, nulls }, i) => {
    const compare = comparison(types[i]!, types[i]!, ctx, false);
    if (nulls === undefined && ctx.borrowed) return compareKeys(compare, descending, undefined);
    const nullsFirst = nulls === undefined ? nullsComeFirst(descending, ctx) : nulls === 'first';
    return compareKeys(compare, descending, nullsFirst);
  });
  return {
    indexes,
    compare: (a, b) => {
      for (let i = 0; i < comparisons.length; i++) {
        const sign = comparisons[i]!(a.keys[i]!, b.keys[i]!);
        if (sign !== 0) return sign;
      }
      return 0;
    },
  };
}

/** NULL is the largest value in PostgreSQL, the smallest in MySQL and SQLite, and always last in DuckDB. */
function nullsComeFirst(descending: boolean, ctx: Context): boolean {
  if (ctx.dialect === 'duckdb') return false;
  return ctx.dialect === 'postgres' ? descending : !descending;
}

/** `nullsFirst`: undefined: that is not known. */
function compareKeys(compare: Comparison, descending: boolean, nullsFirst: boolean | undefined) {
  return (a: Evaluated, b: Evaluated): number => {
    if (isUndecidable(a)) throw new NotDecidable(a.undecidable);
    if (isUndecidable(b)) throw new NotDecidable(b.undecidable);
    if (nullsFirst === undefined && (a === null) !== (b === null))
      throw new NotDecidable('where NULL stands in the order');
    if (a === null || b === null) return a === b ? 0 : (a === null) === nullsFirst ? -1 : 1;
    const sign = compare(a, b);
    if (typeof sign !== 'number') throw new NotDecidable(sign.undecidable);
    return descending ? -sign : sign;
  };
}

/** The rows a query returns, in order as far as it has one. */
export function cutRows(
  rows: readonly KeyedRow[],
  order: Order | undefined,
  limit: number | undefined,
  offset: number,
): RelationRows {
  const first = Math.min(offset, rows.length);
  const last = limit === undefined ? rows.length : Math.min(first + limit, rows.length);
  const cut = first > 0 || last < rows.length;
  const sorted = order === undefined ? rows : sortRows(rows, order, cut);
  if (sorted === undefined) return { rows: rows.map(({ row }) => row), order: 'none' };
  const tied = (i: number) =>
    i > 0 && i < sorted.length && (order === undefined || order.compare(sorted[i - 1]!, sorted[i]!) === 0);
  const same = (i: number) => rowText(sorted[i - 1]!) === rowText(sorted[i]!);
  if (cut && last > first) {
    for (const edge of [first, last])
      if (edgeMatters(edge, sorted.length, tied, same))
        throw new NotDecidable('LIMIT cuts through rows of equal rank');
  }
  const kept = sorted.slice(first, last);
  if (order === undefined)
    return { rows: kept.map(({ row }) => row), order: kept.length > 1 ? 'none' : 'total' };
  let total = true;
  for (let i = first + 1; i < last; i++) if (tied(i) && !same(i)) total = false;
  return { rows: kept.map(({ row }) => row), order: total ? 'total' : 'partial' };
}

/** Whether a cut between two tied rows could have fallen otherwise: some rows of that rank differ. */
function edgeMatters(
  edge: number,
  length: number,
  tied: (i: number) => boolean,
  same: (i: number) => boolean,
): boolean {
  if (!tied(edge)) return false;
  let from = edge;
  while (tied(from - 1)) from--;
  let to = edge;
  while (to + 1 < length && tied(to + 1)) to++;
  for (let i = from; i <= to; i++) if (!same(i)) return true;
  return false;
}

/** Sorted rows; when two keys cannot be compared, nothing if the order is only for show. */
function sortRows(rows: readonly KeyedRow[], order: Order, needed: boolean): readonly KeyedRow[] | undefined {
  try {
    return [...rows].sort(order.compare);
  } catch (error) {
    if (!(error instanceof NotDecidable) || needed) throw error;
    return undefined;
  }
}

function rowText({ row }: KeyedRow): string {
  return row.map((cell) => (isUndecidable(cell) ? '?' : valueKey(cell))).join();
}
