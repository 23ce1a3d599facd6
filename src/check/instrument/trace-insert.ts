/** INSERT, REPLACE and upserts with marks: see `trace-write.ts`. */
import type {
  Expression,
  InsertStatement,
  SelectCore,
  SelectItem,
  SelectStatement,
} from '../../sql/index.js';
import { type CatalogTable, findTable, nameKey } from './catalog.js';
import { isSteady } from './functions.js';
import { Unsupported } from './hide-columns.js';
import { column, concat, initialList, listColumn, ridColumn, text, uniqueText } from './marks.js';
import { isPlain, pairsOf } from './trace-query.js';
import {
  appendMark,
  lockingSelect,
  markItems,
  sameName,
  type TracedWrite,
  type WriteContext,
  withReturning,
} from './trace-write.js';

export function traceInsert(insert: InsertStatement, context: WriteContext): TracedWrite {
  const { catalog } = context;
  const table = findTable(catalog, insert.table.name);
  if (table === undefined) return { statement: insert };
  const marked = markInserted(insert, table, context);
  const conflict = markConflict(insert, context);
  const name = insert.table.alias ?? insert.table.name;
  const returning = withReturning(insert.returning, catalog.dialect === 'mysql' ? undefined : name);
  const statement: InsertStatement = { ...insert, ...marked, ...conflict, ...returning };
  const upsert = insert.conflict !== undefined;
  const replaces = insert.mode === 'replace' && table.keys.length > 0 && context.token !== undefined;
  const taken = replaces ? replacedRows(insert, marked.columns, table, context) : 'none';
  const companion = typeof taken === 'string' ? undefined : taken;
  return {
    statement,
    tables: [table.name],
    ...(companion === undefined ? {} : { companion }),
    ...(returning === undefined ? {} : { returns: true }),
    ...(upsert ? { repeats: true } : {}),
    counted: !upsert && insert.mode === undefined,
    ...(taken === 'unknown' ? { unnamed: true } : {}),
  };
}

/** Columns and source with id and list added. */
function markInserted(
  insert: InsertStatement,
  table: CatalogTable,
  context: WriteContext,
): Pick<InsertStatement, 'columns' | 'source'> & { readonly columns: readonly string[] } {
  const list = text(context.token === undefined ? initialList : `;${context.token}`);
  const { source } = insert;
  const both = [ridColumn, listColumn];
  if (
    source.type === 'defaults' ||
    (source.type === 'values' && source.rows.some((row) => row.length === 0))
  ) {
    const count = source.type === 'values' ? source.rows.length : 1;
    const rows = Array.from({ length: count }, (_, i) => [text(`${context.id}.${i + 1}`), list]);
    return { columns: both, source: { type: 'values', rows } };
  }
  if (source.type === 'values') {
    const columns = insert.columns ?? table.insertable.slice(0, source.rows[0]!.length);
    const rows = source.rows.map((row, i) => [...row, text(`${context.id}.${i + 1}`), list]);
    return { columns: [...columns, ...both], source: { type: 'values', rows } };
  }
  const { query } = source;
  const width = widthOf(query);
  if (insert.columns === undefined && width === undefined)
    throw new Unsupported('INSERT of an unknown number of columns');
  const columns = insert.columns ?? table.insertable.slice(0, width);
  return {
    columns: [...columns, ...both],
    source: { type: 'query', query: markSource(query, list, context) },
  };
}

/** How many columns a query has, where its text says so. */
function widthOf(query: SelectStatement): number | undefined {
  let { body } = query;
  while (body.type === 'set-operation') body = body.left;
  if (body.type === 'values') return body.rows[0]?.length;
  if (body.type === 'select') return widthOf(body);
  return body.items.some((item) => item.type === 'star') ? undefined : body.items.length;
}

/** INSERT … SELECT: a row is named after the rows it comes from, or by a value the database makes up. */
function markSource(query: SelectStatement, list: Expression, context: WriteContext): SelectStatement {
  const { catalog, id } = context;
  const { dialect } = catalog;
  const named = (parts: readonly Expression[]) => concat([text(`${id}(`), ...parts, text(')')], dialect);
  const item = (expression: Expression): SelectItem => ({ type: 'item', expression });
  const { body } = query;
  if (body.type === 'core' && !body.distinct && body.distinctOn === undefined) {
    const pairs = query.with === undefined && isPlain(body) ? pairsOf(body, catalog) : undefined;
    const orElse = (value: Expression, other: string): Expression => ({
      type: 'call',
      name: 'coalesce',
      args: [value, text(other)],
    });
    const parts = pairs?.flatMap(([rid, readList], i): Expression[] => {
      const row = [orElse(rid, '-'), text('@'), orElse(readList, '')];
      return i === 0 ? row : [text('+'), ...row];
    });
    const rid = named(parts ?? [uniqueText(dialect)]);
    return { ...query, body: { ...body, items: [...body.items, item(rid), item(list)] } };
  }
  const inner: SelectStatement = query;
  const wrapped: SelectCore = {
    type: 'core',
    distinct: false,
    items: [{ type: 'star', table: 'isolde_q' }, item(named([uniqueText(dialect)])), item(list)],
    from: [{ type: 'derived', query: inner, alias: 'isolde_q' }],
    groupBy: [],
  };
  return { type: 'select', body: wrapped, orderBy: [], locks: [] };
}

function markConflict(
  insert: InsertStatement,
  { catalog, token }: WriteContext,
): Pick<InsertStatement, 'conflict'> {
  const { conflict } = insert;
  if (conflict?.set === undefined || token === undefined) return conflict === undefined ? {} : { conflict };
  const mark = appendMark(insert.table.alias ?? insert.table.name, token, catalog.dialect, false);
  return { conflict: { ...conflict, set: [...conflict.set, mark] } };
}

/** The rows a REPLACE takes away: those with a key of one of its rows. `unknown` when its text does not tell the keys. */
function replacedRows(
  insert: InsertStatement,
  columns: readonly string[],
  table: CatalogTable,
  context: WriteContext,
): SelectStatement | 'none' | 'unknown' {
  const { catalog } = context;
  const { source } = insert;
  if (source.type !== 'values' || !context.inTransaction) return 'unknown';
  const conditions: Expression[] = [];
  for (const row of source.rows) {
    for (const key of table.keys) {
      const parts = key.map((name): Expression | 'null' | undefined => {
        const at = columns.findIndex((each) => sameName(each, name, catalog));
        const given = at < 0 ? undefined : row[at];
        const value =
          given === undefined || given.type === 'default'
            ? table.defaults[nameKey(name, catalog.dialect)]
            : given;
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
    items: markItems(),
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
  return lockingSelect(body, catalog.dialect, undefined);
}
