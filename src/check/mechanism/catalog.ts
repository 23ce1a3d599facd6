/**
 * The tables of a history: their shape from the set-up's CREATE TABLE, what names their rows, and their initial rows.
 *
 * The initial rows come from the first source that tells them: a full read by the session `observer` before anybody else
 * began, otherwise the set-up's own writes, evaluated. A table with neither is open: its rows become known as they are read.
 *
 * Rows are named by the column the caller names, by a column called `rid` or `pkId` (generators and traces keep those
 * unique), or by the primary key; in each case only if no statement of the history assigns to it.
 */
import type { History } from '../../histories/index.js';
import {
  type CreateTableStatement,
  type Dialect,
  parseStatement,
  type Statement,
  sameName,
  type TableShape,
  tableShape,
} from '../../sql/index.js';
import { evaluateSetup, observedRows } from './initial-rows.js';
import { MirrorTable } from './mirror.js';
import type { Catalog } from './plan-parts.js';
import type { Tally } from './result.js';
import type { TableInfo } from './table-info.js';
import { uniqueKeysOf } from './unique-keys.js';

export interface Tables {
  readonly catalog: Catalog;
  readonly tables: ReadonlyMap<string, MirrorTable>;
}

export interface TableOptions {
  /** The column that names a table's rows, by table; for tables where we could not know. */
  readonly identity?: Readonly<Record<string, string>> | undefined;
}

const identityNames = /^(rid|pkid)$/i;

/** Builds the mirror's tables as they were before the first operation. */
export function openTables(history: History, options: TableOptions, tally: Tally): Tables {
  const dialect = history.header.dialect ?? 'postgres';
  const folded = (name: string) => (dialect === 'postgres' ? name : name.toLowerCase());
  const setup = (history.header.setup ?? []).map((sql) => parseStatement(sql, dialect));
  const creates = setup.filter((statement) => statement.type === 'create-table');
  const candidates = identityCandidates(creates, dialect, options);
  const assigned = assignedColumns(history, candidates, dialect, folded);
  const infos = new Map<string, TableInfo>();
  for (const create of creates) {
    const name = folded(create.name);
    const changing = new Set([...(assigned.get(name) ?? []), ...(assigned.get('*') ?? [])]);
    const info = tableInfo(create, dialect, name, changing, options);
    const uniqueKeys = uniqueKeysOf(
      create,
      [...setup, ...uniqueIndexes(history, dialect)],
      info.shape,
      dialect,
    );
    infos.set(name, { ...info, uniqueKeys });
  }
  addUncreated(history, infos, folded);
  const catalog: Catalog = {
    dialect,
    find: (name) => infos.get(folded(name)),
    unknownNamesReachTables: setup.some(
      (statement) => statement.type === 'opaque' && /^\s*create\b.*\bview\b/i.test(statement.sql),
    ),
  };
  const states = evaluateSetup(setup, catalog);
  const observed = observedRows(history, catalog);
  const tables = new Map<string, MirrorTable>();
  for (const info of infos.values()) {
    const initial = observed.get(info.name) ?? states.get(info.name);
    const table = new MirrorTable(info, initial);
    const unfollowed = info.unfollowed ?? alteration(setup, info, folded);
    if (unfollowed !== undefined) table.lose(unfollowed, Number.NEGATIVE_INFINITY);
    if (initial === undefined)
      tally.note(`The initial rows of ${info.name} are not known; they are learned from reads.`);
    tables.set(info.name, table);
  }
  return { catalog, tables };
}

/** Unique indexes that come in the middle of a history. */
function uniqueIndexes(history: History, dialect: Dialect): Statement[] {
  return history.operations.flatMap(({ kind, sql }) =>
    kind === 'ddl' && sql !== undefined && /\b(unique|primary)\b/i.test(sql)
      ? [parseStatement(sql, dialect)]
      : [],
  );
}

/** Matches a text that mentions a column which could name rows. */
function identityCandidates(
  creates: readonly CreateTableStatement[],
  dialect: Dialect,
  options: TableOptions,
): RegExp {
  const keys = creates.flatMap((create) => tableShape(create, dialect).keys.flatMap((key) => key.columns));
  const names = ['rid', 'pkid', ...keys, ...Object.values(options.identity ?? {})];
  const escaped = names.map((name) => name.replaceAll(/[^\w]/g, '\\$&'));
  return new RegExp(`(?<!\\w)(${escaped.join('|')})(?!\\w)`, 'i');
}

