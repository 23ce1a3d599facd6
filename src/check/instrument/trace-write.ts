/**
 * Makes a write leave its mark in every row it writes (IsoRel, Table 1, rows 6 to 10, and upserts and MERGE).
 *
 * - INSERT gives each row an id of its own and a list that holds only this statement.
 * - UPDATE, DO UPDATE and ON DUPLICATE KEY UPDATE append the statement to the list.
 * - DELETE must say which rows it took, in which version. Where the dialect has RETURNING the statement itself says so:
 *   no second statement, no other locks, no gap between asking and deleting. Elsewhere (and on request) the paper's way:
 *   a locking SELECT with the same condition right before it, in the same transaction.
 * - REPLACE deletes the rows whose keys it takes; a locking SELECT by those keys comes before it.
 *
 * The companion SELECTs only make sense inside a transaction: before an autocommitted DELETE the locks would be gone
 * again, and another session could change the rows in between. There the rows taken are not seen (`unnamed`).
 */
import type {
  Assignment,
  DeleteStatement,
  Dialect,
  Expression,
  FromItem,
  InsertStatement,
  MergeStatement,
  SelectCore,
  SelectItem,
  SelectStatement,
  UpdateStatement,
} from '../../sql/index.js';
import { type Catalog, type CatalogTable, findTable, nameKey } from './catalog.js';
import { isSteady } from './functions.js';
import { Unsupported } from './hide-columns.js';
import { column, concat, initialList, listColumn, ridColumn, text, uniqueText } from './marks.js';
import { isPlain, pairsOf } from './trace-query.js';
import { leafName, leavesOf, subqueriesOf } from './tree.js';

export interface WriteContext {
  readonly catalog: Catalog;
  /** Prefix of the ids of rows made here: `3.2` or, in the set-up, `s2`. */
  readonly id: string;
  /** What is appended to lists; undefined in the set-up. */
  readonly token?: string;
  /** Inside BEGIN … COMMIT: a statement before this one belongs to the same transaction. */
  readonly inTransaction: boolean;
  /** How a DELETE names its rows. */
  readonly deletes: 'returning' | 'locking-read';
}

export interface TracedWrite {
  readonly statement: InsertStatement | UpdateStatement | DeleteStatement | MergeStatement;
  /** The widened table written, if it is one. */
  readonly table?: string;
  /** A SELECT to send right before; its rows are those the statement takes away. */
  readonly companion?: SelectStatement;
  /** The statement returns the rows it wrote, two columns behind its own. */
  readonly returns?: boolean;
  /** Each row may get more than one mark of this statement. */
  readonly repeats?: boolean;
  /** Whether the count the database reports is the number of rows that got a mark. */
  readonly counted?: boolean;
  /** Rows may disappear without being named. */
  readonly unnamed?: boolean;
}

export function traceUpdate(update: UpdateStatement, context: WriteContext): TracedWrite {
  const { catalog, token } = context;
  const targets = updateTargets(update, catalog);
  if (targets.length === 0 || token === undefined) return { statement: update };
  const many = targets.length > 1 || update.table.type === 'join' || update.moreTables !== undefined;
  const marks = targets.map(({ name }) => appendMark(name, token, catalog.dialect, many));
  const returning = withReturning(update.returning, targets[0]!.name);
  return {
    statement: { ...update, set: [...update.set, ...marks], ...returning },
    table: targets[0]!.table.name,
    ...(returning === undefined ? {} : { returns: true }),
    counted: !many && update.mode === undefined,
  };
}

/** The widened tables an UPDATE assigns to; several only in MySQL's form. */
function updateTargets(update: UpdateStatement, catalog: Catalog): { name: string; table: CatalogTable }[] {
  const leaves = leavesOf([update.table, ...(update.moreTables ?? [])]);
  const known = leaves.map((leaf) => ({
    name: leafName(leaf),
    table: leaf.type === 'table' ? findTable(catalog, leaf.name) : undefined,
  }));
  if (known.length === 1) return known.flatMap(({ name, table }) => (table ? [{ name: name!, table }] : []));
  const found = new Map<string, CatalogTable>();
  for (const { table, columns } of update.set) {
    const owners = known.filter((each) =>
      table === undefined
        ? each.table === undefined || each.table.columns.some((name) => sameName(name, columns[0]!, catalog))
        : sameName(each.name ?? '', table, catalog),
    );
    const owner = owners[0];
    if (owners.length !== 1 || owner?.name === undefined) {
      throw new Unsupported(`which table ${columns[0]} belongs to is not clear`);
    }
    if (owner.table !== undefined) found.set(owner.name, owner.table);
  }
  return [...found].map(([name, table]) => ({ name, table }));
}

