/** INSERT, REPLACE and upserts with marks: see `trace-write.ts`. */

import {
  columnOf,
  type Dialect,
  type Expression,
  type InsertStatement,
  type SelectCore,
  type SelectItem,
  type SelectStatement,
  sameName,
  type WithClause,
} from '../../sql/index.js';
import { type CatalogTable, findTable } from './catalog.js';
import { isSteady } from './functions.js';
import { cteNames, Unsupported } from './hide-columns.js';
import {
  column,
  concat,
  initialList,
  listColumn,
  orEmpty,
  readNote,
  readsColumn,
  ridColumn,
  text,
  uniqueText,
} from './marks.js';
import { conditionsOf, type Reread, Rereader } from './read-again.js';
import { isPlain, pairsOf } from './trace-query.js';
import { type Companion, readsBeside } from './trace-reads.js';
import {
  appendMark,
  asItem,
  lockingSelect,
  markItems,
  notesForm,
  type TracedWrite,
  type WriteContext,
  withReturning,
} from './trace-write.js';

export function traceInsert(insert: InsertStatement, context: WriteContext): TracedWrite {
  const { catalog } = context;
  const table = findTable(catalog, insert.table.name);
  if (table === undefined) return { statement: insert };
  const { noted, ...marked } = markInserted(insert, table, context);
  const conflict = markConflict(insert, context, marked.columns.includes(readsColumn));
  const name = insert.table.alias ?? insert.table.name;
  const returning = withReturning(insert.returning, catalog.dialect === 'mysql' ? undefined : name);
  const statement: InsertStatement = { ...insert, ...marked, ...conflict, ...returning };
  const upsert = insert.conflict !== undefined;
  // SQLite's rowid is a key that no table lists.
  const unlisted = insert.columns?.some((name) => columnOf(table.shape.columns, name, catalog.dialect) < 0);
  const keyed = table.keys?.length !== 0 || unlisted === true;
  const replaces = insert.mode === 'replace' && keyed && context.token !== undefined;
  const taken =
    unlisted === true && replaces
      ? 'unknown'
      : replaces
        ? replacedRows(insert, marked.columns, table, context)
        : 'none';
  return {
    statement,
    tables: [table.name],
    ...(typeof taken === 'string' ? {} : { companions: [taken] }),
    ...(returning === undefined ? {} : { traces: ['pair'] }),
    noted,
    ...(upsert ? { repeats: true } : {}),
    counted: !upsert && insert.mode === undefined,
    ...(taken === 'unknown' ? { unnamed: true } : {}),
  };
}

type Marked = Pick<InsertStatement, 'source'> & {
  readonly columns: readonly string[];
  /** The lists of its notes, where they are the same for all rows. */
  readonly noted: readonly Reread[];
};

/** Columns and source with id and list added, and a note of what was read. */
function markInserted(insert: InsertStatement, table: CatalogTable, context: WriteContext): Marked {
  const { token, catalog } = context;
  const list = text(token === undefined ? initialList : `;${token}`);
  const { source } = insert;
  const both = [ridColumn, listColumn];
  if (
    source.type === 'defaults' ||
    (source.type === 'values' && source.rows.some((row) => row.length === 0))
  ) {
    const count = source.type === 'values' ? source.rows.length : 1;
    const rows = Array.from({ length: count }, (_, i) => [text(`${context.id}.${i + 1}`), list]);
    return { columns: both, source: { type: 'values', rows }, noted: [] };
  }
  if (source.type === 'values') {
    const columns = insert.columns ?? table.insertable.slice(0, source.rows[0]!.length);
    const reads = source.rows.map((row) =>
      notesReads(context) ? readsBeside([row], catalog, { with: insert.with }) : [],
    );
    const notes = reads.some((row) => row.length > 0);
    const rows = source.rows.map((row, i) => [
      ...row,
      text(`${context.id}.${i + 1}`),
      list,
      ...(notes ? [noteOf(reads[i]!, token!, true, catalog.dialect)] : []),
    ]);
    return {
      columns: [...columns, ...both, ...(notes ? [readsColumn] : [])],
      source: { type: 'values', rows },
      noted: [],
    };
  }
  const { query } = source;
  const width = widthOf(query);
  if (insert.columns === undefined && width === undefined)
    throw new Unsupported('INSERT of an unknown number of columns');
  const columns = insert.columns ?? table.insertable.slice(0, width);
  const marked = markSource(query, list, insert.with, context);
  return {
    columns: [...columns, ...both, ...(marked.noted.length > 0 ? [readsColumn] : [])],
    source: { type: 'query', query: marked.query },
    noted: marked.noted,
  };
}

