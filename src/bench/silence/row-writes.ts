/**
 * Which rows a write can have met, as far as its text says, and which rows a finding is about. A known bug is behind a finding only if what causes it
 * can have met the very row in which the finding shows; where a text leaves that open (a condition on other columns, a subquery), it can.
 *
 * Findings name rows in three ways: `t/7` by the columns that name rows for good; `t[id=7]`, the dependency graph's name of a row that is there at the
 * start or at the end, by its key at that time; `t/88.3.1`, the graph's own name of a row that is gone, which no condition speaks of.
 */
import type { Finding } from '../../check/index.js';
import type { History, Operation } from '../../histories/index.js';
import {
  type Catalog,
  mayMeet,
  namedKeys,
  splitObject,
  type Table,
  type Touch,
  touchOf,
} from '../../rows/index.js';
import {
  type Assignment,
  type Expression,
  nameKey,
  parseStatement,
  type Statement,
  sameName,
} from '../../sql/index.js';

/** A statement that wrote rows. */
export interface RowWrite {
  readonly operation: Operation;
  readonly table: Table;
  /** What it did to rows that were there; `insert`: nothing. */
  readonly change: 'insert' | 'update' | 'delete' | 'replace';
  readonly set: readonly Assignment[];
  /** How it chose them; undefined: by other means, or it did not choose. */
  readonly where: Expression | undefined;
  readonly returning: boolean;
  readonly touch: Touch;
}

/** What is known of a finding here. */
export interface About {
  readonly finding: Finding;
  readonly history: History;
  readonly catalog: Catalog;
  /** The operations that the finding names. */
  readonly named: readonly Operation[];
}

export const statementOf = ({ sql = '' }: Operation, { dialect }: Catalog): Statement =>
  parseStatement(sql, dialect);

export const touch = (operation: Operation, catalog: Catalog): Touch =>
  touchOf(statementOf(operation, catalog), catalog.dialect);

export const columnsOf = (set: readonly Assignment[]): readonly string[] =>
  set.flatMap(({ columns }) => columns);

/** The writes that succeeded and met, or made, rows of one table. */
export function rowWritesOf(operations: readonly Operation[], catalog: Catalog): readonly RowWrite[] {
  return operations.flatMap((operation) => {
    const { outcome, matched, changed, rows } = operation;
    const met = matched ?? changed ?? rows?.length;
    return outcome === 'ok' && met !== 0 ? (rowWriteOf(operation, catalog) ?? []) : [];
  });
}

function rowWriteOf(operation: Operation, catalog: Catalog): RowWrite | undefined {
  const statement = statementOf(operation, catalog);
  switch (statement.type) {
    case 'update':
    case 'delete':
    case 'insert':
    case 'merge':
      break;
    default:
      return undefined;
  }
  const table = statement.table.type === 'table' ? catalog.find(statement.table.name) : undefined;
  if (table === undefined) return undefined;
  const all = touchOf(statement, catalog.dialect);
  const write = { operation, table, returning: statement.returning !== undefined };
  if (statement.type === 'update' || statement.type === 'delete') {
    const set = statement.type === 'update' ? statement.set : [];
    return { ...write, change: statement.type, set, where: statement.where, touch: all };
  }
  const { change, set } = changeOf(statement);
  const made = { ...write, change, set, where: undefined };
  if (change === 'insert') return { ...made, touch: all };
  const assigned = change === 'replace' ? table.shape.columns.map(({ name }) => name) : columnsOf(set);
  const assigns = new Set(assigned.map((name) => nameKey(name, catalog.dialect)));
  // It finds its row by a unique key; the other columns of its VALUES say nothing of that row.
  return { ...made, touch: { ...all, rows: new Map(), assigns } };
}

/** What an INSERT or MERGE does to rows that are there. */
function changeOf(
  statement: Extract<Statement, { type: 'insert' | 'merge' }>,
): Pick<RowWrite, 'change' | 'set'> {
  if (statement.type === 'merge') {
    const actions = statement.whens.map(({ action }) => action);
    const update = actions.find((action) => action.type === 'update');
    if (update !== undefined) return { change: 'update', set: update.set };
    return { change: actions.some(({ type }) => type === 'delete') ? 'delete' : 'insert', set: [] };
  }
  const set = statement.conflict?.set;
  if (statement.mode === 'replace') return { change: 'replace', set: set ?? [] };
  return set === undefined ? { change: 'insert', set: [] } : { change: 'update', set };
}

