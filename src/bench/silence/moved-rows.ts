/**
 * What MySQL #113228 and TiDB #48960 need: a row that another transaction has moved. Both engines keep a row at its key, so a changed key is a
 * deletion at one address and a new row at another. A plain read looks at the snapshot, and at the own writes in place of what they replace, address by address.
 * A write meets the newest row, at its new address; so its transaction still sees the row of the snapshot at the old one, which it
 * has not written: beside the row as it made it after an UPDATE, and in spite of a DELETE.
 *
 * All of it is asked for: a write that met rows, in the transaction that shows the finding; another transaction that had moved rows of that
 * table, and whose COMMIT fell between the BEGIN of the first and its write; and one row that the write, the move and the read can all have met.
 */
import { type Catalog, columnsUsed, type Table } from '../../rows/index.js';
import { sameName } from '../../sql/index.js';
import { passesTakenRows, type Shown, writesAfterOthers } from './known-causes.js';
import type { RowWrite } from './row-writes.js';

/** The columns that say where an engine keeps a row of a table; none: it stays where it is, whatever is assigned. */
export type AddressColumns = (table: Table) => readonly string[];

/** TiDB: the primary key, unless it is declared as NONCLUSTERED. */
export const tidbAddress: AddressColumns = (table) => {
  const primary = table.definition?.indexes.find((index) => index.primary);
  return /\bNONCLUSTERED\b/i.test(primary?.tail ?? '') ? [] : primaryKey(table);
};

/** InnoDB: the primary key, else the first unique key without a column that may be NULL. */
export const innodbAddress: AddressColumns = ({ definition, shape }) => {
  const indexes = definition?.indexes ?? [];
  const isNotNull = (name: string) => shape.columns.some((column) => column.name === name && column.notNull);
  const first =
    indexes.find(({ primary }) => primary) ??
    indexes.find((index) => index.unique && columnsUsed(index).every(isNotNull));
  return first === undefined ? [] : columnsUsed(first);
};

/** H2: the primary key. */
export const primaryKey: AddressColumns = ({ definition }) => {
  const primary = definition?.indexes.find((index) => index.primary);
  return primary === undefined ? [] : columnsUsed(primary);
};

/** A write, and another transaction that moved a row which the write can have met, and committed before the write was answered. */
export function waitsForMovedRow(addressOf: AddressColumns): (shown: Shown) => boolean {
  return (shown) => passesTakenRows(shown, (other) => isMove(other, addressOf, shown.catalog));
}

export function writesMovedRows(addressOf: AddressColumns): (shown: Shown) => boolean {
  return (shown) =>
    writesAfterOthers(
      shown,
      () => true,
      (other) => isMove(other, addressOf, shown.catalog),
    );
}

function isMove(
  { operation, table, set }: RowWrite,
  addressOf: AddressColumns,
  { dialect }: Catalog,
): boolean {
  if (operation.changed === 0) return false;
  const address = addressOf(table);
  return set.some(({ columns, value }) =>
    columns.some(
      (column) =>
        address.some((part) => sameName(part, column, dialect)) &&
        !(value.type === 'column' && sameName(value.name, column, dialect)),
    ),
  );
}