function noteOf(reads: readonly Reread[], token: string, also: boolean, dialect: Dialect): Expression {
  return concat(
    readNote(
      token,
      reads.map(({ expression }) => expression),
      also,
    ),
    dialect,
  );
}

/** How many columns a query has, where its text says so. */
function widthOf(query: SelectStatement): number | undefined {
  let { body } = query;
  while (body.type === 'set-operation') body = body.left;
  if (body.type === 'values') return body.rows[0]?.length;
  if (body.type === 'select') return widthOf(body);
  return body.items.some((item) => item.type === 'star') ? undefined : body.items.length;
}

/**
 * INSERT … SELECT: a row is named after the rows it comes from, or by a value the database makes up. What the names do
 * not tell is noted.
 */
function markSource(
  query: SelectStatement,
  list: Expression,
  outer: WithClause | undefined,
  context: WriteContext,
): { query: SelectStatement; noted: readonly Reread[] } {
  const { catalog, id, token } = context;
  const { dialect } = catalog;
  const named = (parts: readonly Expression[]) => concat([text(`${id}(`), ...parts, text(')')], dialect);
  const notes = (reads: readonly Reread[]): SelectItem[] =>
    reads.length === 0 ? [] : [asItem(noteOf(reads, token!, false, dialect))];
  const ctes = new Set([...cteNames(query, dialect), ...cteNames(outer ? { with: outer } : {}, dialect)]);
  const again = new Rereader(catalog, ctes);
  const common = [...again.commonTables(query.with), ...again.commonTables(outer)];
  const { body } = query;
  if (body.type === 'core' && !body.distinct && body.distinctOn === undefined) {
    const plain = isPlain(body);
    const pairs = query.with === undefined && plain ? pairsOf(body, catalog) : undefined;
    const orElse = (value: Expression, other: string): Expression => ({
      type: 'call',
      name: 'coalesce',
      args: [value, text(other)],
    });
    const parts = pairs?.flatMap(([rid, readList], i): Expression[] => {
      const row = [orElse(rid, '-'), text('@'), orElse(readList, '')];
      return i === 0 ? row : [text('+'), ...row];
    });
    const rid = named(parts ?? [uniqueText(dialect, catalog.words.uniqueText)]);
    const inner = [body.items, body.where, body.having, body.from.map(conditionsOf)];
    const reads = [
      ...(pairs === undefined ? again.core(body) : []),
      ...again.subqueries(inner, !plain),
      ...common,
    ];
    const noted = notesReads(context) ? reads.slice(0, mostNotes) : [];
    const items = [...body.items, asItem(rid), asItem(list), ...notes(noted)];
    return { query: { ...query, body: { ...body, items } }, noted };
  }
  // What CTEs stand for is out of reach here.
  const reads = query.with === undefined ? [...again.body(body), ...common] : [];
  const noted = notesReads(context) ? reads.slice(0, mostNotes) : [];
  const wrapped: SelectCore = {
    type: 'core',
    distinct: false,
    items: [
      { type: 'star', table: 'isolde_q' },
      asItem(named([uniqueText(dialect, catalog.words.uniqueText)])),
      asItem(list),
      ...notes(noted),
    ],
    from: [{ type: 'derived', query, alias: 'isolde_q' }],
    groupBy: [],
  };
  return { query: { type: 'select', body: wrapped, orderBy: [], locks: [] }, noted };
}

