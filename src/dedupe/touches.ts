/**
 * Which rows a statement reads and writes, as far as its text says (`rows/touched.ts`), and what else matters to tell causes
 * apart. Two questions have two answers: whether two statements *may* meet in a row, and whether they *surely* do, which takes
 * a statement without a condition, or two that name a row alike.
 */
import { mayMeet as mayMeetRows, type Touch as RowTouch, touchOf as rowTouch } from '../rows/index.js';
import type { Dialect, Statement } from '../sql/index.js';

export interface Touch extends RowTouch {
  /** An UPDATE or DELETE of every row. */
  readonly every: boolean;
  /** An UPDATE that assigns NULL, and one that returns rows: engines have ways of their own for both. */
  readonly toNull: boolean;
  readonly returning: boolean;
}

/** Whether some of the one and some of the other may touch a row that one of them writes. */
export function mayMeet(some: readonly Touch[], others: readonly Touch[]): boolean {
  return some.some((a) => others.some((b) => mayMeetRows(a, b)));
}

/** Whether some of the one and some of the other certainly write a common row, given that each writes any. */
export function surelyMeet(some: readonly Touch[], others: readonly Touch[]): boolean {
  return some.some((a) => others.some((b) => writesSame(a, b)));
}

function writesSame(a: Touch, b: Touch): boolean {
  if (![...a.writes].some((table) => b.writes.has(table))) return false;
  if (a.every || b.every) return true;
  return [...a.rows].some(([column, values]) => [...(b.rows.get(column) ?? [])].some((v) => values.has(v)));
}

export function touchOf(
  statement: Statement,
  dialect: Dialect = 'postgres',
): { touch: Touch; tables: string[] } {
  const touched = rowTouch(statement, dialect);
  const tables = [...new Set([...touched.writes, ...touched.reads])];
  const every =
    (statement.type === 'update' || statement.type === 'delete') &&
    statement.where === undefined &&
    statement.limit === undefined &&
    tables.length === 1;
  const toNull =
    statement.type === 'update' &&
    statement.set.some(({ value }) => value.type === 'literal' && value.value === null);
  const returning = statement.type === 'update' && statement.returning !== undefined;
  return { touch: { ...touched, every, toNull, returning }, tables };
}
