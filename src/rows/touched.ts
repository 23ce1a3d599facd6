/**
 * Which tables and rows a statement touches, as far as its text says, where nobody knows the tables: enough to guess which
 * statements meet.
 *
 * Rows are told apart where both statements name them by constants of one column that neither assigns (`id = 1` against
 * `id = 2`). What cannot be parsed touches every row of every table it names.
 */
import {
  type Dialect,
  nameKey,
  type Statement,
  statementFeatures,
  type Value,
  valueKey,
} from '../sql/index.js';
import { type ColumnConstants, columnConstants, conditionOf } from './named-rows.js';

export interface Touch {
  /** Tables by their keys (`nameKey`). */
  readonly reads: ReadonlySet<string>;
  readonly writes: ReadonlySet<string>;
  /** Column to the constants that choose the rows, as `valueKey`s; no column: any row. */
  readonly rows: ReadonlyMap<string, ReadonlySet<string>>;
  /** Columns an UPDATE assigns. */
  readonly assigns: ReadonlySet<string>;
}

export function touchOf(statement: Statement, dialect: Dialect): Touch {
  const features = statementFeatures(statement);
  const keys = (uses: readonly { readonly name: string }[]) =>
    new Set(uses.map(({ name }) => nameKey(name, dialect)));
  const reads = keys(features.reads);
  const writes = keys(features.writes);
  // With several tables a column's name does not say whose rows it chooses.
  const single = new Set([...reads, ...writes]).size === 1 && !features.subquery;
  const constants = single ? constantsOf(statement, dialect) : new Map<string, readonly Value[]>();
  const assigned = statement.type === 'update' ? statement.set.flatMap(({ columns }) => columns) : [];
  return {
    reads,
    writes,
    rows: new Map([...constants].map(([column, values]) => [column, new Set(values.map(valueKey))])),
    assigns: new Set(assigned.map((name) => nameKey(name, dialect))),
  };
}

/** The constants by which a statement chooses the rows of its table, or which it puts into them. */
function constantsOf(statement: Statement, dialect: Dialect): ColumnConstants {
  if (statement.type !== 'insert') return columnConstants(conditionOf(statement), dialect);
  const { columns = [], source } = statement;
  const given = new Map<string, readonly Value[]>();
  if (source.type !== 'values') return given;
  columns.forEach((name, i) => {
    const cells = source.rows.map((row) => row[i]);
    const values = cells.flatMap((cell) => (cell?.type === 'literal' ? [cell.value] : []));
    if (values.length === cells.length) given.set(nameKey(name, dialect), values);
  });
  return given;
}

/** Whether two statements may touch a row that one of them writes. */
export function mayMeet(a: Touch, b: Touch): boolean {
  const shared = (from: ReadonlySet<string>, to: Touch) =>
    [...from].some((table) => to.reads.has(table) || to.writes.has(table));
  return (shared(a.writes, b) || shared(b.writes, a)) && !nameDifferentRows(a, b);
}

function nameDifferentRows(a: Touch, b: Touch): boolean {
  return [...a.rows].some(([column, values]) => {
    const others = b.rows.get(column);
    if (others === undefined || a.assigns.has(column) || b.assigns.has(column)) return false;
    return ![...values].some((value) => others.has(value));
  });
}
