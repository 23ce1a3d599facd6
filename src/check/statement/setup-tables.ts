/**
 * What the set-up says of its tables, as far as it decides whether statements can change places: values the database makes up,
 * numbers whose sum depends on the order, keys, and who refers to whom.
 */
import {
  type ColumnInfo,
  type CreateTableStatement,
  type Dialect,
  parseStatement,
  tableShape,
} from '../../sql/index.js';
import { nameKey } from '../instrument/catalog.js';
import { isSteady } from '../instrument/functions.js';
import { walk } from '../instrument/tree.js';

export interface SetupTable {
  readonly name: string;
  readonly columns: readonly string[];
  readonly types: readonly ColumnInfo[];
  /** Columns the database fills by itself, in the order in which rows come. */
  readonly auto: readonly string[];
  readonly floats: ReadonlySet<string>;
  /** Columns of primary keys and unique constraints. */
  readonly keyColumns: ReadonlySet<string>;
  readonly keys: readonly (readonly string[])[];
  /** Tables its foreign keys refer to. */
  readonly parents: readonly string[];
  /** A default that is not the same each time. */
  readonly unsteadyDefault: boolean;
}

export interface Setup {
  readonly tables: ReadonlyMap<string, SetupTable>;
  /** Why no statement of such a case can change places. */
  readonly refused?: string;
}

const harmless = /^\s*(SET|ANALYZE|VACUUM|CHECKPOINT|CREATE\s+SCHEMA|PRAGMA)\b/i;

export function readSetup(setup: readonly string[], dialect: Dialect): Setup {
  const tables = new Map<string, SetupTable>();
  const parsed = setup.map((sql) => ({ sql, statement: parseStatement(sql, dialect) }));
  let refused: string | undefined;
  for (const { sql, statement } of parsed) {
    if (statement.type === 'opaque' && !harmless.test(sql)) refused = `the set-up says ${sql}`;
    if (statement.type !== 'create-table') continue;
    refused ??= problemOf(statement);
    tables.set(nameKey(statement.name, dialect), tableOf(statement, dialect));
  }
  for (const { statement } of parsed) {
    if (statement.type !== 'create-index' || !statement.unique) continue;
    const key = nameKey(statement.table.name, dialect);
    const table = tables.get(key);
    if (table !== undefined) tables.set(key, withKey(table, columnsIn(statement.columns, dialect)));
  }
  return { tables, ...(refused !== undefined && { refused }) };
}

function problemOf({ name, columns, constraints, options = '' }: CreateTableStatement): string | undefined {
  const text = JSON.stringify([columns, constraints]);
  // Rows would change without a mark, or constraints be looked at when nobody sees it.
  if (text.includes('"actions"')) return `the foreign keys of ${name} act on other rows`;
  if (/deferrable/i.test(text)) return `constraints of ${name} may be checked later`;
  if (/\bengine\b/i.test(options) && !/\binnodb\b/i.test(options))
    return `${name} is kept by another storage engine`;
  return undefined;
}

const floatType = /\b(REAL|FLOAT\d*|DOUBLE)\b/i;

function tableOf(create: CreateTableStatement, dialect: Dialect): SetupTable {
  const { name, columns, constraints } = create;
  const shape = tableShape(create, dialect);
  const fold = (each: string) => nameKey(each, dialect);
  const parents: string[] = [];
  let table: SetupTable = {
    name,
    columns: columns.map((column) => fold(column.name)),
    types: shape.columns,
    auto: shape.columns.filter(({ automatic }) => automatic).map((column) => fold(column.name)),
    floats: new Set(
      columns.filter(({ columnType = '' }) => floatType.test(columnType)).map((column) => fold(column.name)),
    ),
    keyColumns: new Set(),
    keys: [],
    parents,
    unsteadyDefault: columns.some((column) =>
      column.constraints.some((each) => each.type === 'default-value' && !isSteady(each.value)),
    ),
  };
  for (const column of columns) {
    for (const each of column.constraints) {
      if (each.type === 'primary-key' || each.type === 'unique') table = withKey(table, [fold(column.name)]);
      if (each.type === 'references') parents.push(fold(each.references.table));
    }
  }
  for (const each of constraints) {
    if (each.type === 'primary-key' || each.type === 'unique')
      table = withKey(table, columnsIn(each.columns, dialect));
    if (each.type === 'foreign-key') parents.push(fold(each.references.table));
  }
  return table;
}

/** The columns a key is made of; of a key over an expression those the expression names. */
function columnsIn(expressions: unknown, dialect: Dialect): string[] {
  const found: string[] = [];
  walk(expressions, (node) => {
    if (node.type === 'column') found.push(nameKey(String(node.name), dialect));
  });
  return found;
}

function withKey(table: SetupTable, key: readonly string[]): SetupTable {
  return { ...table, keys: [...table.keys, key], keyColumns: new Set([...table.keyColumns, ...key]) };
}
