/**
 * Removing parts one at a time until none can go: the end of every strategy, and what makes its result 1-minimal whatever
 * the predicate is like. A part that could not go may go once another has gone, so after each success the parts behind it
 * come first and those that failed come again; it is over when every part left has failed since the last success.
 * Answers already known cost nothing.
 *
 * From the last part to the first: what comes late depends on what comes early, rarely the other way round.
 */
import type { Subset } from '../case-model.js';
import { without } from '../dependencies.js';
import type { SubsetTrials } from './strategy.js';

/** `parts`: what to remove at a time; those no longer in the subset are passed over. */
export async function removeOneByOne(
  start: Subset,
  parts: readonly Subset[],
  trials: SubsetTrials,
): Promise<Subset> {
  let current = start;
  let left = partsOf(current, parts.toReversed());
  while (left.length > 0) {
    const base = current;
    const tried = left;
    const found = await trials.first(tried.length, (i) => without(base, tried[i]!));
    if (found < 0) break;
    current = without(base, tried[found]!);
    left = partsOf(current, [...tried.slice(found + 1), ...tried.slice(0, found)]);
  }
  return current;
}

/** Operations beyond which single removals start with pieces. */
const few = 12;

/**
 * Removes operations until none can go alone. Many of them are first removed in pieces of neighbours, halved from sweep to
 * sweep: where most can go, one at a time would take as many trials as there are operations.
 */
export async function removeSingles(start: Subset, trials: SubsetTrials): Promise<Subset> {
  let current = start;
  for (let size = start.length >> 1; size > 1 && current.length > few; size >>= 1) {
    let left = cut(current, Math.ceil(current.length / size)).toReversed();
    while (left.length > 0) {
      const base = current;
      const tried = left;
      const found = await trials.first(tried.length, (i) => without(base, tried[i]!));
      if (found < 0) break;
      current = without(base, tried[found]!);
      left = tried.slice(found + 1);
    }
  }
  return removeOneByOne(
    current,
    current.map((id) => [id]),
    trials,
  );
}

/** n pieces of almost equal length, in order. */
export function cut(subset: Subset, n: number): Subset[] {
  return Array.from({ length: n }, (_, i) =>
    subset.slice(Math.floor((i * subset.length) / n), Math.floor(((i + 1) * subset.length) / n)),
  ).filter((piece) => piece.length > 0);
}

function partsOf(subset: Subset, parts: readonly Subset[]): Subset[] {
  const alive = new Set(subset);
  return parts.filter((part) => part.some((id) => alive.has(id)));
}
