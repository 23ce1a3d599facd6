/**
 * The tables of a program or a history: their shapes from the set-up's CREATE TABLE and from those of sessions, what names
 * their rows (`identity.ts`), and the rows they start with (`initial-rows.ts`).
 *
 * A table that a session creates has no rows before, and nobody can read it without an error: it is taken to be there, empty,
 * from the beginning. That holds while it is created in one way only; a table that is created in two ways, or only for a
 * session (TEMPORARY), is not followed.
 */
import type { History } from '../histories/index.js';
import {
  applyInsert,
  arithmeticOf,
  type CreateTableStatement,
  columnOf,
  type Dialect,
  type EvaluatedRow,
  foldName,
  isUndecidable,
  parseStatement,
  type Statement,
  sameName,
  shapeParserOf,
  sqlType,
  statementFeatures,
  type TableShape,
  unquoteName,
} from '../sql/index.js';
import { AssignedColumns, type SentStatement } from './assigned-columns.js';
import { identityOf } from './identity.js';
import { evaluateSetup, observedRows } from './initial-rows.js';
import { doubtfulNames } from './quoted-names.js';
import { rowKey } from './row-key.js';
import { definitionOf, firstColumn, resolvesConflicts } from './schema.js';
import { sharesRows, tablesSharingRows } from './shared-rows.js';
import { IdentityEnded, identityText, type Table } from './table.js';
import { TableMap } from './table-map.js';
import { uniqueKeysOf } from './unique-keys.js';

export interface CatalogSource {
  readonly dialect: Dialect;
  /** The engine only speaks the dialect. */
  readonly borrowed?: boolean;
  readonly assignsAtOnce?: boolean | undefined;
  readonly setup: readonly string[];
  /** What sessions send: it may assign columns, and create tables. */
  readonly statements: readonly SentStatement[];
  /** Rows that somebody read before everything else, by table. */
  readonly observed?: (find: Catalog['find']) => ReadonlyMap<string, readonly EvaluatedRow[]>;
}

export interface CatalogOptions {
  /** The column that names a table's rows, by table, where the caller knows. */
  readonly identity?: Readonly<Record<string, string>> | undefined;
  /** Identities that turned out not to be any (`identityText`). */
  readonly refused?: ReadonlySet<string>;
}

export interface Catalog {
  readonly dialect: Dialect;
  /** The engine only speaks the dialect: how it compares, orders and divides is its own. */
  readonly borrowed: boolean;
  /** As `Arithmetic` has it. */
  readonly assignsAtOnce?: boolean | undefined;
  readonly tables: readonly Table[];
  /** The table of that name; undefined: we do not know it. */
  readonly find: (name: string) => Table | undefined;
  /** A write to an unknown name may reach any table (views, triggers). */
  readonly unknownNamesReachTables: boolean;
}

/** Several oracles judge a run, one after another: they start from the same tables. */
const opened = new WeakMap<History, { readonly operations: number; readonly catalog: Catalog }>();

/** The tables of a history. */
export function catalogOf(history: History, options: CatalogOptions = {}): Catalog {
  if (options.identity !== undefined || (options.refused?.size ?? 0) > 0)
    return catalogOfHistory(history, options);
  const operations = history.operations.length;
  const known = opened.get(history);
  if (known?.operations === operations) return known.catalog;
  const catalog = catalogOfHistory(history, options);
  opened.set(history, { operations, catalog });
  return catalog;
}

function catalogOfHistory(history: History, options: CatalogOptions): Catalog {
  const { header, operations } = history;
  const dialect = header.dialect ?? 'postgres';
  const source: CatalogSource = {
    ...arithmeticOf(dialect, header.target?.name),
    setup: header.setup ?? [],
    statements: operations,
    observed: (find) => observedRows(history, find),
  };
  return openCatalog(source, options);
}

/** How often a table's rows may turn out to be named by nothing before we give up. */
const mostAttempts = 100;

/** Does work on the tables of a history; when rows turn out not to be named as thought, does it again without that. */
export function withCatalog<T>(history: History, options: CatalogOptions, work: (catalog: Catalog) => T): T {
  const refused = new Set(options.refused);
  for (let attempt = 0; ; attempt++) {
    try {
      return work(catalogOf(history, { ...options, refused }));
    } catch (error) {
      if (!(error instanceof IdentityEnded) || attempt >= mostAttempts) throw error;
      refused.add(identityText(error.table));
    }
  }
}

/**
 * The tables of a program that nobody follows while it runs: the rows its INSERTs put in are looked at beforehand, and an
 * identity that one of them ends is none.
 */
