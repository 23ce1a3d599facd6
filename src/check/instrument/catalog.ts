/**
 * Which tables can carry the marks: those the set-up creates once, with a definition we understand, and that no
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
import { listColumn, readsColumn, ridColumn } from './marks.js';
import { leavesOf, walk } from './tree.js';

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
  /** Its writers note what they read (`readsColumn`). */
  readonly notes: boolean;
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

export interface CatalogSource {
  readonly dialect: Dialect;
  readonly setup: readonly Statement[];
  readonly sessions: readonly Statement[];
  /** Tables that must stay as they are. */
  readonly excluded: ReadonlySet<string>;
  /** Writers note what they read. */
  readonly notes: boolean;
}

/** Tables that set-up statements create, without those that must stay as they are. */
export function buildCatalog({ dialect, setup, sessions, excluded, notes }: CatalogSource): Catalog {
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
  const noting = notes ? sessions.flatMap(notedTables) : [];
  const noted = new Set(noting.map((name) => nameKey(name, dialect)));
  for (const statement of setup) {
    if (statement.type !== 'create-table') continue;
    const key = nameKey(statement.name, dialect);
    if (seen.has(key)) refused.add(key);
    seen.add(key);
    if (refused.has(key) || !canCarry(statement)) tables.delete(key);
    else tables.set(key, { ...readTable(statement, setup, dialect), notes: noted.has(key) });
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
): Omit<CatalogTable, 'notes'> {
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

/** The tables whose rows a statement gives new values that may depend on other rows. */
function notedTables(statement: Statement): string[] {
  let reads = false;
  walk(statement, (node) => {
    if (node.type === 'select') reads = true;
  });
  switch (statement.type) {
    case 'insert':
      return reads ? [statement.table.name] : [];
    case 'merge':
      return [statement.table.name];
    case 'update': {
      const leaves = leavesOf([statement.table, ...(statement.moreTables ?? [])]);
      if (!reads && leaves.length === 1 && statement.from.length === 0) return [];
      return leaves.flatMap((leaf) => (leaf.type === 'table' ? [leaf.name] : []));
    }
    default:
      return [];
  }
}

/** CREATE TABLE with the columns for marks at its end. */
export function widenTable(
  statement: CreateTableStatement,
  { notes }: CatalogTable,
  dialect: Dialect,
): CreateTableStatement {
  const add = (name: string, columnType: string): ColumnDefinition => ({ name, columnType, constraints: [] });
  // MySQL's TEXT ends at 64 KB, and many statements may leave notes in one row.
  const reads = notes ? [add(readsColumn, dialect === 'mysql' ? 'LONGTEXT' : 'TEXT')] : [];
  return {
    ...statement,
    columns: [...statement.columns, add(ridColumn, 'TEXT'), add(listColumn, 'TEXT'), ...reads],
  };
}
