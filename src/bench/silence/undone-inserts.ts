/**
 * What H2's lost INSERT needs: its ROLLBACK puts back what was at a key when an UPDATE came to it, also where that UPDATE changed nothing in the end because the row had left,
 * and whatever has been put there since is gone.
 *
 * All of it is asked for, of one primary or unique key:
 * 1. an INSERT of a row that the finding can be about, in a table that it is about, by a transaction that was not itself rolled back before the finding shows;
 * 2. a DELETE, or an UPDATE of a column of the key, that can have taken away the row that had the INSERT's key: of another transaction, which committed while the INSERT waited;
 * 3. an UPDATE or DELETE of a third, sent before the INSERT was answered, that can have come to that row, and was rolled back after the INSERT, before the finding shows.
 *
 * Where a text does not say which key a statement met (a condition on other columns), it can have met any. A lost write shows at the end.
 */
import type { Operation } from '../../histories/index.js';
import { type Catalog, columnsUsed, conditionOf, namedKeys, type Table } from '../../rows/index.js';
import { type Dialect, nameKey, sameName } from '../../sql/index.js';
import { endOf, type Shown } from './known-causes.js';
import {
  columnsOf,
  mayMeetInKey,
  mayNameRowOf,
  type RowWrite,
  rowWritesOf,
  statementOf,
  tablesOf,
  touch,
} from './row-writes.js';

export function losesInsert(shown: Shown): boolean {
  const { history, catalog, named, until } = shown;
  const shownAt = until === Number.POSITIVE_INFINITY ? until : Math.max(...named.map(endOf));
  const tables = new Set(tablesOf(shown));
  const writes = rowWritesOf(history.operations, catalog);
  return writes.some((insert) => {
    if (insert.change !== 'insert' || !tables.has(insert.table.name)) return false;
    if (!mayNameRowOf([insert], shown) || isRolledBack(insert, shownAt, shown)) return false;
    return keysOf(insert.table).some((key) =>
      writes.some(
        (taken) => isFreedBy(taken, insert, key, shown) && isUndone({ insert, taken, key, shownAt }, shown),
      ),
    );
  });
}

/** The columns of a key, by their places in the table. */
type Key = readonly number[];

function keysOf({ definition, shape }: Table): readonly Key[] {
  const unique = definition?.indexes.filter((index) => index.primary || index.unique) ?? [];
  const keys = unique.map((index) =>
    columnsUsed(index).map((used) => shape.columns.findIndex(({ name }) => name === used)),
  );
  return keys.filter((key) => !key.includes(-1));
}

function isRolledBack({ operation }: RowWrite, shownAt: number, { history }: Shown): boolean {
  return history.operations.some(
    ({ ends, transaction, start }) =>
      ends === 'rollback' && transaction === operation.transaction && start <= shownAt,
  );
}

/** Whether another transaction, which committed while the INSERT waited, took away the row that had its key. */
function isFreedBy(
  taken: RowWrite,
  insert: RowWrite,
  key: Key,
  { history: { operations }, catalog }: Shown,
): boolean {
  const { operation, table } = insert;
  if (taken.table !== table || !leavesKey(taken, key, catalog.dialect)) return false;
  const commit = operations.find(
    ({ ends, transaction }) => ends === 'commit' && transaction === taken.operation.transaction,
  );
  return (
    commit !== undefined &&
    commit.transaction !== operation.transaction &&
    endOf(commit) > operation.start &&
    commit.start <= endOf(operation) &&
    overlap(insertedKeys(insert, key, catalog.dialect), keysMet(taken.operation, table, key, catalog))
  );
}

function leavesKey({ change, set, table }: RowWrite, key: Key, dialect: Dialect): boolean {
  if (change === 'delete') return true;
  const names = key.map((at) => table.shape.columns[at]!.name);
  return (
    change === 'update' &&
    columnsOf(set).some((column) => names.some((name) => sameName(name, column, dialect)))
  );
}

interface Lost {
  readonly insert: RowWrite;
  readonly taken: RowWrite;
  readonly key: Key;
  readonly shownAt: number;
}

/** Whether a third was at the row that was taken, and was rolled back after the INSERT. */
function isUndone(
  { insert, taken, key, shownAt }: Lost,
  { history: { operations }, catalog }: Shown,
): boolean {
  const { operation, table } = insert;
  const inserted = insertedKeys(insert, key, catalog.dialect);
  return operations.some((rollback) => {
    if (rollback.ends !== 'rollback' || rollback.transaction === operation.transaction) return false;
    if (endOf(rollback) <= endOf(operation) || rollback.start > shownAt) return false;
    return operations.some(
      (write) =>
        write.transaction === rollback.transaction &&
        (write.kind === 'update' || write.kind === 'delete') &&
        write.start < endOf(operation) &&
        touch(write, catalog).writes.has(nameKey(table.name, catalog.dialect)) &&
        overlap(inserted, keysMet(write, table, key, catalog)) &&
        mayMeetInKey(touch(write, catalog), taken, catalog),
    );
  });
}

/** Keys, each as one text; undefined: any. */
type Keys = readonly string[] | undefined;

function overlap(some: Keys, others: Keys): boolean {
  return some === undefined || others === undefined || some.some((key) => others.includes(key));
}

function keysMet(operation: Operation, table: Table, key: Key, catalog: Catalog): Keys {
  return namedKeys(conditionOf(statementOf(operation, catalog)), { ...table, identity: key }, catalog);
}

/** Of its VALUES, whose literals stand for themselves only where they are integers; several columns are not told apart. */
function insertedKeys({ table, touch: { rows } }: RowWrite, key: Key, dialect: Dialect): Keys {
  const [at, ...others] = key;
  if (at === undefined || others.length > 0) return undefined;
  const given = rows.get(nameKey(table.shape.columns[at]!.name, dialect));
  return given === undefined || [...given].some((value) => !/^-?\d+$/.test(value)) ? undefined : [...given];
}
