/**
 * Which rows a statement reads and writes, as far as its text says.
 *
 * Rows are told apart where both statements name them by literals of one column that neither assigns (`id = 1` against
 * `id = 2`). What cannot be parsed touches every row of every table it names. So two questions have two answers: whether
 * two statements *may* meet in a row, and whether they *surely* do, which takes a statement without a condition, or two
 * that name a row alike.
 */
import { type Expression, type Statement, statementFeatures, valueKey } from '../sql/index.js';

export interface Touch {
  readonly reads: ReadonlySet<string>;
  readonly writes: ReadonlySet<string>;
  /** Column to the literals that choose the rows; absent: any row. */
  readonly rows: ReadonlyMap<string, ReadonlySet<string>>;
  /** Columns an UPDATE assigns. */
  readonly assigns: ReadonlySet<string>;
  /** An UPDATE or DELETE of every row. */
  readonly every: boolean;
  /** An UPDATE that assigns NULL, and one that returns rows: engines have ways of their own for both. */
  readonly toNull: boolean;
  readonly returning: boolean;
}

/** Whether some of the one and some of the other may touch a row that one of them writes. */
export function mayMeet(some: readonly Touch[], others: readonly Touch[]): boolean {
  return some.some((a) => others.some((b) => touchesSame(a, b)));
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

function touchesSame(a: Touch, b: Touch): boolean {
  const shared = (from: ReadonlySet<string>, to: Touch) =>
    [...from].some((table) => to.reads.has(table) || to.writes.has(table));
  if (!shared(a.writes, b) && !shared(b.writes, a)) return false;
  for (const [column, values] of a.rows) {
    const other = b.rows.get(column);
    if (other === undefined || a.assigns.has(column) || b.assigns.has(column)) continue;
    if (![...values].some((value) => other.has(value))) return false;
  }
  return true;
}

export function touchOf(statement: Statement): { touch: Touch; tables: string[] } {
  const features = statementFeatures(statement);
  const names = (uses: readonly { readonly name: string }[]) => uses.map(({ name }) => name.toLowerCase());
  const [reads, writes] = [names(features.reads), names(features.writes)];
  const tables = [...new Set([...writes, ...reads])];
  // With several tables a column's name does not say whose rows it chooses.
  const rows = tables.length === 1 && !features.subquery ? rowsOf(statement) : new Map<string, Set<string>>();
  const assigns = new Set(
    statement.type === 'update'
      ? statement.set.flatMap(({ columns }) => columns.map((name) => name.toLowerCase()))
      : [],
  );
  const every =
    (statement.type === 'update' || statement.type === 'delete') &&
    statement.where === undefined &&
    statement.limit === undefined &&
    tables.length === 1;
  const toNull =
    statement.type === 'update' &&
    statement.set.some(({ value }) => value.type === 'literal' && value.value === null);
  const returning = statement.type === 'update' && statement.returning !== undefined;
  const touch = { reads: new Set(reads), writes: new Set(writes), rows, assigns, every, toNull, returning };
  return { touch, tables };
}

function rowsOf(statement: Statement): Map<string, Set<string>> {
  const rows = new Map<string, Set<string>>();
  const keep = (column: Expression, values: readonly Expression[]) => {
    if (column.type !== 'column' || !values.every((value) => value.type === 'literal')) return;
    rows.set(
      column.name.toLowerCase(),
      new Set(values.map((value) => (value.type === 'literal' ? valueKey(value.value) : ''))),
    );
  };
  const follow = (condition: Expression | undefined): void => {
    if (condition?.type === 'binary' && condition.op === 'AND') {
      follow(condition.left);
      follow(condition.right);
    } else if (condition?.type === 'binary' && condition.op === '=') {
      keep(condition.left, [condition.right]);
      keep(condition.right, [condition.left]);
    } else if (condition?.type === 'in-list' && !condition.negated) keep(condition.operand, condition.list);
  };
  if (statement.type === 'update' || statement.type === 'delete') follow(statement.where);
  else if (statement.type === 'select' && statement.body.type === 'core') follow(statement.body.where);
  else if (statement.type === 'insert' && statement.source.type === 'values') {
    const { rows: lines } = statement.source;
    for (const [i, name] of (statement.columns ?? []).entries()) {
      keep({ type: 'column', name }, lines.map((line) => line[i] ?? { type: 'default' }) as Expression[]);
    }
  }
  return rows;
}
