/**
 * Writes that a committed transaction made and that are nowhere to be found. After the run the observer has seen every
 * row; a row that was deleted told its deleter what was written to it. So each mark of a committed statement is in some
 * chain, as often as the database said it changed rows, and no chain goes on past the final state.
 *
 * Says nothing where rows may go unnoticed: tables with foreign-key actions, deletes that could not name their rows,
 * sessions whose fate is unknown.
 */

import type { History } from '../../histories/index.js';
import { counted } from '../../words.js';
import { ofData, phrase } from '../explanation.js';
import { absent, values } from '../observation.js';
import type { Instrumented } from './instrumented.js';
import { initialWriter, listOf, type RowProblem } from './list-reader.js';
import { parseWriteList, refKey } from './marks.js';
import type { RowChains } from './row-chains.js';
import type { RowEvents } from './row-event-types.js';
import { planOf } from './strip-results.js';

export function findLostWrites(
  history: History,
  events: RowEvents,
  { chains }: Pick<RowChains, 'chains'>,
  instrumented: Instrumented,
): RowProblem[] {
  const problems: RowProblem[] = [];
  const { after } = events;
  if (after === undefined || [...events.transactions.values()].some(({ status }) => status === 'unknown'))
    return problems;
  const leaky = new Set(instrumented.tables.filter(({ actions }) => actions).map(({ name }) => name));
  const named = namedRows(history, events, instrumented);
  const replacements = replacing(instrumented);
  for (const { plan, effect, count } of events.writes.values()) {
    if (effect === 'undone') continue;
    const key = refKey(plan.original);
    // A companion and its statement may disagree if something came between: then rows went that nobody named. What
    // REPLACE reports does not tell how many it took away.
    const known = plan.write.deletes ? count === (named.get(key) ?? 0) : !replacements.has(key);
    if (plan.write.unnamed || !known) for (const table of plan.write.tables) leaky.add(table);
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
        seen: values(String(final)),
        allowed: [absent],
        detail: ['it deleted the row and committed, and the row is still there at the end'],
      });
      continue;
    }
    const last = parseWriteList(final ?? null)?.length ?? 0;
    const writer = writers[last];
    if (last >= tokens.length || writer === undefined) continue;
    const seen = final === undefined ? absent : values(String(final));
    const run = events.writes.get(tokens[last]!);
    problems.push({
      kind: 'lost-write',
      rid,
      transaction: writer,
      ...(run === undefined ? {} : { operation: run.operation }),
      seen,
      allowed: [listOf(tokens)],
      detail:
        writer === initialWriter
          ? ['nobody deleted the row, and it is gone at the end']
          : ['it wrote the row and committed, others saw it, and it is not there at the end'],
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
      seen: values(`${found} of ${run.count}`),
      detail: phrase`the database reported that it wrote ${counted(run.count, 'row')} of ${ofData(table)}, and it committed; ${found === 0 ? 'none was' : `only ${found} of them were`} ever seen`,
    });
  }
  return problems;
}

/** By original statement: how many rows it, or its companion, named as deleted. */
function namedRows(history: History, events: RowEvents, instrumented: Instrumented): Map<string, number> {
  const named = new Map<string, number>();
  for (const read of events.reads) {
    if (read.what !== 'deleted') continue;
    const key = refKey(planOf(history.operations[read.operation]!, instrumented)!.original);
    named.set(key, (named.get(key) ?? 0) + 1);
  }
  return named;
}

/** Statements that take the place of rows: a companion looked for them before. */
function replacing({ plans }: Instrumented): Set<string> {
  const companions = plans.flat().filter(({ role, rows }) => role === 'companion' && rows === 'deleted');
  return new Set(companions.map(({ original }) => refKey(original)));
}