/** Whether a statement and a write may have met one row, by the columns that name it for good: others may have changed between the two. */
export function mayMeetInKey(
  statement: Touch,
  { table, touch: write }: RowWrite,
  { dialect }: Catalog,
): boolean {
  const names = new Set(table.identity.map((at) => nameKey(table.shape.columns[at]!.name, dialect)));
  const rows = new Map([...statement.rows].filter(([column]) => names.has(column)));
  return mayMeet({ ...statement, rows }, write);
}

/** Where a finding names rows, whether the writes can all have met one of them. */
export function mayNameRowOf(writes: readonly RowWrite[], about: About): boolean {
  const { finding, named, catalog } = about;
  const objects = (finding.versions ?? [])
    .map(({ object }) => object)
    .filter((object) => /[/[]/.test(object));
  if (objects.length === 0) return true;
  return objects.some((object) => {
    // No condition speaks of a row that is gone; but the operations that the finding names have met it: the INSERT that made it says its key.
    if (finding.oracle === 'dependency-graph' && !isLabel(object))
      return named.every((op) => writes.every((write) => mayMeetInKey(touch(op, catalog), write, catalog)));
    const row = isLabel(object) ? labelled(object, about) : byIdentity(object, catalog);
    return row === undefined || writes.every((write) => mayBe(write, row, catalog));
  });
}

/** A row, and what its columns are called in its name. */
interface NamedRow {
  readonly table: Table;
  readonly parts: readonly { readonly columns: readonly number[]; readonly key: string }[];
}

const isLabel = (object: string): boolean => /^[^/[]*\[/.test(object);

function byIdentity(object: string, catalog: Catalog): NamedRow | undefined {
  const [name, key] = splitObject(object);
  const table = catalog.find(name);
  return table && { table, parts: [{ columns: table.identity, key }] };
}

/** By the columns of `t[a=1, b=x]` that keep their value. What the text leaves open (NULL, or a text with commas) is no part of it. */
function labelled(object: string, { history, catalog }: About): NamedRow | undefined {
  const [, name = '', label = ''] = /^([^/[]*)\[(.*)\]$/s.exec(object) ?? [];
  const table = catalog.find(name);
  if (table === undefined) return undefined;
  const { columns } = table.shape;
  const cells = label.split(', ').map((cell) => /^([^=]*)=(.*)$/s.exec(cell));
  const at = cells.map((cell) =>
    columns.findIndex(({ name: column }) => sameName(column, cell?.[1] ?? '', catalog.dialect)),
  );
  if (at.includes(-1)) return { table, parts: [] };
  const assigned = assignedColumns(table, history, catalog);
  const parts = cells.map((cell, i) => ({ columns: [at[i]!], key: cell![2]! }));
  return {
    table,
    parts: parts.filter(({ columns: [column], key }) => key !== 'NULL' && !assigned.has(column!)),
  };
}

/** The columns whose values some write has changed: the row may have been known by another value. */
function assignedColumns(table: Table, { operations }: History, catalog: Catalog): ReadonlySet<number> {
  const names = new Set(
    rowWritesOf(operations, catalog)
      .filter((write) => write.table === table)
      .flatMap(({ touch: { assigns } }) => [...assigns]),
  );
  const all = table.shape.columns.map(({ name }) => nameKey(name, catalog.dialect));
  return new Set(all.flatMap((name, at) => (names.has(name) ? [at] : [])));
}

function mayBe(write: RowWrite, { table, parts }: NamedRow, catalog: Catalog): boolean {
  return (
    write.table === table &&
    parts.every(({ columns, key }) => keysOf(write, columns, catalog)?.includes(key) !== false)
  );
}

/** The only rows that a write can have met, or made, by these columns; undefined: any. */
function keysOf(
  { table, change, where, touch: { rows } }: RowWrite,
  columns: readonly number[],
  { dialect }: Catalog,
): readonly string[] | undefined {
  if (change !== 'insert') return namedKeys(where, { ...table, identity: columns }, { dialect });
  const given =
    columns.length === 1 ? rows.get(nameKey(table.shape.columns[columns[0]!]!.name, dialect)) : undefined;
  // Integers are written alike in every name of a row.
  return given === undefined || [...given].some((key) => !/^-?\d+$/.test(key)) ? undefined : [...given];
}

/** The tables a finding is about: those of the rows it names, else those that its operations use. */
export function tablesOf({ finding, named, catalog }: Omit<About, 'history'>): readonly string[] {
  const { versions = [] } = finding;
  const tables = versions.flatMap(({ object }) => catalog.find(/^[^/[]*/.exec(object)![0])?.name ?? []);
  if (tables.length > 0) return tables;
  if (named.length === 0) return catalog.tables.map(({ name }) => name);
  return named.flatMap((operation) => {
    const { reads, writes } = touch(operation, catalog);
    return [...reads, ...writes].flatMap((name) => catalog.find(name)?.name ?? []);
  });
}
