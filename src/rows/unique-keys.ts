/**
 * Which existing rows can keep a new row out: those that agree with it in all columns of some unique key. Only what
 * certainly differs is ruled out; texts under a collation, numbers with fractions and the like may be equal.
 */
import {
  type Assignment,
  columnOf,
  type Dialect,
  type Evaluated,
  type EvaluatedRow,
  isUndecidable,
  type Statement,
  sameName,
  sqlType,
  type TableShape,
} from '../sql/index.js';

import { type Definition, wholeColumns } from './schema.js';
import type { Table, UniqueKeys } from './table.js';

/** The keys of a table; undefined: not all of them are known. EXCLUDE keeps rows out as a key does. */
export function uniqueKeysOf(
  { shape, indexes, create }: Definition,
  statements: readonly Statement[],
  dialect: Dialect,
): UniqueKeys {
  const keys: number[][] = [];
  for (const index of indexes) {
    if (!index.unique) continue;
    const columns = wholeColumns(index)?.map((name) => columnOf(shape.columns, name, dialect));
    // Rows outside a partial index are in nobody's way.
    if (columns === undefined || columns.includes(-1) || index.where !== undefined) return undefined;
    // Then NULL equals NULL, and a row with it may be in the way of another one.
    if (/\bnulls\s+not\b/i.test(index.tail ?? '')) return undefined;
    keys.push(columns);
  }
  if (create.constraints.some((each) => each.type === 'other' && !/^\s*(fulltext|spatial)\b/i.test(each.sql)))
    return undefined;
  const mayAddKeys = (statement: Statement) =>
    statement.type === 'opaque' && /\b(unique|primary|exclude|nulls\s+not)\b/i.test(statement.sql);
  return statements.some(mayAddKeys) ? undefined : keys;
}

/**
 * Whether an UPDATE of these columns may change one of a key. A computed one follows whatever it is computed from, and a column that the
 * table does not list (SQLite's `rowid`) may be any.
 */
export function changesKey(
  set: readonly Assignment[],
  key: readonly number[],
  { shape, dialect }: { readonly shape: TableShape; readonly dialect: Dialect },
): boolean {
  const unlisted = ({ columns }: Assignment) =>
    columns.some((name) => columnOf(shape.columns, name, dialect) < 0);
  if (set.some(unlisted)) return true;
  return key.some((at) => {
    const { name, generated } = shape.columns[at]!;
    if (generated !== undefined && set.length > 0) return true;
    return set.some(({ columns }) => columns.some((each) => sameName(each, name, dialect)));
  });
}

/** Whether two rows agree in some unique key; undefined: perhaps. */
export function sharesKey(
  a: EvaluatedRow,
  b: EvaluatedRow,
  keys: readonly (readonly number[])[],
  { shape, dialect }: { readonly shape: TableShape; readonly dialect: Dialect },
): boolean | undefined {
  let perhaps = false;
  for (const key of keys) {
    const same = key.map((at) => equal(a[at]!, b[at]!, shape.columns[at]!.type, dialect));
    if (same.includes(false)) continue;
    if (!same.includes(undefined)) return true;
    perhaps = true;
  }
  return perhaps ? undefined : false;
}

/** Positions of the columns of a key. */
export type KeyColumns = readonly number[];

/**
 * A text by which rows are found that may agree in a key: those that `sharesKey` does not keep apart have the same one. null: with NULL in
 * it, a row agrees with none; undefined: it may agree with rows of any text.
 */
export function keyText(
  row: EvaluatedRow,
  key: KeyColumns,
  { shape, dialect }: { readonly shape: TableShape; readonly dialect: Dialect },
): string | null | undefined {
  const families = key.map((at) => sqlType(shape.columns[at]!.type, dialect).family);
  // Numbers tell more than texts, which collations may take for one; other types tell nothing.
  const telling = families.includes('int') ? 'int' : 'text';
  const parts: (string | undefined)[] = [];
  for (const [i, at] of key.entries()) {
    const cell = row[at]!;
    if (cell === null) return null;
    if (families[i] === telling) parts.push(telling === 'int' ? wholeText(cell) : foldedText(cell, dialect));
  }
  return parts.includes(undefined) ? undefined : JSON.stringify(parts);
}

function wholeText(cell: Evaluated): string | undefined {
  return Number.isInteger(cell) ? String(cell) : undefined;
}

function foldedText(cell: Evaluated, dialect: Dialect): string | undefined {
  if (typeof cell !== 'string') return undefined;
  if (comparesBytes(dialect)) return cell;
  return plain.test(cell) ? cell.toLowerCase() : undefined;
}

/** Equality of two cells of a column, as a unique key sees it: NULL equals nothing. */
function equal(a: Evaluated, b: Evaluated, type: string | undefined, dialect: Dialect): boolean | undefined {
  if (a === null || b === null) return false;
  if (isUndecidable(a) || isUndecidable(b)) return undefined;
  const { family } = sqlType(type, dialect);
  if (family === 'int' && Number.isInteger(a) && Number.isInteger(b)) return a === b;
  if (family === 'text' && typeof a === 'string' && typeof b === 'string') {
    if (a === b) return true;
    return comparesBytes(dialect) ? false : foldsApart(a, b);
  }
  return undefined;
}

function comparesBytes(dialect: Dialect): boolean {
  return dialect === 'postgres' || dialect === 'duckdb';
}

/** Texts whose equality is the same under all usual collations, but for capitals. */
const plain = /^[\x21-\x7e]*$/;

/** Texts that no usual collation takes for one. */
function foldsApart(a: string, b: string): false | undefined {
  return plain.test(a) && plain.test(b) && a.toLowerCase() !== b.toLowerCase() ? false : undefined;
}

/** Keys by which InnoDB may tell records apart, where rows are named by something else: the primary one, or any other; undefined: not known. */
export function recordKeys(
  { shape, identity, uniqueKeys }: Table,
  dialect: Dialect,
): readonly (readonly number[])[] | undefined {
  const primary = shape.keys
    .find((key) => key.primary)
    ?.columns.map((name) => columnOf(shape.columns, name, dialect));
  const keys = primary === undefined ? uniqueKeys : [primary];
  return keys?.filter((key) => key.join() !== identity.join());
}
