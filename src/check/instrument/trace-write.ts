/**
 * Makes a write leave its mark in every row it writes (IsoRel, Table 1, rows 6 to 10, and upserts and MERGE).
 *
 * - INSERT gives each row an id of its own and a list that holds only this statement (`trace-insert.ts`).
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
  FromItem,
  InsertStatement,
  MergeStatement,
  SelectCore,
  SelectItem,
  SelectStatement,
  UpdateStatement,
} from '../../sql/index.js';
import { type Catalog, type CatalogTable, findTable, nameKey } from './catalog.js';
import { Unsupported } from './hide-columns.js';
import { column, concat, initialList, listColumn, ridColumn, text, uniqueText } from './marks.js';
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
  /** The widened tables written, if there are any. */
  readonly tables?: readonly string[];
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
    tables: targets.map(({ table }) => table.name),
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
export function appendMark(name: string, token: string, dialect: Dialect, qualify: boolean): Assignment {
  const value = concat([column(listColumn, name), text(`;${token}`)], dialect);
  return { ...(qualify ? { table: name } : {}), columns: [listColumn], value };
}

/** RETURNING of the author's own, with the two columns behind it. */
export function withReturning(
  items: readonly SelectItem[] | undefined,
  name: string | undefined,
): { returning: SelectItem[] } | undefined {
  return items === undefined ? undefined : { returning: [...items, ...markItems(name)] };
}

export function markItems(name?: string): SelectItem[] {
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
  const tables = targets.flatMap((leaf) =>
    leaf.type === 'table' ? [findTable(catalog, leaf.name)!.name] : [],
  );
  if (statement.returning !== undefined || (deletes === 'returning' && statement.targets === undefined)) {
    const returning = [...(statement.returning ?? []), ...markItems(returningName(target, context))];
    return { statement: { ...statement, returning }, tables, returns: true };
  }
  // A subquery in the condition, or LIMIT, may pick other rows the second time.
  const samePick = subqueriesOf(statement.where).length === 0 && statement.limit === undefined;
  if (!inTransaction || !samePick || targets.length > 1) return { statement, tables, unnamed: true };
  const { where } = statement;
  const body: SelectCore = {
    type: 'core',
    distinct: false,
    items: markItems(leafName(target)),
    from: [statement.table, ...statement.using],
    ...(where === undefined ? {} : { where }),
    groupBy: [],
  };
  return { statement, tables, companion: lockingSelect(body, catalog.dialect, statement.with) };
}

/** MariaDB's RETURNING knows no table names. */
function returningName(target: FromItem & { type: 'table' }, { catalog }: WriteContext): string | undefined {
  return catalog.dialect === 'mysql' ? undefined : leafName(target);
}

export function lockingSelect(
  body: SelectCore,
  dialect: Dialect,
  clause: SelectStatement['with'],
): SelectStatement {
  const lockable = dialect === 'postgres' || dialect === 'mysql';
  return {
    type: 'select',
    ...(clause === undefined ? {} : { with: clause }),
    body,
    orderBy: [],
    locks: lockable ? [{ strength: 'update', of: [] }] : [],
  };
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
    tables: [table.name],
    ...(returning === undefined ? {} : { returns: true }),
    ...(deletes ? { unnamed: true } : {}),
  };
}

export function sameName(a: string, b: string, { dialect }: Catalog): boolean {
  return nameKey(a, dialect) === nameKey(b, dialect);
}
