/**
 * Transactions that fail and should not: a statement, or a COMMIT, ends with an error of none of the classes that a database may answer
 * with (a conflict, a constraint, its data, a time limit), and the same works without a transaction. It counts if the
 * transactions fail again when they run again.
 *
 * A statement is compared with itself on the rows that it saw (`same-rows.ts`), a COMMIT with the statements of its transaction, one by
 * one on the initial state.
 */
import type { ScheduledCase } from '../../cases/index.js';
import type { History, Operation } from '../../histories/index.js';
import { refKey } from '../instrument/marks.js';
import { planOf } from '../instrument/strip-results.js';
import { uncomparable } from './compare.js';
import type { Execute } from './refine.js';
import { alone, onSameRows } from './same-rows.js';
import type { CasePlan } from './statement-plan.js';
import { readRuns, type StatementRun } from './statement-runs.js';

/** A failure, and the program without transactions that it is compared with. */
interface Failure {
  /** Of the same statement in every run. */
  readonly key: string;
  readonly operation: Operation;
  readonly without: ScheduledCase | string;
}

export type FailureVerdict =
  | { readonly kind: 'finding'; readonly operation: Operation }
  | { readonly kind: 'unknown'; readonly why: string };

/** What is to be said of statements that failed in a run; undefined: nothing. */
export async function judgeFailures(
  history: History,
  plan: CasePlan,
  execute: Execute,
): Promise<FailureVerdict | undefined> {
  const open: string[] = [];
  for (const failure of failuresIn(history, plan)) {
    const [first, why] = await works(failure, execute);
    if (why !== undefined) open.push(why);
    if (!first) continue;
    const again = failuresIn(await execute(plan.program), plan).find(({ key }) => key === failure.key);
    const [second] = again === undefined ? [false] : await works(again, execute);
    if (second) return { kind: 'finding', operation: failure.operation };
    open.push('a failure inside a transaction did not come back');
  }
  return open.length === 0 ? undefined : { kind: 'unknown', why: open[0]! };
}

/** Whether it works without a transaction, or why nobody knows. */
async function works({ without }: Failure, execute: Execute): Promise<readonly [boolean, string?]> {
  if (typeof without === 'string') return [false, `a statement failed, and ${without}`];
  const { operations } = await execute(without);
  const why = uncomparable(operations);
  return why === undefined ? [operations.every(({ outcome }) => outcome === 'ok')] : [false, why];
}

function failuresIn(history: History, plan: CasePlan): Failure[] {
  const { runs } = readRuns(history, plan.instrumented);
  const statements = runs
    .filter(({ state }) => state === 'refused')
    .map(
      (run): Failure => ({ key: refKey(run.ref), operation: run.operation, without: onSameRows(run, plan) }),
    );
  return [...statements, ...failedCommits(history, plan, runs)];
}

function failedCommits({ operations }: History, plan: CasePlan, runs: readonly StatementRun[]): Failure[] {
  const failed = operations.filter(
    ({ kind, error, blocked }) => kind === 'commit' && error?.class === 'other' && blocked !== true,
  );
  return failed.flatMap((operation): Failure[] => {
    const own = runs.filter(({ transaction }) => transaction === operation.transaction);
    const commit = planOf(operation, plan.instrumented);
    // What another statement has doomed is that statement's failure, be it a ROLLBACK TO that the engine does not have (MyRocks).
    const isDoomed = operations.some(
      (other) =>
        other !== operation && other.transaction === operation.transaction && other.outcome === 'error',
    );
    if (commit === undefined || isDoomed || own.some(({ state }) => state !== 'seen')) return [];
    const sent = own.map((run) => run.operation.sql!);
    return [{ key: refKey(commit.original), operation, without: alone(plan.program.case, sent) }];
  });
}
