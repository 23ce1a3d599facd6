/**
 * Replays: the program of a history sent again, by its inferred batches or in one of the two ways the paper compares with
 * (Pisco §7): one statement at a time in the same order (`sequential`), or with no order at all (`random`).
 *
 * What a replay brings is data, however it goes: each operation of the raw run is compared with its twin, and the first
 * that differs, in the order of the replay, says where and why the runs diverge. Statements are sent as recorded, locks
 * included. A schedule that cannot run ends by the executor's time limits and is reported as infeasible.
 */
import { type ScheduledCase, totalOrder } from '../cases/index.js';
import { type RunOptions, runFree, runScheduled } from '../execute/index.js';
import type { History, Operation } from '../histories/index.js';
import type { Scratch } from '../targets/index.js';
import { type Difference, differenceOf, isStuck } from './compare.js';
import type { InferredOrder } from './infer.js';

export const replayModes = ['batch', 'sequential', 'random'] as const;
export type ReplayMode = (typeof replayModes)[number];

export interface ReplayReport {
  readonly mode: ReplayMode;
  readonly history: History;
  /** Statements sent and answered again; those left out of the schedule do not count. */
  readonly compared: number;
  readonly same: number;
  /** The earliest in the replay's own order; a statement that was not sent counts where its session stopped. */
  readonly firstDifference?: Difference;
  /** Of the operations that differ the one that was answered first in the raw run. */
  readonly earliest?: number;
  /** All differences, up to a limit. */
  readonly differences: readonly Difference[];
  /** Why the schedule could not run as it is: statements that waited until a limit, deadlocks. */
  readonly infeasible?: string;
}

const mostDifferences = 100;

/** Runs the program of an inferred order again and compares each operation with the raw run. */
export async function replay(
  scratch: Scratch,
  inferred: InferredOrder,
  mode: ReplayMode,
  options: RunOptions,
): Promise<ReplayReport> {
  const { case: program, schedule } = replayProgram(inferred, mode);
  const history =
    schedule === undefined
      ? await runFree(scratch, program, options)
      : await runScheduled(scratch, { case: program, schedule }, options);
  return compareReplay(inferred, mode, history);
}

/** What is sent in a replay; without a schedule: freely. */
export function replayProgram({ case: program, schedule }: InferredOrder, mode: ReplayMode): ScheduledCase {
  switch (mode) {
    case 'random':
      return { case: program };
    case 'sequential':
      return { case: program, schedule: { ...schedule, ...totalOrder(schedule.batches.flat()) } };
    case 'batch':
      return { case: program, schedule };
    default:
      return mode satisfies never;
  }
}

/** Compares a replay's history with the raw run. */
export function compareReplay(inferred: InferredOrder, mode: ReplayMode, history: History): ReplayReport {
  const { sources, raw } = inferred;
  const dialect = raw.header.dialect ?? 'postgres';
  const twins: (Operation | undefined)[][] = sources.map((list) => new Array(list.length).fill(undefined));
  for (const op of history.operations) if (op.statement) twins[op.statement[0]]![op.statement[1]] = op;
  const skipped = new Set(inferred.leftOut.map(({ operation }) => operation));
  const differences: Difference[] = [];
  let first: { readonly at: number; readonly difference: Difference } | undefined;
  let compared = 0;
  let same = 0;
  let infeasible: string | undefined;
  let earliest: number | undefined;
  sources.forEach((list, session) => {
    let reached = 0;
    list.forEach((source, position) => {
      const again = twins[session]![position];
      reached = again?.start ?? reached;
      if (source < 0 || skipped.has(source)) return;
      const before = raw.operations[source]!;
      compared++;
      const found = differenceOf(before, again, dialect);
      if (found === undefined) {
        same++;
        return;
      }
      if (earliest === undefined || source < earliest) earliest = source;
      const name = raw.header.sessions[session]!;
      const difference: Difference = {
        operation: source,
        session: name,
        sql: before.sql ?? before.kind,
        ...found,
      };
      if (differences.length < mostDifferences) differences.push(difference);
      if (first === undefined || reached < first.at) first = { at: reached, difference };
      const failed = found.kind === 'error' || found.kind === 'not answered';
      if (failed && isStuck(again!)) infeasible ??= `${name}: ${difference.sql}: ${found.why}`;
    });
  });
  return {
    mode,
    history,
    compared,
    same,
    differences,
    ...(first === undefined ? undefined : { firstDifference: first.difference }),
    ...(earliest === undefined ? undefined : { earliest }),
    ...(infeasible === undefined ? undefined : { infeasible }),
  };
}
