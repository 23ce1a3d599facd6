/** DELETE that says which rows it took and what it read to choose them: see `trace-write.ts` and `trace-reads.ts`. */
import {
  type DeleteStatement,
  type FromItem,
  type SelectCore,
  type SelectItem,
  sameName,
} from '../../sql/index.js';
import { findTable } from './catalog.js';
import { column, readsColumn } from './marks.js';
import { type Companion, deleteReads, picksAgain, readCompanion, withSharedLocks } from './trace-reads.js';
import {
  asItem,
  lockingSelect,
  markItems,
  notesForm,
  scanOf,
  type TracedWrite,
  type WriteContext,
} from './trace-write.js';
import { leafName, leavesOf } from './tree.js';

type Leaf = FromItem & { readonly type: 'table' };

/** What both ways to trace a DELETE need to know of it. */
interface Traced {
  readonly statement: DeleteStatement;
  readonly target: Leaf;
  readonly reads: ReturnType<typeof deleteReads>;
  readonly before: Companion | undefined;
  /** The tables it takes rows from, and the search by which it finds them. */
  readonly said: Pick<TracedWrite, 'tables' | 'scan'>;
  /** How many columns of notes the table has: none or one. */
  readonly notes: number;
}

export function traceDelete(statement: DeleteStatement, context: WriteContext): TracedWrite {
  const { catalog, token, deletes, inTransaction, way } = context;
  const leaves = leavesOf([statement.table, ...statement.using]);
  const targets = targetsOf(statement, leaves, catalog);
  const target = targets[0];
  if (target === undefined || token === undefined) return { statement };
  const { where } = statement;
  const whole = statement.mode === undefined && statement.limit === undefined;
  const searching = {
    from: [statement.table, ...statement.using],
    ...(where === undefined ? {} : { where }),
    ...(statement.with === undefined ? {} : { with: statement.with }),
    takesAll: whole && statement.targets === undefined,
  };
  const scan = leaves.length > 1 || !whole ? undefined : scanOf(statement);
  const traced: Traced = {
    statement,
    target,
    reads: deleteReads(
      statement,
      targets.flatMap((leaf) => leafName(leaf) ?? []),
      catalog,
    ),
    before: inTransaction ? readCompanion(searching, way, catalog) : undefined,
    said: {
      tables: targets.map((leaf) => findTable(catalog, leaf.name)!.name),
      ...(scan === undefined ? {} : { scan }),
    },
    notes: findTable(catalog, target.name)!.notes ? 1 : 0,
  };
  if (statement.returning !== undefined || (deletes === 'returning' && statement.targets === undefined))
    return byReturning(traced, context);
  // LIMIT may pick other rows the second time.
  const samePick = picksAgain(where, way, catalog) && statement.limit === undefined;
  if (deletes !== 'nothing' && inTransaction && samePick && targets.length === 1)
    return byNaming(traced, context);
  const unseen = traced.reads.length > 0 && traced.before === undefined;
  return { ...traced.said, statement, unnamed: true, companions: [traced.before], unseen };
}

/** A DELETE whose rows are seen by others: nothing is added. */
export function markDelete(statement: DeleteStatement, { catalog }: WriteContext): TracedWrite {
  const leaves = leavesOf([statement.table, ...statement.using]);
  const tables = targetsOf(statement, leaves, catalog).map((leaf) => findTable(catalog, leaf.name)!.name);
  return tables.length === 0 ? { statement } : { statement, tables };
}

function targetsOf(
  statement: DeleteStatement,
  leaves: ReturnType<typeof leavesOf>,
  catalog: WriteContext['catalog'],
): Leaf[] {
  const isTarget = (name: string | undefined) =>
    statement.targets === undefined
      ? name === leafName(leaves[0]!)
      : statement.targets.some((target) => sameName(target, name ?? '', catalog.dialect));
  return leaves.filter(
    (leaf): leaf is Leaf =>
      leaf.type === 'table' && isTarget(leafName(leaf)) && findTable(catalog, leaf.name) !== undefined,
  );
}

/** RETURNING says which rows went. */
function byReturning(
  { statement, target, reads, before, said, notes }: Traced,
  context: WriteContext,
): TracedWrite {
  const { dialect } = context.catalog;
  const name = returningName(target, context);
  // DuckDB returns neither subqueries nor columns of other tables; elsewhere than in PostgreSQL, CTEs end before.
  const beside =
    dialect === 'duckdb' || (dialect !== 'postgres' && statement.with !== undefined) ? [] : reads;
  const lists = beside.map(({ expression }) => asItem(expression));
  return {
    ...said,
    statement: {
      ...statement,
      returning: [...(statement.returning ?? []), ...markedItems(name, notes), ...lists],
    },
    traces: ['pair', ...notesForm(notes), ...beside.map(() => 'list' as const)],
    searches: beside.flatMap(({ scan: search }, i) =>
      search === undefined ? [] : [{ trace: 1 + notes + i, scan: search, decides: false }],
    ),
    companions: [before],
    unseen: reads.length > 0 && beside.length === 0 && before === undefined,
  };
}

/** A SELECT right before names the rows that will go, and locks them where the engine has such locks. */
function byNaming(
  { statement, target, reads, before, said, notes }: Traced,
  context: WriteContext,
): TracedWrite {
  const { where } = statement;
  const unread = before === undefined ? reads : [];
  const locks = <T>(tree: T): T => (context.way === 'locking' ? withSharedLocks(tree) : tree);
  const body: SelectCore = {
    type: 'core',
    distinct: false,
    items: [
      ...markedItems(leafName(target), notes),
      ...unread.map(({ expression }) => asItem(locks(expression))),
    ],
    from: [statement.table, ...statement.using],
    ...(where === undefined ? {} : { where: locks(where) }),
    groupBy: [],
  };
  const naming: Companion = {
    query: lockingSelect(body, context.catalog, statement.with),
    traces: ['pair', ...notesForm(notes), ...unread.map(() => 'list' as const)],
    searches: [],
    rows: 'deleted',
  };
  return { ...said, statement, companions: [before, naming] };
}

/** A row's id, list and notes. */
function markedItems(name: string | undefined, notes: number): SelectItem[] {
  return [...markItems(name), ...[readsColumn].slice(0, notes).map((each) => asItem(column(each, name)))];
}

/** MariaDB's RETURNING knows no table names. */
function returningName(target: Leaf, { catalog }: WriteContext): string | undefined {
  return catalog.dialect === 'mysql' ? undefined : leafName(target);
}