export function catalogOfProgram(source: CatalogSource, options: CatalogOptions = {}): Catalog {
  const refused = new Set(options.refused);
  for (;;) {
    const catalog = openCatalog(source, { ...options, refused });
    const ended = endedIdentity(catalog, source.statements);
    if (ended === undefined) return catalog;
    refused.add(identityText(ended));
  }
}

/** A table whose identity some INSERT ends, or may end. */
function endedIdentity(catalog: Catalog, statements: readonly SentStatement[]): Table | undefined {
  const { dialect, tables, find } = catalog;
  const shown = tables.filter(({ basis }) => basis === 'shown');
  if (shown.length === 0) return undefined;
  const keys = new Map(
    shown.map((table) => [table, new Set(table.initial!.map((row) => rowKey(row, table.identity)))]),
  );
  const parser = shapeParserOf(dialect);
  for (const { kind, sql, outcome } of statements) {
    if (sql === undefined || outcome === 'error' || !/^(insert|replace|merge|other)$/.test(kind)) continue;
    const { statement } = parser.parse(sql);
    const names = statement.type === 'insert' ? [statement.table] : statementFeatures(statement).writes;
    for (const { name } of names) {
      const table = find(name);
      const seen = table === undefined ? undefined : keys.get(table);
      if (table === undefined || seen === undefined) continue;
      const values = statement.type === 'insert' && statement.source.type === 'values';
      const rows = values ? applyInsert(statement, table.shape, { dialect }) : undefined;
      if (rows === undefined || isUndecidable(rows)) return table;
      for (const row of rows) {
        const key = rowKey(row, table.identity);
        if (key === undefined || seen.has(key)) return table;
        seen.add(key);
      }
    }
  }
  return undefined;
}

/** A table while it is being learned. */
type Draft = { -readonly [Key in keyof Table]: Table[Key] };

export function openCatalog(source: CatalogSource, options: CatalogOptions = {}): Catalog {
  const { dialect, statements } = source;
  const parser = shapeParserOf(dialect);
  const setup = source.setup.map((sql) => parser.parse(sql).statement);
  const sent = definitions(statements, dialect);
  const borrowed = source.borrowed ?? false;
  const drafts = new Drafts(dialect, borrowed);
  for (const create of setup)
    if (create.type === 'create-table' && !(create.ifNotExists && drafts.find(create.name) !== undefined))
      drafts.create(create, setup, sent);
  for (const create of sent) {
    if (create.type !== 'create-table' || create.schema !== undefined) continue;
    const known = drafts.find(create.name);
    if (known === undefined) {
      const draft = drafts.create(create, [], sent);
      draft.initial = [];
      draft.createdBy = createText(create);
    } else if (known.createdBy !== undefined && known.createdBy !== createText(create))
      known.unfollowed = 'sessions create it in different ways';
  }
  for (const key of tablesSharingRows([...setup, ...sent], dialect)) {
    const shared = drafts.find(key);
    if (shared !== undefined) shared.unfollowed = sharesRows;
  }
  for (const view of sent) {
    const hides = viewName(view, dialect);
    const hidden = hides === undefined ? undefined : drafts.find(hides);
    if (hidden !== undefined) hidden.unfollowed = 'a view has its name, too';
  }
  addMentioned(statements, drafts);
  const { tables, find } = drafts;
  const states = evaluateSetup(setup, { dialect, borrowed, assignsAtOnce: source.assignsAtOnce }, find);
  const observed = source.observed?.(find);
  const recorded = statements.some(({ accesses }) => accesses?.some(({ object }) => object.includes('/')));
  const assigned = new AssignedColumns(statements, dialect);
  // Most tables are named by these; asking for all of them at once reads the statements once.
  assigned.ask(tables.flatMap(({ shape }) => usualColumns(shape)));
  const hidden = [...setup, ...sent].some(mayHideWrites);
  const doubtful = borrowed
    ? doubtfulNames([...source.setup, ...statements.flatMap(({ sql }) => sql ?? [])])
    : new Set<string>();
  for (const table of tables) {
    if (isDoubtful(table, doubtful)) table.unfollowed ??= 'names in quotes may or may not be its own';
    table.initial ??= observed?.get(table.name) ?? states.get(table.name);
    table.unfollowed ??= (hidden ? hiddenWrites : undefined) ?? alteration(setup, table, find);
    const { identity, basis } = identityOf(table, {
      dialect,
      wanted: options.identity?.[table.shape.name] ?? options.identity?.[table.name],
      recorded,
      assigned: (column) =>
        assigned.has(table.shape.name, column) ||
        rowIds(table, dialect).some((id) => assigned.has(table.shape.name, id)),
      refused: options.refused ?? new Set(),
    });
    Object.assign(table, { identity, basis, indexed: isIndexed(table, identity, dialect) });
  }
  return {
    dialect,
    borrowed,
    assignsAtOnce: source.assignsAtOnce,
    tables,
    find,
    unknownNamesReachTables: [...setup, ...sent].some(
      (statement) => statement.type === 'opaque' && /^\s*create\b.*\bview\b/is.test(statement.sql),
    ),
  };
}

