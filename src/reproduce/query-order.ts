/**
 * The orders that queries over whole tables prove: joins, aggregates, subqueries. Such a result names no row and no version. It is
 * evaluated on every state the tables may have had: COMMITs that overlap its snapshot may or may not be in it, so every prefix of
 * them, in the order of their answers, is a candidate (Pisco §4: interval candidates). The snapshot lies where the result fits.
 *
 * The prefixes are a guess, for COMMITs that overlap may have happened in another order than they were answered; so the orders
 * found are soft, and yield to what single rows show. Where tables are not known exactly nothing is said.
 */
import type { OrderStepId, RowId } from '../ids.js';
import { bagOf } from '../rows/index.js';
import { type EvaluatedRow, isUndecidable } from '../sql/index.js';
import { because, type Evidence, type Order, type Query } from './evidence.js';
import { scanLimit } from './mirror-state.js';
import type { Steps } from './steps.js';
import type { TableChanges } from './table-changes.js';

/** More overlapping COMMITs than these are not distinguished. */
const mostMoments = 16;
/** Rows looked at in all; beyond them queries are left to time. */
const workLimit = 20_000_000;

export function addQueryOrder(evidence: Evidence, changes: ReadonlyMap<number, TableChanges>): void {
  let work = 0;
  for (const query of evidence.queries) {
    const tables = query.tables.map((table) => changes.get(table)!);
    const count = tables.reduce((sum, { rows }) => sum + rows.length, 0);
    if (count > scanLimit || work > workLimit) continue;
    work += count;
    const commits = overlappingCommits(tables, query, evidence.steps);
    if (commits.length === 0 || commits.length > mostMoments) continue;
    work += count * commits.length;
    orderQuery(evidence, query, commits, changes);
  }
}

/** COMMITs of other sessions that changed a row of these tables and overlap the snapshot, in the order of their answers. */
function overlappingCommits(
  tables: readonly TableChanges[],
  { snapshot }: Query,
  { start, end, session }: Steps,
): number[] {
  const span = { start: start[snapshot]!, end: end[snapshot]! };
  const found = tables.flatMap((table) => {
    const changes: { row: RowId; publish: OrderStepId }[] = [];
    table.around(span, (row, publish, settled) => {
      // A newer version that was there before the snapshot hides those before it.
      if (settled >= span.start && session[publish] !== session[snapshot]) changes.push({ row, publish });
    });
    return changes.reverse().sort((a, b) => a.row - b.row);
  });
  return [...new Set(found.map(({ publish }) => publish))].sort((a, b) => end[a]! - end[b]!);
}

function orderQuery(
  evidence: Evidence,
  query: Query,
  commits: readonly number[],
  changes: ReadonlyMap<number, TableChanges>,
): void {
  const { step, snapshot } = query;
  const object = query.tables[0]!;
  const seen = bagOf(query.result);
  const runs: [number, number][] = [];
  for (let moment = 0; moment <= commits.length; moment++) {
    const unseen = new Set(commits.slice(moment));
    const states = new Map<number, EvaluatedRow[]>();
    for (const table of query.tables) {
      const rows = stateAt(evidence, query, changes.get(table)!, unseen);
      if (rows === undefined) return;
      states.set(table, rows);
    }
    const result = query.run((table) => states.get(table) ?? []);
    if (typeof result === 'string' || result.some((row) => row.some((cell) => isUndecidable(cell)))) return;
    if (bagOf(result) !== seen) continue;
    const run = runs.at(-1);
    if (run !== undefined && run[1] === moment - 1) run[1] = moment;
    else runs.push([moment, moment]);
  }
  const orders = runs.map(([first, last]): Order[] => [
    ...(first > 0 ? [{ from: commits[first - 1]!, to: snapshot, why: because.shows, object }] : []),
    ...(last < commits.length ? [{ from: snapshot, to: commits[last]!, why: because.misses, object }] : []),
  ]);
  if (orders.length === 1) for (const order of orders[0]!) evidence.edges.add(order, true);
  else if (orders.length > 1)
    evidence.choices.push({ step, object, what: 'version', alternatives: orders.toReversed() });
}

/** The rows a snapshot shows that misses some COMMITs; undefined: they are not all known. */
function stateAt(
  { objects, steps }: Evidence,
  { snapshot, own }: Query,
  changes: TableChanges,
  unseen: ReadonlySet<number>,
): EvaluatedRow[] | undefined {
  const found: EvaluatedRow[] = [];
  const time = steps.end[snapshot]!;
  for (const row of changes.rows) {
    const newest = changes.newestSent(row, time);
    const image =
      own.get(row) ??
      objects.imageOf(row, objects.chains[row]?.shown(time, steps.spans, unseen, newest) ?? -1);
    if (image === 'unknown') return undefined;
    if (image !== 'absent') found.push(image);
  }
  return found;
}
