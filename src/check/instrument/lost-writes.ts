/**
 * Writes that a committed transaction made and that are nowhere to be found. After the run the observer has seen every
 * row; the deleter of a row saw what was written to it. So each mark of a committed statement is in some
 * chain, as often as the database said it changed rows, and no chain goes on past the final state.
 *
 * Says nothing where rows may go unnoticed: tables with foreign-key actions, deletes that could not name their rows,
 * sessions whose fate is unknown.
 */

import type { History } from '../../histories/index.js';
import type { Value } from '../../sql/index.js';
import { counted } from '../../words.js';
import { ofData, phrase } from '../explanation.js';
import { absent, values } from '../observation.js';
import type { Instrumented } from './instrumented.js';
import { initialWriter, listOf, type RowProblem } from './list-reader.js';
import { parseWriteList, refKey } from './marks.js';
import type { RowChain, RowChains } from './row-chains.js';
import type { RowEvents } from './row-event-types.js';
import { planOf } from './strip-results.js';

type After = NonNullable<RowEvents['after']>;

export function findLostWrites(
  history: History,
  events: RowEvents,
  { chains }: Pick<RowChains, 'chains'>,
  instrumented: Instrumented,
): RowProblem[] {
  const { after } = events;
  if (after === undefined || [...events.transactions.values()].some(({ status }) => status === 'unknown'))
    return [];
  const skipped = unnoticedTables(history, events, instrumented);
  return [
    ...chains.flatMap((chain) =>
      skipped.has(chain.table) ? [] : lostVersion(chain, events, after.tables.get(chain.table)),
    ),
    ...lostMarks(chains, events, after, skipped),
  ];
}

/** Tables in which rows may go unnoticed. */
function unnoticedTables(history: History, events: RowEvents, instrumented: Instrumented): Set<string> {
  const tables = new Set(instrumented.tables.filter(({ actions }) => actions).map(({ name }) => name));
  const named = namedRows(history, events, instrumented);
  const replacements = replacing(instrumented);
  for (const { plan, effect, count } of events.writes.values()) {
    if (effect === 'undone') continue;
    const key = refKey(plan.original);
    // A companion and its statement may disagree if something came between: then rows were deleted that nobody named.
    // REPLACE does not report how many rows it deleted.
    const known = plan.write.deletes ? count === (named.get(key) ?? 0) : !replacements.has(key);
    if (plan.write.unnamed || !known) for (const table of plan.write.tables) tables.add(table);
  }
  return tables;
}

/** A row whose final state is not the last version of its chain. */
function lostVersion(
  { rid, tokens, writers, deleted }: RowChain,
  events: RowEvents,
  rows: ReadonlyMap<string, Value> | undefined,
): RowProblem[] {
  if (rows === undefined) return [];
  const final = rows.get(rid);
  if (deleted !== undefined) {
    if (final === undefined) return [];
    return [
      {
        kind: 'lost-write',
        rid,
        transaction: deleted.transaction,
        operation: deleted.operation,
        seen: values(String(final)),
        allowed: [absent],
        detail: ['it deleted the row and committed, and the row is still there at the end'],
      },
    ];
  }
  const last = parseWriteList(final ?? null)?.length ?? 0;
  const writer = writers[last];
  if (last >= tokens.length || writer === undefined) return [];
  const run = events.writes.get(tokens[last]!);
  return [
    {
      kind: 'lost-write',
      rid,
      transaction: writer,
      ...(run === undefined ? {} : { operation: run.operation }),
      seen: final === undefined ? absent : values(String(final)),
      allowed: [listOf(tokens)],
      detail:
        writer === initialWriter
          ? ['nobody deleted the row, and it is gone at the end']
          : ['it wrote the row and committed, others saw it, and it is not there at the end'],
    },
  ];
}

/** Statements whose mark is in fewer rows than the database said they changed. */
function lostMarks(
  chains: readonly RowChain[],
  { writes, transactions }: RowEvents,
  after: After,
  skipped: ReadonlySet<string>,
): RowProblem[] {
  const marks = new Map<string, number>();
  for (const { tokens } of chains)
    for (const token of new Set(tokens)) marks.set(token, (marks.get(token) ?? 0) + 1);
  return [...writes].flatMap(([token, run]): RowProblem[] => {
    const { write } = run.plan;
    const committed = transactions.get(run.transaction)?.status === 'committed';
    if (!committed || run.effect !== 'done' || !write.counted || run.count === undefined) return [];
    // What is counted writes one table.
    const table = write.tables[0]!;
    if (skipped.has(table) || !after.tables.has(table)) return [];
    const found = marks.get(token) ?? 0;
    if (found >= run.count) return [];
    return [
      {
        kind: 'lost-write',
        rid: '',
        transaction: run.transaction,
        operation: run.operation,
        seen: values(`${found} of ${run.count}`),
        detail: phrase`the database reported that it wrote ${counted(run.count, 'row')} of ${ofData(table)}, and it committed; ${found === 0 ? 'none was' : `only ${found} of them were`} ever seen`,
      },
    ];
  });
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
