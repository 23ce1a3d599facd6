/**
 * Which tables can carry the two columns: those the set-up creates once, with a definition we understand, and that no
 * statement we do not understand touches. Widening a table that an unknown statement reads or writes could change
 * what that statement does (`INSERT INTO t VALUES (1, 2)` no longer fits), so such tables stay as they are, and
 * dependencies through them are not seen.
 */
import type {
  ColumnDefinition,
  CreateTableStatement,
  Dialect,
  Expression,
  Statement,
  TableConstraint,
} from '../../sql/index.js';
import { listColumn, ridColumn } from './marks.js';

export interface CatalogTable {
  readonly name: string;
  /** What `*` means for the author of the case. */
  readonly columns: readonly string[];
  /** The columns of an INSERT without a list. */
  readonly insertable: readonly string[];
  /** Primary key and unique constraints, for REPLACE. */
  readonly keys: readonly (readonly string[])[];
  /** Defaults that are constants, by column. */
  readonly defaults: Readonly<Record<string, Expression>>;
  /** Foreign keys with actions: rows may change or go without a statement that says so. */
  readonly actions: boolean;
}

export interface Catalog {
  readonly dialect: Dialect;
  readonly tables: ReadonlyMap<string, CatalogTable>;
}

/** PostgreSQL's parser has folded names already; the others compare without case. */
export function nameKey(name: string, dialect: Dialect): string {
  return dialect === 'postgres' ? name : name.toLowerCase();
}

export function findTable(catalog: Catalog, name: string): CatalogTable | undefined {
  return catalog.tables.get(nameKey(name, catalog.dialect));
}

/** Tables that set-up statements create, without those that must stay as they are. */
export function buildCatalog(
  setup: readonly Statement[],
  sessions: readonly Statement[],
  excluded: ReadonlySet<string>,
  dialect: Dialect,
): Catalog {
  const tables = new Map<string, CatalogTable>();
  const seen = new Set<string>();
  const refused = new Set(excluded);
  for (const statement of sessions) {
    if (statement.type === 'create-table') refused.add(nameKey(statement.name, dialect));
  }
  for (const statement of [...setup, ...sessions]) {
    if (statement.type !== 'drop' || statement.what !== 'TABLE') continue;
    for (const { name } of statement.names) refused.add(nameKey(name, dialect));
  }
  for (const statement of setup) {
    if (statement.type !== 'create-table') continue;
    const key = nameKey(statement.name, dialect);
    if (seen.has(key)) refused.add(key);
    seen.add(key);
    if (refused.has(key) || !canCarry(statement)) tables.delete(key);
    else tables.set(key, readTable(statement, setup, dialect));
  }
  for (const key of refused) tables.delete(key);
  return { dialect, tables };
}

function canCarry(statement: CreateTableStatement): boolean {
  return (
    !statement.temporary &&
    statement.as === undefined &&
    statement.columns.length > 0 &&
    statement.columns.every(({ name }) => !name.toLowerCase().startsWith('isolde_'))
  );
}

function readTable(
  statement: CreateTableStatement,
  setup: readonly Statement[],
  dialect: Dialect,
): CatalogTable {
  const columns = statement.columns.map(({ name }) => name);
  const isGenerated = (column: ColumnDefinition) =>
    column.constraints.some(({ type }) => type === 'generated');
  const insertable = statement.columns
    .filter((column) => dialect !== 'sqlite' || !isGenerated(column))
    .map(({ name }) => name);
  const defaults: Record<string, Expression> = {};
  for (const { name, constraints } of statement.columns) {
    for (const constraint of constraints) {
      if (constraint.type === 'default-value' && constraint.value.type === 'literal') {
        defaults[nameKey(name, dialect)] = constraint.value;
      }
    }
  }
  return {
    name: statement.name,
    columns,
    insertable,
    keys: keysOf(statement, setup, dialect),
    defaults,
    actions: JSON.stringify(statement).includes('"actions"'),
  };
}

function keysOf(statement: CreateTableStatement, setup: readonly Statement[], dialect: Dialect): string[][] {
  const keys: string[][] = [];
  for (const { name, constraints } of statement.columns) {
    if (constraints.some(({ type }) => type === 'primary-key' || type === 'unique')) keys.push([name]);
  }
  const add = (columns: readonly { readonly expression: Expression }[]) => {
    const names = columns.flatMap(({ expression }) =>
      expression.type === 'column' ? [expression.name] : [],
    );
    if (names.length === columns.length) keys.push(names);
  };
  for (const constraint of statement.constraints) if (isKey(constraint)) add(constraint.columns);
  for (const index of setup) {
    if (index.type !== 'create-index' || !index.unique || index.where !== undefined) continue;
    if (nameKey(index.table.name, dialect) === nameKey(statement.name, dialect)) add(index.columns);
  }
  return keys;
}

function isKey(
  constraint: TableConstraint,
): constraint is Extract<TableConstraint, { readonly type: 'primary-key' | 'unique' | 'index' }> {
  return constraint.type === 'primary-key' || constraint.type === 'unique';
}

/** CREATE TABLE with the two columns at its end. */
export function widenTable(statement: CreateTableStatement): CreateTableStatement {
  const extra = [ridColumn, listColumn].map(
    (name): ColumnDefinition => ({ name, columnType: 'TEXT', constraints: [] }),
  );
  return { ...statement, columns: [...statement.columns, ...extra] };
}
