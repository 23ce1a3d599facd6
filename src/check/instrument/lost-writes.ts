/**
 * Writes that a committed transaction made and that are nowhere to be found. After the run the observer has seen every
 * row; a row that was deleted told its deleter what was written to it. So each mark of a committed statement is in some
 * chain, as often as the database said it changed rows, and no chain goes on past the final state.
 *
 * Says nothing where rows may go unnoticed: tables with foreign-key actions, deletes that could not name their rows,
 * sessions whose fate is unknown.
 */
import type { Instrumented } from './instrumented.js';
import { initialWriter, type RowProblem } from './list-reader.js';
import { parseWriteList } from './marks.js';
import type { RowChains } from './row-chains.js';
import type { RowEvents } from './row-events.js';

export function findLostWrites(
  events: RowEvents,
  { chains }: Pick<RowChains, 'chains'>,
  instrumented: Instrumented,
): RowProblem[] {
  const problems: RowProblem[] = [];
  const { after } = events;
  if (after === undefined || [...events.transactions.values()].some(({ status }) => status === 'unknown'))
    return problems;
  const leaky = new Set(instrumented.tables.filter(({ actions }) => actions).map(({ name }) => name));
  for (const { plan, effect } of events.writes.values()) {
    if (plan.write.unnamed && effect !== 'undone') for (const table of plan.write.tables) leaky.add(table);
  }
  const marks = new Map<string, number>();
  for (const { rid, table, tokens, writers, deleted } of chains) {
    for (const token of new Set(tokens)) marks.set(token, (marks.get(token) ?? 0) + 1);
    const rows = after.tables.get(table);
    if (rows === undefined || leaky.has(table)) continue;
    const final = rows.get(rid);
    if (deleted !== undefined) {
      if (final === undefined) continue;
      problems.push({
        kind: 'lost-write',
        rid,
        transaction: deleted.transaction,
        operation: deleted.operation,
        seen: String(final),
        detail: 'it deleted the row and committed, and the row is still there at the end',
      });
      continue;
    }
    const last = parseWriteList(final ?? null)?.length ?? 0;
    const writer = writers[last];
    if (last >= tokens.length || writer === undefined) continue;
    const seen = final === undefined ? 'no row' : String(final);
    const run = events.writes.get(tokens[last]!);
    problems.push({
      kind: 'lost-write',
      rid,
      transaction: writer,
      ...(run === undefined ? {} : { operation: run.operation }),
      seen,
      detail:
        writer === initialWriter
          ? 'nobody deleted the row, and it is gone at the end'
          : 'it wrote the row and committed, others saw it, and it is not there at the end',
    });
  }
  for (const [token, run] of events.writes) {
    const { write } = run.plan;
    const committed = events.transactions.get(run.transaction)?.status === 'committed';
    if (!committed || run.effect !== 'done' || !write.counted || run.count === undefined) continue;
    // What is counted writes one table.
    const table = write.tables[0]!;
    if (leaky.has(table) || !after.tables.has(table)) continue;
    const found = marks.get(token) ?? 0;
    if (found >= run.count) continue;
    problems.push({
      kind: 'lost-write',
      rid: '',
      transaction: run.transaction,
      operation: run.operation,
      seen: `${found} of ${run.count}`,
      detail: `the database said that it wrote ${run.count} rows of ${table}, and committed; only ${found} were ever seen`,
    });
  }
  return problems;
}
