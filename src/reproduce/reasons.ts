/**
 * Why one statement stands before another, for every conflicting pair that overlapped in the raw run: where times alone
 * did not decide. Pairs that a third statement between them settles are left out.
 */
import type { OrderReason } from '../cases/index.js';
import type { Batches } from './batches.js';
import { conflictsOf, read, snapshot } from './conflicts.js';
import { type Because, because, type Evidence } from './evidence.js';
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
  const told = new Set<number>();
  const tell = (before: number, after: number, why: string) => {
    const pair = before * steps.count + after;
    if (told.has(pair)) return;
    told.add(pair);
    reasons.push({ before: refOf(steps, before), after: refOf(steps, after), why });
  };
  for (const [before, after] of learnt)
    if (batches.of[before]! < batches.of[after]!)
      tell(before, after, 'a replay with the other order parted from the history');
  for (let i = 0; i < edges.from.length; i++) {
    const before = edges.from.at(i);
    const after = edges.to.at(i);
    if (batches.of[before]! >= batches.of[after]!) continue; // given up for stronger reasons
    tell(before, after, sentence(edges.why.at(i) as Because, objects.names[edges.object.at(i)]!));
  }
  choices.forEach((choice, i) => {
    for (const { from, to, why, object } of choice.alternatives[holds[i]!] ?? [])
      if (overlap(steps, from, to)) tell(from, to, sentence(why, objects.names[object]!));
  });
  for (const [before, after, object, readFirst] of overlappingPairs(evidence, batches)) {
    const name = objects.names[object]!;
    tell(
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
  const recent: (number[] | undefined)[] = new Array(objects.names.length).fill(undefined);
  const recentRoles: (number[] | undefined)[] = new Array(objects.names.length).fill(undefined);
  const onlyReads = read | snapshot;
  for (const step of batches.steps) {
    for (let i = first[step]!; i < first[step + 1]!; i++) {
      const at = object[i]!;
      const mask = conflictsOf(roles[i]!);
      let list = recent[at];
      let listRoles = recentRoles[at]!;
      if (list === undefined) {
        list = [];
        listRoles = [];
        recent[at] = list;
        recentRoles[at] = listRoles;
      }
      let kept = 0;
      for (let j = 0; j < list.length; j++) {
        const other = list[j]!;
        const theirs = listRoles[j]!;
        const conflicts = (mask & theirs) !== 0;
        if (conflicts && overlap(steps, other, step)) yield [other, step, at, (theirs & ~onlyReads) === 0];
        const covered = (conflictsOf(theirs) & ~mask) === 0;
        if (covered && (conflicts || steps.session[other] === steps.session[step])) continue;
        list[kept] = other;
        listRoles[kept++] = theirs;
      }
      list[kept] = step;
      listRoles[kept] = roles[i]!;
      if (list.length > kept + 1) {
        list.length = kept + 1;
        listRoles.length = kept + 1;
      }
    }
  }
}

function overlap(steps: Steps, a: number, b: number): boolean {
  if (steps.session[a] === steps.session[b]) return false;
  return steps.end[a]! >= steps.start[b]! && steps.end[b]! >= steps.start[a]!;
}
