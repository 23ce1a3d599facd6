/**
 * Which existing rows can keep a new row out: those that agree with it in all columns of some unique key. Only what
 * certainly differs is ruled out; texts under a collation, numbers with fractions and the like may be equal.
 */
import {
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

/** The keys of a table. */
export function uniqueKeysOf(
  { shape, indexes }: Definition,
  statements: readonly Statement[],
  dialect: Dialect,
): UniqueKeys {
  const keys: number[][] = [];
  for (const index of indexes) {
    if (!index.unique) continue;
    const columns = wholeColumns(index)?.map((name) => columnOf(name, shape, dialect));
    // Rows outside a partial index are in nobody's way.
    if (columns === undefined || columns.includes(-1) || index.where !== undefined) return undefined;
    keys.push(columns);
  }
  const mayAddKeys = (statement: Statement) =>
    statement.type === 'opaque' && /\b(unique|primary|nulls\s+not)\b/i.test(statement.sql);
  return statements.some(mayAddKeys) ? undefined : keys;
}

function columnOf(name: string, shape: TableShape, dialect: Dialect): number {
  return shape.columns.findIndex((column) => sameName(column.name, name, dialect));
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

/** Equality of two cells of a column, as a unique key sees it: NULL equals nothing. */
function equal(a: Evaluated, b: Evaluated, type: string | undefined, dialect: Dialect): boolean | undefined {
  if (a === null || b === null) return false;
  if (isUndecidable(a) || isUndecidable(b)) return undefined;
  const { family } = sqlType(type, dialect);
  if (family === 'int' && Number.isInteger(a) && Number.isInteger(b)) return a === b;
  if (family === 'text' && typeof a === 'string' && typeof b === 'string') {
    if (a === b) return true;
    return dialect === 'postgres' || dialect === 'duckdb' ? false : foldsApart(a, b);
  }
  return undefined;
}

/** Texts that no usual collation takes for one. */
function foldsApart(a: string, b: string): false | undefined {
  const plain = /^[\x21-\x7e]*$/;
  return plain.test(a) && plain.test(b) && a.toLowerCase() !== b.toLowerCase() ? false : undefined;
}

/** Keys by which InnoDB may tell records apart, where rows are named by something else: the primary one, or any other. */
export function recordKeys(
  { shape, identity, uniqueKeys }: Table,
  dialect: Dialect,
): readonly (readonly number[])[] {
  const primary = shape.keys
    .find((key) => key.primary)
    ?.columns.map((name) => columnOf(name, shape, dialect));
  const keys = primary === undefined ? (uniqueKeys ?? []) : [primary];
  return keys.filter((key) => key.join() !== identity.join());
}
