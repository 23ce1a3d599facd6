/** DELETE that says which rows it took and what it read to choose them: see `trace-write.ts` and `trace-reads.ts`. */
import type { DeleteStatement, FromItem, SelectCore } from '../../sql/index.js';
import { findTable } from './catalog.js';
import { column, readsColumn } from './marks.js';
import { type Companion, deleteReads, picksAgain, readCompanion, withSharedLocks } from './trace-reads.js';
import {
  asItem,
  lockingSelect,
  markItems,
  notesForm,
  sameName,
  scanOf,
  type TracedWrite,
  type WriteContext,
} from './trace-write.js';
import { leafName, leavesOf } from './tree.js';

export function traceDelete(statement: DeleteStatement, context: WriteContext): TracedWrite {
  const { catalog, token, deletes, inTransaction, way } = context;
  const { dialect } = catalog;
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
  const { where } = statement;
  const reads = deleteReads(
    statement,
    targets.flatMap((leaf) => leafName(leaf) ?? []),
    catalog,
  );
  const whole = statement.mode === undefined && statement.limit === undefined;
  const from = [statement.table, ...statement.using];
  const searching = {
    from,
    ...(where === undefined ? {} : { where }),
    ...(statement.with === undefined ? {} : { with: statement.with }),
    takesAll: whole && statement.targets === undefined,
  };
  const before = inTransaction ? readCompanion(searching, way, catalog) : undefined;
  const scan = leaves.length > 1 || !whole ? undefined : scanOf(statement);
  const traced = { tables, ...(scan === undefined ? {} : { scan }) };
  const notes = findTable(catalog, target.name)!.notes ? 1 : 0;
  if (statement.returning !== undefined || (deletes === 'returning' && statement.targets === undefined)) {
    const name = returningName(target, context);
    // DuckDB returns neither subqueries nor columns of other tables; elsewhere than in PostgreSQL, CTEs end before.
    const beside =
      dialect === 'duckdb' || (dialect !== 'postgres' && statement.with !== undefined) ? [] : reads;
    const items = [
      ...markItems(name),
      ...[readsColumn].slice(0, notes).map((each) => asItem(column(each, name))),
    ];
    const lists = beside.map(({ expression }) => asItem(expression));
    return {
      ...traced,
      statement: { ...statement, returning: [...(statement.returning ?? []), ...items, ...lists] },
      traces: ['pair', ...notesForm(notes), ...beside.map(() => 'list' as const)],
      searches: beside.flatMap(({ scan: search }, i) =>
        search === undefined ? [] : [{ trace: 1 + notes + i, scan: search, decides: false }],
      ),
      companions: [before],
      unseen: reads.length > 0 && beside.length === 0 && before === undefined,
    };
  }
  // LIMIT may pick other rows the second time.
  const samePick = picksAgain(where, way, catalog) && statement.limit === undefined;
  if (!inTransaction || !samePick || targets.length > 1)
    return {
      ...traced,
      statement,
      unnamed: true,
      companions: [before],
      unseen: reads.length > 0 && before === undefined,
    };
  const unread = before === undefined ? reads : [];
  const locks = <T>(tree: T): T => (way === 'locking' ? withSharedLocks(tree) : tree);
  const body: SelectCore = {
    type: 'core',
    distinct: false,
    items: [
      ...markItems(leafName(target)),
      ...[readsColumn].slice(0, notes).map((each) => asItem(column(each, leafName(target)))),
      ...unread.map(({ expression }) => asItem(locks(expression))),
    ],
    from,
    ...(where === undefined ? {} : { where: locks(where) }),
    groupBy: [],
  };
  const naming: Companion = {
    query: lockingSelect(body, dialect, statement.with),
    traces: ['pair', ...notesForm(notes), ...unread.map(() => 'list' as const)],
    searches: [],
    rows: 'deleted',
  };
  return { ...traced, statement, companions: [before, naming] };
}

/** MariaDB's RETURNING knows no table names. */
function returningName(target: FromItem & { type: 'table' }, { catalog }: WriteContext): string | undefined {
  return catalog.dialect === 'mysql' ? undefined : leafName(target);
}
