/**
 * Statements that failed because of another transaction, and whose failure an order can bring back: writing a row
 * that changed after one's snapshot (first updater wins), or that another transaction holds where engines fail instead
 * of waiting.
 *
 * Such a failure names its rows but not its opponent. Candidates are the transactions that had locked the row by then and
 * ended after the snapshot was taken. Each is an alternative; the one whose times leave least to guess comes first.
 *
 * - Engines that wait: the opponent committed, after the loser's snapshot. The loser stands after that COMMIT, at a moment when
 *   nobody held the row; or it was sent before the COMMIT and waited, and so it is again (always, if it took its snapshot with the
 *   very statement that failed).
 * - Engines that fail at once: the loser stands after the opponent's write and before its ROLLBACK; or, if it
 *   committed, the loser's snapshot stands before that COMMIT.
 */

import type { Mechanism } from '../contracts/index.js';
import type { OrderStepId, RowId, TransactionId } from '../ids.js';
import { type Image, lastStarted, type Satisfies } from '../rows/index.js';
import { because, type Chain, type Choice, explains, type Order } from './evidence.js';
import type { LockTable } from './locks.js';
import type { Steps } from './steps.js';

export interface FailedWrite {
  readonly step: OrderStepId;
  readonly transaction: TransactionId;
  readonly object: RowId;
  /** What the error tells: another held it (`held`), or had changed it since the snapshot (`changed`); absent: either. */
  readonly met?: 'held' | 'changed';
  /** What the row had to satisfy, in the snapshot, to be fought over. */
  readonly where?: Satisfies | undefined;
}

export interface FailedWriteContext {
  readonly steps: Steps;
  readonly locks: LockTable;
  readonly chainOf: (object: RowId) => Chain | undefined;
  readonly initial: (object: RowId) => Image;
  readonly snapshot: Int32Array;
  readonly mechanism: Mechanism;
  readonly endsIn: (transaction: TransactionId) => 'commit' | 'rollback' | 'unknown' | undefined;
  /** Steps that have to be sent while their lock is taken. */
  readonly waits: Set<number>;
}

/** More opponents than these are not tried. */
const mostAlternatives = 12;

/** The choices that failed statements leave open. */
export function failedWriteChoices(failed: readonly FailedWrite[], context: FailedWriteContext): Choice[] {
  const byStep = new Map<number, FailedWrite[]>();
  for (const write of failed) {
    const list = byStep.get(write.step);
    if (list === undefined) byStep.set(write.step, [write]);
    else list.push(write);
  }
  return [...byStep.values()].flatMap((writes) => choiceOf(writes, context) ?? []);
}

interface Opponent {
  readonly orders: readonly Order[];
  /** Orders that the raw run's times leave open. */
  readonly open: number;
  /** It was answered after the statement that lost to it: possible, but seldom. */
  readonly later: boolean;
}

function choiceOf(writes: readonly FailedWrite[], context: FailedWriteContext): Choice | undefined {
  const { step, transaction, object } = writes[0]!;
  const taken = context.snapshot[transaction]!;
  const snapshot = taken >= 0 && taken < step ? taken : step;
  const found = writes.flatMap((write) => [...opponents(write, snapshot, context)]);
  if (found.length === 0) return undefined;
  if (context.mechanism.writeConflict === 'waits' && snapshot === step) context.waits.add(step);
  found.sort((a, b) => Number(a.later) - Number(b.later) || a.open - b.open);
  const alternatives = found.slice(0, mostAlternatives).map(({ orders }) => orders);
  return { step, object, what: 'opponent', alternatives };
}

function* opponents(
  { object, step, transaction, met, where }: FailedWrite,
  snapshot: OrderStepId,
  context: FailedWriteContext,
): Generator<Opponent> {
  const { steps, locks, mechanism, endsIn } = context;
  const sequence = locks.sequence(object);
  for (let i = lastStarted(sequence, steps.spans, steps.end[step]!); i >= 0; i--) {
    const lockStep = sequence[i]!;
    const other = steps.transaction[lockStep]!;
    const ending = steps.endOf[other]!;
    if (ending >= 0 && steps.end[ending]! < steps.start[snapshot]!) return;
    if (other === transaction) continue;
    const chain = context.chainOf(object);
    const version = endsIn(other) === 'rollback' ? -1 : versionOf(chain, ending, steps);
    const published = version >= 0;
    if (published && where !== undefined) {
      const before = version === 0 ? context.initial(object) : chain!.image(version - 1);
      if (explains(before, { type: 'some', where }) === false) continue;
    }
    if (mechanism.writeConflict !== 'waits') {
      if (met !== 'changed') {
        const pairs: Pair[] = [[lockStep, step]];
        if (ending >= 0) pairs.push(published && met === undefined ? [snapshot, ending] : [step, ending]);
        yield* possible(pairs, object, steps);
      } else if (published) {
        yield* possible(
          [
            [snapshot, ending],
            [ending, step],
          ],
          object,
          steps,
        );
      }
    } else if (published && snapshot === step) {
      yield* waiting({ lockStep, step, ending }, object, steps);
    } else if (published) {
      // It got as far as looking at the row, so nobody held it then: it stands in a gap between two lockings.
      for (let gap = i; gap < sequence.length; gap++) {
        const released = steps.endOf[steps.transaction[sequence[gap]!]!]!;
        if (released < 0 || steps.start[released]! >= steps.end[step]!) break;
        const pairs: Pair[] = [
          [snapshot, ending],
          [released, step],
        ];
        if (gap + 1 < sequence.length) pairs.push([step, sequence[gap + 1]!]);
        yield* possible(pairs, object, steps);
      }
      yield* waiting({ lockStep, step, ending }, object, steps);
    }
  }
}

type Pair = [from: number, to: number];

/** It is sent while the opponent holds the row, and waits until that one commits; and so does all that its session sends after it. */
function* waiting(
  { lockStep, step, ending }: { lockStep: OrderStepId; step: OrderStepId; ending: OrderStepId },
  object: RowId,
  steps: Steps,
): Generator<Opponent> {
  if (steps.start[ending]! >= steps.end[step]!) return;
  const pairs: Pair[] = [
    [lockStep, step],
    [step, ending],
  ];
  if (step + 1 < steps.firstOf[steps.session[step]! + 1]!) pairs.push([ending, step + 1]);
  yield* possible(pairs, object, steps);
}

/** The pairs as orders, unless the raw run's times contradict one of them. */
function* possible(pairs: readonly Pair[], object: RowId, steps: Steps): Generator<Opponent> {
  const orders: Order[] = [];
  let open = 0;
  let later = false;
  for (const [from, to] of pairs) {
    if (steps.session[from] === steps.session[to]) continue;
    if (steps.start[from]! >= steps.end[to]!) return;
    if (steps.end[from]! >= steps.start[to]!) open++;
    if (steps.end[from]! > steps.end[to]!) later = true;
    orders.push({ from, to, why: because.conflict, object });
  }
  yield { orders, open, later };
}

/** Which version of the row the transaction that ended there left; −1: none. */
function versionOf(chain: Chain | undefined, ending: OrderStepId, steps: Steps): number {
  if (chain === undefined || ending < 0) return -1;
  const { versions } = chain;
  const started = steps.start[ending]!;
  for (let i = chain.newestPossible(started, steps.spans); i >= 0; i--) {
    if (versions[i] === ending) return i;
    if (steps.start[versions[i]!]! < started) return -1;
  }
  return -1;
}
