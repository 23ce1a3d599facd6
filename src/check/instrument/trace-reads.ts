/**
 * What a write reads besides the rows it writes: by subqueries of its condition and of its new values, from the tables
 * of FROM and USING, and from its CTEs. Two ways to see it:
 *
 * 1. In the statement itself, as texts computed beside the new values: an UPDATE, INSERT, upsert or MERGE notes them in
 *    the rows it writes (`readsColumn`), a DELETE returns them. That is exactly what the write saw, at any level of any
 *    engine. A statement that writes no row leaves no note.
 * 2. By a companion, a SELECT right before it in the same transaction, which also tells what a write of no rows looked
 *    at. It is sound only where it sees what the write will see, and where it does not change what the transaction
 *    sees later. The contract's mechanism says how (`companionWay`):
 *    - one snapshot for reads and writes, taken by the first statement or before (PostgreSQL's REPEATABLE READ and
 *      SERIALIZABLE, SQLite, Turso, DuckDB): a plain SELECT. It also names the rows that satisfy the condition, and the
 *      write must take just these: anything else is a write predicate that saw another state (PMP-write).
 *    - locking reads of current rows whose locks stay (InnoDB's REPEATABLE READ and SERIALIZABLE): a SELECT in which
 *      every subquery says LOCK IN SHARE MODE. The write takes these locks anyway, and no read view is made. Only
 *      subqueries that need no row of the written table: for others it would lock rows the write does not look at.
 *    - a snapshot per statement (READ COMMITTED): none. It would see a state the write does not see.
 */
import type { Contract } from '../../contracts/index.js';
import type {
  DeleteStatement,
  Dialect,
  Expression,
  FromItem,
  MergeStatement,
  SelectCore,
  SelectStatement,
  UpdateStatement,
  WithClause,
} from '../../sql/index.js';
import type { Catalog } from './catalog.js';
import { isRepeatable } from './functions.js';
import { cteNames, isClosed, widenedTable } from './hide-columns.js';
import { aggregateTexts, rowEntry } from './marks.js';
import { conditionsOf, type Reread, Rereader, scalar } from './read-again.js';
import type { Search, TraceForm } from './trace-query.js';
import { leafName, leavesOf, operandsOf, subqueriesOf } from './tree.js';

/** How a companion may read what the write after it will read. */
export type CompanionWay = 'snapshot' | 'locking' | 'none';

/** `contract`: what the run is held to; without one, only what holds for every engine of the dialect. */
export function companionWay(contract: Contract | undefined, dialect: Dialect): CompanionWay {
  const mechanism = contract?.mechanism;
  if (mechanism === undefined) return dialect === 'sqlite' || dialect === 'duckdb' ? 'snapshot' : 'none';
  const { pivot, writesSee, lockingReadsSee, readsLock, shareLocksNothing } = mechanism;
  if (dialect === 'mysql') {
    // A plain read would take the snapshot that the transaction does not have yet.
    const locks = lockingReadsSee !== 'unsupported' && shareLocksNothing !== true;
    return locks && (pivot === 'first-read' || readsLock) ? 'locking' : 'none';
  }
  const oneSnapshot = pivot === 'begin' || pivot === 'first-statement';
  return oneSnapshot && writesSee === 'snapshot' ? 'snapshot' : 'none';
}

export interface Companion {
  readonly query: SelectStatement;
  readonly traces: readonly TraceForm[];
  readonly searches: readonly Search[];
  /** What becomes of the rows its pairs name. */
  readonly rows: 'read' | 'deleted';
  /** Its first list names the rows that the statement must take, no fewer and no more. */
  readonly matches?: true;
}

/** Past this many lists the rest is left out. */
const mostLists = 12;

/** What an UPDATE reads besides the rows it writes; `targets`: the names of the tables it writes. */
export function updateReads(update: UpdateStatement, targets: readonly string[], catalog: Catalog): Reread[] {
  const sources = [update.table, ...(update.moreTables ?? []), ...update.from];
  return readsBeside([update.where, update.set], catalog, { sources, with: update.with, targets });
}

export function deleteReads(
  statement: DeleteStatement,
  targets: readonly string[],
  catalog: Catalog,
): Reread[] {
  const sources = [statement.table, ...statement.using];
  return readsBeside([statement.where], catalog, { sources, with: statement.with, targets });
}

/** `part`: the action, and the condition it has. A row that is not there yet gives no values to subqueries. */
export function mergeReads(
  merge: MergeStatement,
  part: unknown,
  inserts: boolean,
  catalog: Catalog,
): Reread[] {
  return readsBeside([merge.on, part], catalog, {
    sources: [merge.using],
    with: merge.with,
    closedOnly: inserts,
  });
}

interface Beside {
  readonly sources?: readonly FromItem[];
  readonly with?: WithClause | undefined;
  /** Their rows are written, which says more than that they were read. */
  readonly targets?: readonly string[];
  readonly closedOnly?: boolean;
}

