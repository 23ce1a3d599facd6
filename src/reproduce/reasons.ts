/**
 * Why one statement stands before another, for every conflicting pair that overlapped in the raw run: where times alone
 * did not decide. Pairs that a third statement between them settles are left out.
 */
import type { OrderReason } from '../cases/index.js';
import type { Batches } from './batches.js';
import { read, snapshot } from './conflicts.js';
import { type Because, because, type Evidence } from './evidence.js';
import { LatestAccesses } from './latest-accesses.js';
import type { StepPair } from './order-graph.js';
import type { Solution } from './solve.js';
import { refOf, type Steps } from './steps.js';

export function orderReasons(
  evidence: Evidence,
  { batches, holds }: Solution,
  learnt: readonly StepPair[] = [],
): OrderReason[] {
  const { edges, steps, objects, choices } = evidence;
  const reasons: OrderReason[] = [];
  const given = new Set<number>();
  const give = (before: number, after: number, why: string) => {
    const pair = before * steps.count + after;
    if (given.has(pair)) return;
    given.add(pair);
    reasons.push({ before: refOf(steps, before), after: refOf(steps, after), why });
  };
  for (const [before, after] of learnt)
    if (batches.of[before]! < batches.of[after]!)
      give(before, after, 'a replay with the other order diverged from the history');
  for (let i = 0; i < edges.from.length; i++) {
    const before = edges.from.at(i);
    const after = edges.to.at(i);
    if (batches.of[before]! >= batches.of[after]!) continue; // given up for stronger reasons
    give(before, after, sentence(edges.why.at(i) as Because, objects.names[edges.object.at(i)]!));
  }
  choices.forEach((choice, i) => {
    for (const { from, to, why, object } of choice.alternatives[holds[i]!] ?? [])
      if (overlap(steps, from, to)) give(from, to, sentence(why, objects.names[object]!));
  });
  for (const [before, after, object, readFirst] of overlappingPairs(evidence, batches)) {
    const name = objects.names[object]!;
    give(
      before,
      after,
      readFirst
        ? `both concern ${name} and the one that reads goes first`
        : `both concern ${name} and it was answered first`,
    );
  }
  return reasons;
}

function sentence(why: Because, object: string): string {
  switch (why) {
    case because.lock:
      return `it gave up the lock on ${object} that the other got`;
    case because.shows:
      return `it published the version of ${object} that was read`;
    case because.misses:
      return `the version of ${object} that the other published was not seen`;
    case because.firstUpdater:
      return `the other's transaction overwrote ${object}, which takes a snapshot with this version`;
    case because.conflict:
      return `the conflict on ${object} needs this order`;
    case because.answered:
      return `both held ${object} at once, and it was answered first`;
    case because.scanLock:
      return `its transaction may have locked rows of ${object} in passing`;
    case because.time:
      return 'it was answered before the other was sent';
    default:
      return why satisfies never;
  }
}

/** Conflicting accesses next to each other in the schedule whose intervals overlap. */
function* overlappingPairs(
  { accesses, steps, objects }: Evidence,
  batches: Batches,
): Generator<readonly [before: number, after: number, object: number, readFirst: boolean]> {
  const { first, object, roles } = accesses;
  const placed = new LatestAccesses(objects.names.length);
  const onlyReads = read | snapshot;
  let step = 0;
  let found: { readonly other: number; readonly readFirst: boolean }[] = [];
  const meet = (other: number, theirs: number, conflicts: boolean) => {
    if (conflicts && overlap(steps, other, step))
      found.push({ other, readFirst: (theirs & ~onlyReads) === 0 });
    return conflicts || steps.session[other] === steps.session[step];
  };
  for (const next of batches.steps) {
    step = next;
    for (let i = first[step]!; i < first[step + 1]!; i++) {
      placed.add(object[i]!, step, roles[i]!, meet);
      for (const { other, readFirst } of found) yield [other, step, object[i]!, readFirst];
      if (found.length > 0) found = [];
    }
  }
}

function overlap(steps: Steps, a: number, b: number): boolean {
  if (steps.session[a] === steps.session[b]) return false;
  return steps.end[a]! >= steps.start[b]! && steps.end[b]! >= steps.start[a]!;
}
