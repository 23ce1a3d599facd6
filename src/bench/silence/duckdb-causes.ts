/**
 * What the known bugs of DuckDB need. DuckDB writes a row that is there in one of two ways:
 *
 * - *In place*: an UPDATE leaves the row where it is and keeps new values beside the old, column by column. It asks whether another transaction has
 *   written the same column there: `Conflict on update!`.
 * - *By removal*: a DELETE marks the place as empty, and so does an UPDATE that puts the row in again elsewhere, because it assigns a column of an
 *   index, or has RETURNING in a table with any index. It asks whether another transaction has removed the row: `Conflict on tuple deletion!`.
 *
 * Neither asks what the other asks, and so both writers commit (`missesConflicts`). What was removed stays in the indexes until the last transaction
 * ends that may see it; an index that was made meanwhile does not have it (`indexesBetweenRemovals`).
 */
import type { History, Operation } from '../../histories/index.js';
import { type Catalog, columnsUsed, mayMeet, type Table } from '../../rows/index.js';
import { nameKey } from '../../sql/index.js';
import { commitOf, endOf, endOfTransaction, type Shown } from './known-causes.js';
import { type NewIndex, newIndexesOf } from './new-indexes.js';
import { columnsOf, mayNameRowOf, type RowWrite, rowWritesOf, tablesOf } from './row-writes.js';

/**
 * Two transactions at once have written one row in a way that DuckDB does not take for a conflict: one removed it from its place and one changed it
 * there, or both changed other columns there, or one set a column to NULL that the other gave a value. The finding shows in that row's table, and names one
 * of the two, or a reader who came later.
 */
export function missesConflicts(shown: Shown): boolean {
  const { history, until, begun, catalog } = shown;
  const shownIn = new Set(tablesOf(shown));
  const writes = placedWritesOf(history, catalog).filter(
    ({ operation, table }) => operation.start <= until && shownIn.has(table.name),
  );
  return writes.some((a, at) =>
    writes
      .slice(at + 1)
      .some(
        (b) =>
          Math.min(a.operation.start, b.operation.start) <= begun &&
          isMissed(a, b) &&
          areConcurrent(a, b, shown) &&
          mayNameRowOf([a, b], shown),
      ),
  );
}

/** A statement that changed or removed rows that were there, and in which way. */
interface PlacedWrite extends RowWrite {
  /** Rows leave their place. */
  readonly removes: boolean;
  /** The table has indexes. */
  readonly indexed: boolean;
  /** Columns that are set to NULL, which DuckDB keeps apart from their values. */
  readonly nulls: ReadonlySet<string>;
}

function placedWritesOf(history: History, catalog: Catalog): readonly PlacedWrite[] {
  const made = newIndexesOf(history, catalog);
  return rowWritesOf(history.operations, catalog)
    .filter(({ change }) => change !== 'insert')
    .map((write) => placed(write, made, catalog));
}

function placed(write: RowWrite, made: readonly NewIndex[], { dialect }: Catalog): PlacedWrite {
  const { change, set, returning, table, operation } = write;
  const inIndexes = indexedColumns(table, operation, made);
  const indexed = inIndexes.size > 0;
  const moves = columnsOf(set).some((column) => inIndexes.has(column)) || (returning && indexed);
  const toNull = set.filter(({ value }) => value.type === 'literal' && value.value === null);
  const nulls = new Set(columnsOf(toNull).map((column) => nameKey(column, dialect)));
  return { ...write, removes: change === 'delete' || moves, indexed, nulls };
}

/** The columns of a table's indexes when a statement is sent: DuckDB asks for the indexes of that moment, not of the snapshot. */
function indexedColumns(table: Table, { start }: Operation, made: readonly NewIndex[]): ReadonlySet<string> {
  const there = made.filter((each) => each.table === table && endOf(each.operation) <= start);
  const declared = table.definition?.indexes.flatMap(columnsUsed) ?? [];
  return new Set([...declared, ...there.flatMap(({ columns }) => columns)]);
}

function isMissed(a: PlacedWrite, b: PlacedWrite): boolean {
  if (a.table !== b.table || !mayMeet(a.touch, b.touch)) return false;
  if (a.removes || b.removes) return a.removes !== b.removes;
  const both = [...a.touch.assigns].filter((column) => b.touch.assigns.has(column));
  return both.every((column) => a.nulls.has(column) !== b.nulls.has(column));
}

/** Neither transaction was over when the other took its snapshot; nor taken back before the other wrote. */
function areConcurrent(a: RowWrite, b: RowWrite, shown: Shown): boolean {
  const { history } = shown;
  const [one, other] = [a.operation, b.operation];
  if (one.transaction === other.transaction) return false;
  const isGone = (write: Operation, before: Operation) =>
    history.operations.some(
      ({ transaction, ends, end }) =>
        transaction === write.transaction && ends === 'rollback' && end !== null && end < before.start,
    );
  return (
    snapshotOf(shown, one) < endOfTransaction(history, other) &&
    snapshotOf(shown, other) < endOfTransaction(history, one) &&
    !isGone(one, other) &&
    !isGone(other, one)
  );
}

/**
 * The earliest time of an operation's snapshot: when its transaction sent the first statement after BEGIN. A run for the dependency graph reads before
 * that, as soon as BEGIN is answered, and the history does not show it; nor does it show whether a run in which the server failed was one.
 */
function snapshotOf({ finding, history }: Shown, { transaction }: Operation): number {
  const [first, second] = history.operations.filter((op) => op.transaction === transaction);
  if (first!.kind !== 'begin') return first!.start;
  const readsAtOnce = finding.oracle === 'dependency-graph' || finding.oracle === 'server';
  return readsAtOnce || second === undefined ? endOf(first!) : second.start;
}

/**
 * While the transaction that failed was open: others removed rows of a table with an index and committed, then an index was made on that table, then a
 * removal from it was committed, or is by the failed COMMIT itself. With the end of the transaction, all indexes that have had removals
 * are to forget the rows of the first; the new one never had them.
 */
export function indexesBetweenRemovals(shown: Shown): boolean {
  const { named, history, catalog } = shown;
  const failed = named.filter(({ error }) =>
    /Failed to delete all rows from index/.test(error?.message ?? ''),
  );
  if (failed.length === 0) return false;
  const removals = placedWritesOf(history, catalog).filter(({ removes }) => removes);
  return newIndexesOf(history, catalog).some(({ table, operation: index }) => {
    const there = removals.filter((each) => each.table === table);
    return failed.some(
      (end) =>
        index.start < end.start &&
        there.some(
          ({ indexed, operation: first }) =>
            indexed &&
            isRemovedBefore(first, index, end, shown) &&
            there.some(
              ({ operation: second }) =>
                second.transaction !== first.transaction && isRemovedAfter(second, index, end, history),
            ),
        ),
    );
  });
}

/** Committed by another transaction, since the snapshot of the one that `end` ends, and before the index was there. */
function isRemovedBefore(write: Operation, index: Operation, end: Operation, shown: Shown): boolean {
  const commit = commitOf(shown.history, write);
  return (
    write.transaction !== end.transaction &&
    commit !== undefined &&
    endOf(commit) > snapshotOf(shown, end) &&
    commit.start < endOf(index)
  );
}

function isRemovedAfter(write: Operation, index: Operation, end: Operation, history: History): boolean {
  const commit = write.transaction === end.transaction ? end : commitOf(history, write);
  return commit !== undefined && commit.start <= end.start && endOf(commit) > index.start;
}