class Drafts {
  readonly tables: Draft[] = [];
  readonly #byName: TableMap<Draft>;

  constructor(
    private readonly dialect: Dialect,
    private readonly borrowed: boolean,
  ) {
    this.#byName = new TableMap(dialect);
  }

  find = (name: string): Draft | undefined => this.#byName.get(name);

  /** Enters a table, or what is now known of it. */
  enter(name: string, shape: TableShape, rest: Partial<Draft> = {}): Draft {
    const known = this.find(name);
    const draft: Draft = known ?? {
      number: this.tables.length,
      name,
      shape,
      identity: [],
      basis: 'none',
      indexed: false,
      uniqueKeys: undefined,
      initial: undefined,
      unfollowed: undefined,
      createdBy: undefined,
    };
    if (known === undefined) {
      draft.name = this.#byName.set(name, draft);
      this.tables.push(draft);
    }
    return Object.assign(draft, { shape, ...rest });
  }

  /** `before`: what defines indexes before anything runs; `later`: what may give it more unique keys. */
  create(create: CreateTableStatement, before: readonly Statement[], later: readonly Statement[]): Draft {
    const { dialect } = this;
    const all = [...before, ...later];
    const definition = definitionOf(create, before, dialect);
    const shape = this.borrowed ? withoutOwnScales(definition.shape, dialect) : definition.shape;
    const dropsPrimary = (each: Statement) => each.type === 'opaque' && /\bdrop\s+primary\b/i.test(each.sql);
    const keys = all.some(dropsPrimary) ? shape.keys.filter(({ primary }) => !primary) : shape.keys;
    return this.enter(
      create.name,
      { ...shape, keys },
      {
        definition,
        uniqueKeys: uniqueKeysOf(definitionOf(create, all, dialect), all, dialect),
        unfollowed: this.#hasTwin(create) ? sharesName : unfollowedReason(create),
      },
    );
  }

  /** Whether the table goes by the name of another one: MySQL's `T` and `t` are two tables on some servers, and one on others. */
  #hasTwin({ name }: CreateTableStatement): boolean {
    const other = this.find(name)?.definition?.create.name;
    return this.dialect === 'mysql' && other !== undefined && other !== name;
  }
}

/** How many digits a decimal has behind the point that declares none is the engine's own: its type is not known. */
function withoutOwnScales(shape: TableShape, dialect: Dialect): TableShape {
  const columns = shape.columns.map(({ type, ...rest }) => {
    const { family, scale } = sqlType(type, dialect);
    return family === 'decimal' && scale === undefined ? rest : { ...rest, type };
  });
  return { ...shape, columns };
}

function isDoubtful({ name, shape }: Table, doubtful: ReadonlySet<string>): boolean {
  if (doubtful.size === 0) return false;
  return [name, ...shape.columns.map((column) => column.name)].some((each) =>
    doubtful.has(each.toLowerCase()),
  );
}

/** Definitions in the middle of a history that took effect, or may have. */
function definitions(statements: readonly SentStatement[], dialect: Dialect): Statement[] {
  return statements.flatMap(({ kind, sql, outcome }) =>
    kind === 'ddl' &&
    sql !== undefined &&
    outcome !== 'error' &&
    /\b(create|unique|primary|exclude|inherit|partition)\b/i.test(sql)
      ? [parseStatement(sql, dialect)]
      : [],
  );
}

/** Equal for statements that create the same table. */
export function createText(create: CreateTableStatement): string {
  return JSON.stringify({ ...create, ifNotExists: undefined });
}

/** The columns that are likely to name rows: those of keys; without a key any. */
function usualColumns({ columns, keys }: TableShape): readonly string[] {
  const declared = keys.flatMap((key) => key.columns);
  return declared.length > 0 ? ['rid', 'pkid', ...declared] : columns.map(({ name }) => name);
}

