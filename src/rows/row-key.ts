/** Names of rows: the values of the columns that identify a row, as text. */
import { type Evaluated, isUndecidable, showValue } from '../sql/index.js';

/** A row's cell as part of its name: `1` and `'1'` name the same row, for traces write every value as text. NULL names nothing. */
export function cellKey(cell: Evaluated | undefined): string | undefined {
  if (typeof cell === 'number') return String(cell);
  if (cell === undefined || cell === null || isUndecidable(cell)) return undefined;
  return showValue(cell);
}

/** The name of a row with these cells; undefined: some of them are not known, or there are none. */
export function rowKey(
  cells: readonly (Evaluated | undefined)[],
  columns: readonly number[],
): string | undefined {
  if (columns.length === 0) return undefined;
  if (columns.length === 1) return cellKey(cells[columns[0]!]);
  const parts: string[] = [];
  for (const at of columns) {
    const part = cellKey(cells[at]);
    if (part === undefined) return undefined;
    parts.push(part);
  }
  return joinKey(parts);
}

/** One name of several cells; a comma inside a cell is marked, so that no two rows share a name. */
export function joinKey(parts: readonly string[]): string {
  if (parts.length === 1) return parts[0]!;
  return parts.map((part) => part.replaceAll(/[\\,]/g, '\\$&')).join(',');
}