/** `isolde_wl = isolde_wl || ';3.2'`. */
function appendMark(name: string, token: string, dialect: Dialect, qualify: boolean): Assignment {
  const value = concat([column(listColumn, name), text(`;${token}`)], dialect);
  return { ...(qualify ? { table: name } : {}), columns: [listColumn], value };
}

/** RETURNING of the author's own, with the two columns behind it. */
function withReturning(
  items: readonly SelectItem[] | undefined,
  name: string | undefined,
): { returning: SelectItem[] } | undefined {
  return items === undefined ? undefined : { returning: [...items, ...markItems(name)] };
}

function markItems(name?: string): SelectItem[] {
  return [ridColumn, listColumn].map((each) => ({ type: 'item', expression: column(each, name) }));
}

export function traceDelete(statement: DeleteStatement, context: WriteContext): TracedWrite {
  const { catalog, token, deletes, inTransaction } = context;
  const leaves = leavesOf([statement.table, ...statement.using]);
  const isTarget = (name: string | undefined) =>
    statement.targets === undefined
      ? name === leafName(leaves[0]!)
      : statement.targets.some((target) => sameName(target, name ?? '', catalog));
  const targets = leaves.filter(
    (leaf) =>
      leaf.type === 'table' && isTarget(leafName(leaf)) && findTable(catalog, leaf.name) !== undefined,
  );
  const target = targets[0];
  if (target?.type !== 'table' || token === undefined) return { statement };
  const table = findTable(catalog, target.name)!.name;
  if (statement.returning !== undefined || (deletes === 'returning' && statement.targets === undefined)) {
    const returning = [...(statement.returning ?? []), ...markItems(returningName(target, context))];
    return { statement: { ...statement, returning }, table, returns: true };
  }
  // A subquery in the condition, or LIMIT, may pick other rows the second time.
  const samePick = subqueriesOf(statement.where).length === 0 && statement.limit === undefined;
  if (!inTransaction || !samePick || targets.length > 1) return { statement, table, unnamed: true };
  const { where } = statement;
  const body: SelectCore = {
    type: 'core',
    distinct: false,
    items: markItems(leafName(target)),
    from: [statement.table, ...statement.using],
    ...(where === undefined ? {} : { where }),
    groupBy: [],
  };
  return { statement, table, companion: lockingSelect(body, catalog.dialect, statement.with) };
}

/** MariaDB's RETURNING knows no table names. */
function returningName(target: FromItem & { type: 'table' }, { catalog }: WriteContext): string | undefined {
  return catalog.dialect === 'mysql' ? undefined : leafName(target);
}

function lockingSelect(body: SelectCore, dialect: Dialect, clause: SelectStatement['with']): SelectStatement {
  const lockable = dialect === 'postgres' || dialect === 'mysql';
  return {
    type: 'select',
    ...(clause === undefined ? {} : { with: clause }),
    body,
    orderBy: [],
    locks: lockable ? [{ strength: 'update', of: [] }] : [],
  };
}

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
    table: table.name,
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
    const parts = pairs?.flatMap(([rid], i): Expression[] => {
      const known: Expression = { type: 'call', name: 'coalesce', args: [rid, text('-')] };
      return i === 0 ? [known] : [text('+'), known];
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

export function traceMerge(merge: MergeStatement, context: WriteContext): TracedWrite {
  const { catalog, token, id } = context;
  const table = findTable(catalog, merge.table.name);
  if (table === undefined) return { statement: merge };
  const { dialect } = catalog;
  const list = text(token === undefined ? initialList : `;${token}`);
  const rid = concat([text(`${id}(`), uniqueText(dialect), text(')')], dialect);
  const whens = merge.whens.map((when) => {
    const { action } = when;
    if (action.type === 'update' && token !== undefined) {
      const mark = appendMark(leafName(merge.table)!, token, dialect, false);
      return { ...when, action: { ...action, set: [...action.set, mark] } };
    }
    if (action.type !== 'insert') return when;
    const values = action.values ?? [];
    const columns =
      action.values === undefined ? [] : (action.columns ?? table.insertable.slice(0, values.length));
    return {
      ...when,
      action: { ...action, columns: [...columns, ridColumn, listColumn], values: [...values, rid, list] },
    };
  });
  const deletes = merge.whens.some(({ action }) => action.type === 'delete');
  const returning = withReturning(merge.returning, leafName(merge.table)!);
  return {
    statement: { ...merge, whens, ...returning },
    table: table.name,
    ...(returning === undefined ? {} : { returns: true }),
    ...(deletes ? { unnamed: true } : {}),
  };
}

function sameName(a: string, b: string, { dialect }: Catalog): boolean {
  return nameKey(a, dialect) === nameKey(b, dialect);
}
