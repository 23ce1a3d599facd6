/**
 * Which rows does a condition name? Constants that columns must equal for the condition to hold: `id = 3`, `3 = id`,
 * `id IN (1, 2)`, either AND anything, and OR where both sides name the same column.
 *
 * Two questions, two answers. `columnConstants` tells what the text says, whatever the columns are: enough to guess that two
 * statements meet. `namedKeys` tells the rows of a table by their names, and only where equality of constants is equality of
 * names for certain: integers in integer columns, texts where no collation takes two of them for one.
 */
import {
  type Arithmetic,
  type Dialect,
  type Expression,
  nameKey,
  type Statement,
  sqlType,
  type Value,
} from '../sql/index.js';
import { cellKey, joinKey } from './row-key.js';
import type { Table } from './table.js';

/** For each column, by its key, the constants of which it must equal one. An empty list: the condition never holds. */
export type ColumnConstants = ReadonlyMap<string, readonly Value[]>;

const none: ColumnConstants = new Map();

/** The constants a condition demands. `qualifiers`: tables or aliases whose columns count; absent: any. */
export function columnConstants(
  where: Expression | undefined,
  dialect: Dialect,
  qualifiers?: readonly string[],
): ColumnConstants {
  if (where === undefined) return none;
  if (where.type === 'binary' && (where.op === 'AND' || where.op === 'OR')) {
    const left = columnConstants(where.left, dialect, qualifiers);
    const right = columnConstants(where.right, dialect, qualifiers);
    return where.op === 'AND' ? both(left, right) : either(left, right);
  }
  const keys = qualifiers?.map((name) => nameKey(name, dialect));
  const demand = (column: Expression, values: readonly Expression[]): ColumnConstants | undefined => {
    if (column.type !== 'column' || column.schema !== undefined) return undefined;
    if (column.table !== undefined && keys?.includes(nameKey(column.table, dialect)) === false)
      return undefined;
    const constants: Value[] = [];
    for (const value of values) {
      if (value.type !== 'literal') return undefined;
      // Nothing equals NULL.
      if (value.value !== null) constants.push(value.value);
    }
    return new Map([[nameKey(column.name, dialect), constants]]);
  };
  if (where.type === 'binary' && where.op === '=')
    return demand(where.left, [where.right]) ?? demand(where.right, [where.left]) ?? none;
  if (where.type === 'in-list' && !where.negated) return demand(where.operand, where.list) ?? none;
  return none;
}

/** Both demands. Two lists for one column are cut to what is in both where that is certain; either list alone is true, too. */
function both(left: ColumnConstants, right: ColumnConstants): ColumnConstants {
  if (left.size === 0) return right;
  if (right.size === 0) return left;
  const merged = new Map(left);
  for (const [column, values] of right) {
    const known = merged.get(column);
    if (known === undefined) merged.set(column, values);
    else if ([...known, ...values].every((value) => Number.isInteger(value)))
      merged.set(
        column,
        known.filter((value) => values.includes(value)),
      );
  }
  return merged;
}

function either(left: ColumnConstants, right: ColumnConstants): ColumnConstants {
  const merged = new Map<string, readonly Value[]>();
  for (const [column, values] of left) {
    const others = right.get(column);
    if (others !== undefined) merged.set(column, [...values, ...others]);
  }
  return merged;
}

/** The condition by which a statement on one table chooses rows; undefined: it has none, or is another kind of statement. */
export function conditionOf(statement: Statement): Expression | undefined {
  if (statement.type === 'update' || statement.type === 'delete') return statement.where;
  return statement.type === 'select' && statement.body.type === 'core' ? statement.body.where : undefined;
}

/** Composite keys whose columns are each given by a list name the product of the lists, up to here. */
const mostKeys = 1000;

/** The only rows a condition can concern, by name; undefined: it may concern any. */
export function namedKeys(
  where: Expression | undefined,
  table: Table,
  engine: Partial<Arithmetic> & Pick<Arithmetic, 'dialect'>,
  qualifiers?: readonly string[],
): readonly string[] | undefined {
  const { dialect } = engine;
  const { identity, shape } = table;
  if (where === undefined || identity.length === 0 || shape === undefined) return undefined;
  const constants = columnConstants(where, dialect, qualifiers);
  if (constants.size === 0) return undefined;
  let keys: string[][] = [[]];
  for (const at of identity) {
    const { name, type } = shape.columns[at]!;
    const parts = constants.get(nameKey(name, dialect))?.map((value) => partOfKey(value, type, engine));
    if (parts === undefined || parts.includes(undefined)) return undefined;
    const distinct = [...new Set(parts as string[])];
    if (keys.length * distinct.length > mostKeys) return undefined;
    keys = keys.flatMap((start) => distinct.map((part) => [...start, part]));
  }
  return keys.map(joinKey);
}

/** A constant as the name of the one row whose column equals it; undefined: other values may equal it, too. */
function partOfKey(
  value: Value,
  type: string | undefined,
  { dialect, borrowed = false }: Partial<Arithmetic> & Pick<Arithmetic, 'dialect'>,
): string | undefined {
  const { family } = sqlType(type, dialect);
  if (family === 'int') return Number.isInteger(value) ? cellKey(value) : undefined;
  const exact = (dialect === 'postgres' && !borrowed) || dialect === 'duckdb';
  return family === 'text' && exact && typeof value === 'string' && type !== undefined
    ? cellKey(value)
    : undefined;
}