/** Set-up statements read nothing anybody asks for. */
const notesReads = ({ token, marksOnly }: WriteContext): boolean => token !== undefined && marksOnly !== true;

/** Past this many lists the rest is left out. */
const mostNotes = 12;

/** `inserted`: the row that met another brings a note with it. */
function markConflict(
  insert: InsertStatement,
  context: WriteContext,
  inserted: boolean,
): Pick<InsertStatement, 'conflict'> {
  const { conflict } = insert;
  const { catalog, token } = context;
  const { dialect } = catalog;
  if (conflict?.set === undefined || token === undefined) return conflict === undefined ? {} : { conflict };
  const name = insert.table.alias ?? insert.table.name;
  const where = conflict.type === 'on-conflict' ? conflict.where : undefined;
  const reads = notesReads(context) ? readsBeside([conflict.set, where], catalog) : [];
  const brought = inserted ? [broughtNote(dialect)] : [];
  const own = reads.length > 0 ? [noteOf(reads, token, true, dialect)] : [];
  const notes = [...brought, ...own];
  const value = concat([orEmpty(column(readsColumn, name)), ...notes], dialect);
  const set = [
    ...(notes.length > 0 ? [{ columns: [readsColumn], value }] : []),
    ...conflict.set,
    appendMark(name, token, dialect, false),
  ];
  return { conflict: { ...conflict, set } };
}

/** The note of the row that was to be inserted. */
function broughtNote(dialect: Dialect): Expression {
  return orEmpty(
    dialect === 'mysql'
      ? { type: 'call', name: 'values', args: [column(readsColumn)] }
      : column(readsColumn, 'excluded'),
  );
}

/** The rows a REPLACE takes away: those with a key of one of its rows. `unknown` when its text does not tell the keys. */
function replacedRows(
  insert: InsertStatement,
  columns: readonly string[],
  table: CatalogTable,
  context: WriteContext,
): Companion | 'none' | 'unknown' {
  const { catalog } = context;
  const { source } = insert;
  if (source.type !== 'values' || !context.inTransaction || table.keys === undefined) return 'unknown';
  const conditions: Expression[] = [];
  for (const row of source.rows) {
    for (const key of table.keys) {
      const parts = key.map((position): Expression | 'null' | undefined => {
        const { name, default: usual, generated } = table.shape.columns[position]!;
        if (generated !== undefined) return undefined;
        const at = columns.findIndex((each) => sameName(each, name, catalog.dialect));
        const given = at < 0 ? undefined : row[at];
        const value = given === undefined || given.type === 'default' ? usual : given;
        // No value and no default: NULL or a number the database makes up, neither of which is taken.
        if (value === undefined || (value.type === 'literal' && value.value === null)) return 'null';
        return isSteady(value) ? { type: 'binary', op: '=', left: column(name), right: value } : undefined;
      });
      if (parts.includes('null')) continue;
      if (parts.includes(undefined)) return 'unknown';
      conditions.push(
        (parts as Expression[]).reduce((left, right) => ({ type: 'binary', op: 'AND', left, right })),
      );
    }
  }
  if (conditions.length === 0) return 'none';
  const body: SelectCore = {
    type: 'core',
    distinct: false,
    items: [...markItems(), ...(table.notes ? [asItem(column(readsColumn))] : [])],
    from: [
      {
        type: 'table',
        ...(insert.table.schema === undefined ? {} : { schema: insert.table.schema }),
        name: insert.table.name,
      },
    ],
    where: conditions.reduce((left, right) => ({ type: 'binary', op: 'OR', left, right })),
    groupBy: [],
  };
  return {
    query: lockingSelect(body, catalog, undefined),
    traces: ['pair', ...notesForm(table.notes ? 1 : 0)],
    searches: [],
    rows: 'deleted',
  };
}