/** Whether an index or a key begins with the columns that name rows. */
function isIndexed({ shape, definition }: Table, identity: readonly number[], dialect: Dialect): boolean {
  const first = identity[0] === undefined ? undefined : shape.columns[identity[0]]!.name;
  if (first === undefined) return false;
  return (definition?.indexes ?? []).some((index) => {
    const column = firstColumn(index);
    return column !== undefined && sameName(column, first, dialect);
  });
}

/** Names under which SQLite has the key of a table besides its own. */
function rowIds({ shape }: Table, dialect: Dialect): readonly string[] {
  if (dialect !== 'sqlite') return [];
  return ['rowid', 'oid', '_rowid_'].filter((id) => columnOf(shape.columns, id, dialect) < 0);
}

const harmlessAlteration =
  /\badd\s+(unique|index|key|constraint|primary|foreign)\b|\bengine\b|\bauto_increment\b|\bowner\b/i;

const sharesName = 'another table has its name in other capitals';

/** Actions of a reference by which rows change with those of another table. */
const changesRowsAlong = /\b(CASCADE|SET\s+NULL|SET\s+DEFAULT)\b/i;

const withAnother = 'its rows change with those of another table';

const hiddenWrites = 'triggers, rules, functions or events may change its rows, or what is read of them';

/** Whether it makes something by which other statements change rows that they do not name, or compute what their texts do not say. */
function mayHideWrites(statement: Statement): boolean {
  return (
    statement.type === 'opaque' &&
    statement.kind === 'ddl' &&
    /\b(trigger|rule|function|macro|procedure|event)\b/i.test(statement.sql)
  );
}

/** The name of the view that it creates: a temporary one stands before a table of the same name. */
function viewName(statement: Statement, dialect: Dialect): string | undefined {
  if (statement.type !== 'opaque' || !/^\s*create\b/i.test(statement.sql)) return undefined;
  const named = /\bview\s+(?:if\s+not\s+exists\s+)?(?:\w+\s*\.\s*)?("[^"]+"|`[^`]+`|\[[^\]]+\]|[\w$]+)/i;
  const name = named.exec(statement.sql)?.[1];
  if (name === undefined) return undefined;
  return /^\w/.test(name) ? foldName(name, dialect) : unquoteName(name);
}

/** A set-up statement after which we do not know the table any more. */
function alteration(setup: readonly Statement[], table: Table, find: Catalog['find']): string | undefined {
  for (const statement of setup) {
    if (statement.type !== 'opaque' || statement.kind !== 'ddl') continue;
    if (!/^\s*alter\b/i.test(statement.sql)) continue;
    const harmless = harmlessAlteration.test(statement.sql) && !changesRowsAlong.test(statement.sql);
    if (harmless) continue;
    if (!statement.tables.some((name) => find(name) === table)) continue;
    return changesRowsAlong.test(statement.sql) ? withAnother : 'the set-up altered it';
  }
  return undefined;
}

/** Rows that change without a statement that says so. */
function unfollowedReason(create: CreateTableStatement): string | undefined {
  const text = JSON.stringify(create);
  if (/"actions":"[^"]*(CASCADE|SET NULL|SET DEFAULT)/i.test(text)) return withAnother;
  if (/ON UPDATE/i.test(text)) return 'a column changes with every update';
  if (resolvesConflicts(create)) return 'its keys say what becomes of rows in conflict';
  if (create.temporary) return 'every session has one of its own';
  // `CREATE TABLE a (LIKE b)`: nothing else can have this name.
  if (create.columns.some(({ name }) => /^like$/i.test(name)))
    return 'its columns are those of another table';
  return create.as === undefined ? undefined : 'its columns come from a query';
}

/** Tables that only accesses name (traces without a schema): their columns are those the accesses show. */
function addMentioned(statements: readonly SentStatement[], drafts: Drafts): void {
  for (const { accesses } of statements) {
    for (const { object, value } of accesses ?? []) {
      const name = object.slice(0, Math.max(0, object.indexOf('/')));
      if (typeof value !== 'object' || value === null || Array.isArray(value)) continue;
      const known = drafts.find(name);
      if (known !== undefined && !known.shape.columns.every((column) => column.automatic)) continue;
      const names = new Set([
        ...(known?.shape.columns.map((column) => column.name) ?? []),
        ...Object.keys(value),
      ]);
      if (names.size === known?.shape.columns.length) continue;
      const columns = [...names].map((column) => ({ name: column, notNull: false, automatic: true }));
      drafts.enter(name, { name, columns, keys: [], checks: [] });
    }
  }
}
