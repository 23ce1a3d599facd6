/**
 * Which tables can carry the marks: those the set-up creates once, with a definition we understand, and that no
 * statement we do not understand touches. Widening a table that an unknown statement reads or writes could change
 * what that statement does (`INSERT INTO t VALUES (1, 2)` no longer fits), so such tables stay as they are, and
 * dependencies through them are not seen.
 */
import {
  type Definition,
  definitionOf,
  resolvesConflicts,
  tablesSharingRows,
  type UniqueKeys,
  uniqueKeysOf,
} from '../../rows/index.js';
import {
  type ColumnDefinition,
  type CreateTableStatement,
  type Dialect,
  nameKey,
  type Statement,
} from '../../sql/index.js';
import type { EngineWords } from './engine-words.js';
import { listColumn, readsColumn, ridColumn } from './marks.js';
import { leavesOf, walk } from './tree.js';

export interface CatalogTable extends Definition {
  readonly name: string;
  /** What `*` means for the author of the case. */
  readonly columns: readonly string[];
  /** The columns of an INSERT without a list. */
  readonly insertable: readonly string[];
  /** Positions of the columns of primary key and unique constraints, for REPLACE; undefined: not all are known. */
  readonly keys: UniqueKeys;
  /** Foreign keys with actions: rows may change or go without a statement that says so. */
  readonly actions: boolean;
  /** Its writers note what they read (`readsColumn`). */
  readonly notes: boolean;
}

export interface Catalog {
  readonly dialect: Dialect;
  /** What the engine has and its dialect may not, or the other way round. */
  readonly words: EngineWords;
  readonly tables: ReadonlyMap<string, CatalogTable>;
}

export function findTable(catalog: Catalog, name: string): CatalogTable | undefined {
  return catalog.tables.get(nameKey(name, catalog.dialect));
}

export interface CatalogSource {
  readonly dialect: Dialect;
  readonly words: EngineWords;
  readonly setup: readonly Statement[];
  readonly sessions: readonly Statement[];
  /** Tables that must stay as they are. */
  readonly excluded: ReadonlySet<string>;
  /** Writers note what they read. */
  readonly notes: boolean;
}

/** Tables that set-up statements create, without those that must stay as they are. */
export function buildCatalog({ dialect, words, setup, sessions, excluded, notes }: CatalogSource): Catalog {
  const tables = new Map<string, CatalogTable>();
  const seen = new Set<string>();
  const refused = new Set([...excluded, ...tablesSharingRows([...setup, ...sessions], dialect)]);
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
  return { dialect, words, tables };
}

function canCarry(statement: CreateTableStatement): boolean {
  return (
    !statement.temporary &&
    statement.as === undefined &&
    !resolvesConflicts(statement) &&
    statement.columns.length > 0 &&
    statement.columns.every(({ name }) => !/^(isolde_|like$)/i.test(name))
  );
}

function readTable(
  create: CreateTableStatement,
  setup: readonly Statement[],
  dialect: Dialect,
): Omit<CatalogTable, 'notes'> {
  const definition = definitionOf(create, setup, dialect);
  const { columns } = definition.shape;
  return {
    ...definition,
    name: create.name,
    columns: columns.map(({ name }) => name),
    insertable: columns
      .filter(({ generated }) => dialect !== 'sqlite' || generated === undefined)
      .map(({ name }) => name),
    keys: uniqueKeysOf(definition, setup, dialect),
    actions: definition.foreignKeys.some(({ references }) => references.actions !== undefined),
  };
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

/** CREATE TABLE with the columns for marks at its end, of the type that is given or of the dialect's. */
export function widenTable(
  statement: CreateTableStatement,
  { notes }: CatalogTable,
  { dialect, textType }: { readonly dialect: Dialect; readonly textType?: string | undefined },
): CreateTableStatement {
  const add = (name: string, usual = 'TEXT'): ColumnDefinition => ({
    name,
    columnType: textType ?? usual,
    constraints: [],
  });
  // MySQL's TEXT ends at 64 KB, and many statements may leave notes in one row.
  const reads = notes ? [add(readsColumn, dialect === 'mysql' ? 'LONGTEXT' : 'TEXT')] : [];
  return { ...statement, columns: [...statement.columns, add(ridColumn), add(listColumn), ...reads] };
}