export function readsBeside(
  expressions: readonly unknown[],
  catalog: Catalog,
  { sources = [], with: clause, targets = [], closedOnly = false }: Beside = {},
): Reread[] {
  const ctes = new Set(cteNames(clause === undefined ? {} : { with: clause }, catalog.dialect));
  const again = new Rereader(catalog, ctes);
  const rows = leavesOf(sources).flatMap((leaf): Reread[] => {
    if (leaf.type === 'derived') return leaf.lateral === true ? [] : again.body(leaf.query.body);
    const name = leafName(leaf);
    if (name === undefined || targets.includes(name)) return [];
    if (widenedTable(leaf, catalog, ctes) === undefined) return [];
    return [{ expression: rowEntry(name, catalog.dialect) }];
  });
  const conditions = sources.map(conditionsOf);
  const all = [...rows, ...again.subqueries([...expressions, conditions], closedOnly)];
  return [...all, ...again.commonTables(clause)].slice(0, mostLists);
}

/** What a companion must know of the write it stands before. */
export interface Searching {
  /** The written table first, then those joined to it. */
  readonly from: readonly FromItem[];
  readonly where?: Expression;
  /** New values. */
  readonly values?: unknown;
  readonly with?: WithClause;
  /** The write takes every row that satisfies its condition. */
  readonly takesAll: boolean;
}

/** A SELECT that reads what the write after it will read; undefined if there is nothing to read, or no sound way. */
export function readCompanion(
  searching: Searching,
  way: CompanionWay,
  catalog: Catalog,
): Companion | undefined {
  if (way === 'none') return undefined;
  const { from, where, values, takesAll } = searching;
  const joined = leavesOf(from).length > 1;
  const queries = subqueriesOf([where, values, from.map(conditionsOf)]);
  if ((queries.length === 0 && !joined) || (way === 'locking' && searching.with !== undefined)) {
    return undefined;
  }
  const ctes = new Set(cteNames(searching, catalog.dialect));
  const again = new Rereader(catalog, ctes);
  const closed = queries.flatMap((query) => again.subqueries(query, true));
  if (way === 'locking') return companion(closed.map(lockReads), undefined, false);
  const core: SelectCore = {
    type: 'core',
    distinct: false,
    items: [],
    from,
    ...(where === undefined ? {} : { where }),
    groupBy: [],
  };
  // Its rows are not all that match where LIMIT picks among them.
  const rows = again.core(core).map(({ expression }): Reread => ({ expression }));
  const correlated = joined ? [] : queries.filter((query) => !standsAlone(query, catalog, ctes));
  const perRow = correlated.flatMap((query) =>
    again.subqueries(query, false).map(({ expression }): Reread => {
      const items = [{ type: 'item', expression: aggregateTexts(expression, catalog.dialect) } as const];
      const body: SelectCore = { type: 'core', distinct: false, items, from, groupBy: [] };
      return { expression: scalar({ type: 'select', body, orderBy: [], locks: [] }) };
    }),
  );
  const named = widenedTable(leavesOf(from)[0]!, catalog, ctes) !== undefined;
  const matches = takesAll && named && isRepeatable([where, from.map(conditionsOf), searching.with]);
  return companion(
    [...rows, ...closed, ...perRow, ...again.commonTables(searching.with)],
    searching.with,
    matches,
  );
}

function companion(
  reads: readonly Reread[],
  clause: WithClause | undefined,
  matches: boolean,
): Companion | undefined {
  const kept = reads.slice(0, mostLists);
  if (kept.length === 0) return undefined;
  const body: SelectCore = {
    type: 'core',
    distinct: false,
    items: kept.map(({ expression }) => ({ type: 'item', expression })),
    from: [],
    groupBy: [],
  };
  return {
    query: {
      type: 'select',
      ...(clause === undefined ? {} : { with: clause }),
      body,
      orderBy: [],
      locks: [],
    },
    traces: kept.map(() => 'list'),
    searches: kept.flatMap(({ scan }, trace) =>
      scan === undefined ? [] : [{ trace, scan, decides: false }],
    ),
    rows: 'read',
    ...(matches ? { matches } : {}),
  };
}

function standsAlone(query: SelectStatement, catalog: Catalog, ctes: ReadonlySet<string>): boolean {
  return (
    query.with === undefined &&
    operandsOf(query.body).every((operand) => operand.type === 'core' && isClosed(operand, catalog, ctes))
  );
}

const lockReads = ({ expression, ...rest }: Reread): Reread => ({
  ...rest,
  expression: withSharedLocks(expression),
});

/** The same tree with LOCK IN SHARE MODE in every query: an outer clause does not reach subqueries. */
export function withSharedLocks<T>(tree: T): T {
  if (Array.isArray(tree)) return tree.map(withSharedLocks) as T;
  if (typeof tree !== 'object' || tree === null) return tree;
  const mapped = Object.fromEntries(
    Object.entries(tree).map(([key, value]) => [key, withSharedLocks(value as unknown)]),
  );
  return (
    mapped.type === 'select' ? { ...mapped, locks: [{ strength: 'share mode', of: [] }] } : mapped
  ) as T;
}

/** Whether the locking SELECT before a DELETE picks the rows the DELETE will pick although its condition reads others. */
export function picksAgain(where: Expression | undefined, way: CompanionWay, catalog: Catalog): boolean {
  const queries = subqueriesOf(where);
  if (queries.length === 0) return true;
  if (way === 'none' || !isRepeatable(where)) return false;
  return way === 'snapshot' || queries.every((query) => standsAlone(query, catalog, new Set()));
}
