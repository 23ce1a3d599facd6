/**
 * Where a statement could stand towards the transactions that overlapped it, other than where it stands: what learning from
 * replays tries (`refine.ts`).
 *
 * For every other transaction that overlapped it, four places are possible: after the other ended; after its own snapshot but not
 * in it; while the other was open; before the other touched anything. Places that the recorded times rule out, or that the schedule
 * has already, are no candidates. Transactions that touched the same rows come first.
 */
import { inConflict } from './conflicts.js';
import type { Evidence } from './evidence.js';
import type { InferredOrder } from './infer.js';
import type { StepPair } from './order-graph.js';
import type { Steps } from './steps.js';

/** The places an operation could have towards the transactions around it, other than those it has; likeliest first. */
export function placements(
  evidence: Evidence,
  order: InferredOrder,
  operation: number,
): (readonly StepPair[])[] {
  const { steps } = evidence;
  const step = steps.source.indexOf(operation);
  if (step < 0) return [];
  const batchOf = batchNumbers(steps, order);
  const transaction = steps.transaction[step]!;
  const snapshot = snapshotOf(evidence, step);
  let own = step;
  while (own > 0 && steps.transaction[own - 1] === transaction) own--;
  const found: { readonly pairs: readonly StepPair[]; readonly rank: number }[] = [];
  for (const { first, touch, ending, close } of neighbours(evidence, step, snapshot, own)) {
    const places: (readonly StepPair[])[] = [[[step, touch]]];
    if (ending >= 0) {
      places.push(
        [[ending, snapshot]],
        [
          [touch, step],
          [step, ending],
        ],
      );
      if (snapshot !== step)
        places.push(
          [
            [snapshot, ending],
            [ending, step],
          ],
          [[ending, step]],
          [[snapshot, ending]],
        );
    } else places.push([[touch, step]]);
    if (first !== touch) places.push([[step, first]]);
    if (evidence.stamped) {
      places.push(
        [[first, own]],
        [[own, first]],
        [
          [own, first],
          [touch, step],
        ],
        [
          [first, own],
          [step, touch],
        ],
      );
    }
    for (const pairs of places) {
      if (!pairs.every(([from, to]) => steps.start[from]! < steps.end[to]!)) continue;
      const changes = pairs.filter(([from, to]) => batchOf[from]! >= batchOf[to]!);
      if (changes.length === 0) continue;
      const distance = Math.max(...changes.map(([from, to]) => batchOf[from]! - batchOf[to]!));
      found.push({ pairs, rank: close * 1_000_000 + distance });
    }
  }
  return found.sort((a, b) => a.rank - b.rank).map(({ pairs }) => pairs);
}

interface Neighbour {
  readonly first: number;
  /** Its first step that touched what the operation touches; else its first. */
  readonly touch: number;
  readonly ending: number;
  /** 0: it touched the same rows, 1: nothing in common. */
  readonly close: number;
}

/** The transactions that overlapped a step, or the step that fixed its snapshot. */
function* neighbours(
  { steps, accesses, stamped }: Evidence,
  step: number,
  snapshot: number,
  own: number,
): Generator<Neighbour> {
  const transaction = steps.transaction[step]!;
  const roles = new Map<number, number>();
  for (const at of [step, snapshot])
    for (let i = accesses.first[at]!; i < accesses.first[at + 1]!; i++)
      roles.set(accesses.object[i]!, (roles.get(accesses.object[i]!) ?? 0) | accesses.roles[i]!);
  const from = Math.min(steps.start[step]!, steps.start[snapshot]!, steps.start[stamped ? own : step]!);
  for (let first = 0; first < steps.count; ) {
    const other = steps.transaction[first]!;
    let last = first;
    while (last + 1 < steps.count && steps.transaction[last + 1] === other) last++;
    if (other !== transaction && steps.end[last]! >= from && steps.start[first]! <= steps.end[step]!) {
      let touch = -1;
      for (let at = first; at <= last && touch < 0; at++)
        for (let i = accesses.first[at]!; i < accesses.first[at + 1]!; i++)
          if (inConflict(roles.get(accesses.object[i]!) ?? 0, accesses.roles[i]!)) touch = at;
      yield {
        first,
        touch: touch < 0 ? first : touch,
        ending: steps.endOf[other]!,
        close: touch < 0 ? 1 : 0,
      };
    }
    first = last + 1;
  }
}

function snapshotOf({ needs, scans, snapshots, steps }: Evidence, step: number): number {
  const fixed = snapshots[steps.transaction[step]!]!;
  if (fixed >= 0 && fixed < step) return fixed;
  return (
    needs.find((one) => one.step === step)?.snapshot ??
    scans.find((one) => one.step === step)?.snapshot ??
    step
  );
}

function batchNumbers(steps: Steps, { schedule }: InferredOrder): Int32Array {
  const numbers = new Int32Array(steps.count);
  schedule.batches.forEach((batch, number) => {
    for (const [session, position] of batch) numbers[steps.firstOf[session]! + position] = number;
  });
  return numbers;
}