/** Columns that some statement sets, by table, as far as `candidates` names them; under `*` those of any table. */
function assignedColumns(
  history: History,
  candidates: RegExp,
  dialect: Dialect,
  folded: (name: string) => string,
): Map<string, Set<string>> {
  const assigned = new Map<string, Set<string>>();
  for (const { kind, sql } of history.operations) {
    if (sql === undefined || (kind !== 'update' && kind !== 'insert' && kind !== 'merge')) continue;
    if (kind === 'insert' && !/\bset\b|\bupdate\b/i.test(sql)) continue;
    // Most statements name no such column before their WHERE, and then need no parsing.
    const where = kind === 'update' ? sql.search(/\bwhere\b/i) : -1;
    if (!candidates.test(where < 0 ? sql : sql.slice(0, where))) continue;
    const statement = parseStatement(sql, dialect);
    const all = new Set(sql.toLowerCase().match(/[a-z_]\w*/g) ?? []);
    if (statement.type === 'update' && statement.table.type === 'table') {
      const columns = assigned.get(folded(statement.table.name)) ?? new Set<string>();
      for (const { columns: names } of statement.set)
        for (const name of names) columns.add(name.toLowerCase());
      assigned.set(folded(statement.table.name), columns);
    } else if (statement.type === 'insert' && statement.conflict !== undefined) {
      const columns = assigned.get(folded(statement.table.name)) ?? new Set<string>();
      for (const { columns: names } of statement.conflict.set ?? [])
        for (const name of names) columns.add(name.toLowerCase());
      assigned.set(folded(statement.table.name), columns);
    } else if (statement.type === 'merge') {
      const columns = assigned.get(folded(statement.table.name)) ?? new Set<string>();
      for (const { action } of statement.whens)
        for (const { columns: names } of action.type === 'update' ? action.set : [])
          for (const name of names) columns.add(name.toLowerCase());
      assigned.set(folded(statement.table.name), columns);
    } else if (statement.type !== 'insert') {
      // Unread text may assign any column it mentions, of any table.
      assigned.set('*', new Set([...(assigned.get('*') ?? []), ...all]));
    }
  }
  return assigned;
}

function tableInfo(
  create: CreateTableStatement,
  dialect: Dialect,
  name: string,
  assigned: ReadonlySet<string>,
  options: TableOptions,
): Omit<TableInfo, 'uniqueKeys'> {
  const shape = tableShape(create, dialect);
  const wanted = options.identity?.[create.name] ?? options.identity?.[name];
  const named = shape.columns.findIndex((column) =>
    wanted === undefined ? identityNames.test(column.name) : sameName(column.name, wanted, dialect),
  );
  const primary = shape.keys.find((key) => key.primary)?.columns ?? [];
  const positions = (names: readonly string[]) =>
    names.map((each) => shape.columns.findIndex((column) => sameName(column.name, each, dialect)));
  const candidates = [named < 0 ? [] : [named], positions(primary)];
  const identity = candidates.find(
    (columns) =>
      columns.length > 0 &&
      columns.every((at) => at >= 0 && !assigned.has(shape.columns[at]!.name.toLowerCase())),
  );
  const unfollowed = unfollowedReason(create);
  return {
    name,
    shape,
    identity: identity ?? [],
    ...(unfollowed === undefined ? undefined : { unfollowed }),
  };
}

const harmlessAlteration =
  /\badd\s+(unique|index|key|constraint|primary|foreign)\b|\bengine\b|\bauto_increment\b|\bowner\b/i;

/** A set-up statement after which we do not know the table any more. */
function alteration(
  setup: readonly Statement[],
  info: TableInfo,
  folded: (name: string) => string,
): string | undefined {
  for (const statement of setup) {
    if (statement.type !== 'opaque' || statement.kind !== 'ddl') continue;
    if (/\b(trigger|rule|function|procedure)\b/i.test(statement.sql))
      return 'triggers, rules or functions may change its rows';
    const names = statement.tables.map(folded);
    if (
      /^\s*alter\b/i.test(statement.sql) &&
      names.includes(info.name) &&
      !harmlessAlteration.test(statement.sql)
    )
      return 'the set-up altered it';
  }
  return undefined;
}

/** Rows that change without a statement that says so. */
function unfollowedReason(create: CreateTableStatement): string | undefined {
  const text = JSON.stringify(create);
  if (/"actions":"[^"]*(CASCADE|SET NULL|SET DEFAULT)/i.test(text))
    return 'its rows change with those of another table';
  if (/ON UPDATE/i.test(text)) return 'a column changes with every update';
  return create.as === undefined ? undefined : 'its columns come from a query';
}

/** Tables that only accesses name (traces without a schema): their columns are those the accesses show. */
function addUncreated(
  history: History,
  infos: Map<string, TableInfo>,
  folded: (name: string) => string,
): void {
  for (const { accesses } of history.operations) {
    for (const { object, value } of accesses ?? []) {
      const name = folded(object.slice(0, object.lastIndexOf('/')));
      if (name === '' || typeof value !== 'object' || value === null || Array.isArray(value)) continue;
      const known = infos.get(name);
      if (known !== undefined && !known.shape.columns.every((column) => column.automatic)) continue;
      const names = new Set([
        ...(known?.shape.columns.map((column) => column.name) ?? []),
        ...Object.keys(value),
      ]);
      if (names.size === known?.shape.columns.length) continue;
      const columns = [...names].map((column) => ({ name: column, notNull: false, automatic: true }));
      const shape: TableShape = { name, columns, keys: [], checks: [] };
      infos.set(name, { name, shape, identity: [], uniqueKeys: undefined });
    }
  }
}
