/** What the recorder of a trace tells of rows: objects `table/row`, and their values by column. */

import type { Access } from '../histories/index.js';
import type { Evaluated, Value } from '../sql/index.js';
import { nameKey } from '../sql/index.js';
import type { Catalog } from './catalog.js';
import { unknownCell } from './image.js';
import type { Table } from './table.js';

export type RowValues = Readonly<Record<string, Value>>;

const tagged = /^(int|decimal|double|bytes|date|time|timestamp|other)$/;

/** The values of a row in an access, by column; undefined: the access does not tell them. */
export function valuesOf({ value }: Pick<Access, 'value'>): RowValues | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const keys = Object.keys(value);
  // A tagged value is an object with one tag of its own.
  return keys.length === 1 && tagged.test(keys[0]!) ? undefined : (value as RowValues);
}

/** Splits `table/row`. */
export function splitObject(object: string): readonly [table: string, key: string] {
  const at = object.indexOf('/');
  return at < 0 ? ['', object] : [object.slice(0, at), object.slice(at + 1)];
}

/** The values of a row in the order of its table's columns. */
export function recordedCells(table: Table, values: RowValues, dialect: Catalog['dialect']): Evaluated[] {
  const cells: Evaluated[] = table.shape.columns.map(() => unknownCell);
  for (const name in values) {
    const key = nameKey(name, dialect);
    const at = table.shape.columns.findIndex((column) => nameKey(column.name, dialect) === key);
    if (at >= 0) cells[at] = values[name]!;
  }
  return cells;
}
