/**
 * The orders that queries over whole tables prove: joins, aggregates, subqueries. Such a result names no row and no version. It is
 * evaluated on every state the tables may have had: COMMITs that overlap its snapshot may or may not be in it, so every prefix of
 * them, in the order of their answers, is a candidate (Pisco §4: interval candidates). The snapshot lies where the result fits.
 *
 * The prefixes are a guess, for COMMITs that overlap may have happened in another order than they were answered; so the orders
 * found are soft, and yield to what single rows show. Where tables are not known exactly nothing is said.
 */
import type { RowId } from '../ids.js';
import { bagOf } from '../rows/index.js';
import { type EvaluatedRow, isUndecidable } from '../sql/index.js';
import { because, type Evidence, type Order, type Query } from './evidence.js';
import { scanLimit } from './mirror-state.js';

/** More overlapping COMMITs than these are not distinguished. */
const mostMoments = 16;
/** Rows looked at in all; beyond them queries are left to time. */
const workLimit = 20_000_000;

export function addQueryOrder(evidence: Evidence): void {
  if (evidence.queries.length === 0) return;
  const rowsByTable = new Map<number, number[]>();
  evidence.objects.tableOf.forEach((table, row) => {
    if (table < 0) return;
    const rows = rowsByTable.get(table);
    if (rows === undefined) rowsByTable.set(table, [row]);
    else rows.push(row);
  });
  let work = 0;
  for (const query of evidence.queries) {
    const rows = query.tables.flatMap((table) => rowsByTable.get(table) ?? []);
    if (rows.length > scanLimit || work > workLimit) continue;
    work += rows.length;
    const commits = evidence.objects.overlappingCommits(rows, query.snapshot, evidence.steps);
    if (commits.length === 0 || commits.length > mostMoments) continue;
    work += rows.length * commits.length;
    orderQuery(evidence, query, commits, (table) => rowsByTable.get(table) ?? []);
  }
}

function orderQuery(
  evidence: Evidence,
  query: Query,
  commits: readonly number[],
  rowsOf: (table: number) => readonly number[],
): void {
  const { step, snapshot } = query;
  const object = query.tables[0]!;
  const seen = bagOf(query.result);
  const runs: [number, number][] = [];
  for (let moment = 0; moment <= commits.length; moment++) {
    const unseen = new Set(commits.slice(moment));
    const states = new Map<number, EvaluatedRow[]>();
    for (const table of query.tables) {
      const rows = stateAt(evidence, query, rowsOf(table), unseen);
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
  rows: readonly RowId[],
  unseen: ReadonlySet<number>,
): EvaluatedRow[] | undefined {
  const found: EvaluatedRow[] = [];
  for (const row of rows) {
    const image = own.get(row) ?? objects.imageAt(row, snapshot, unseen, steps);
    if (image === 'unknown') return undefined;
    if (image !== 'absent') found.push(image);
  }
  return found;
}
