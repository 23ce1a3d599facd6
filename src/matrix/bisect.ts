/**
 * In which versions does a bug show? The first bad and the first good version, found with few runs.
 *
 * Versions are numbered from the oldest. A bug that one release brought and a later one fixed shows in an interval of them. Some
 * versions cannot be tried at all (the case's SQL is too new, the driver does not load): they are passed over, and the answer says
 * which lie between two neighbours that could be tried.
 *
 * 1. A version that shows it is needed: the one where it was found, the newest, the oldest, then ever finer steps between them.
 * 2. Below it, the oldest version that can be tried is asked. If that one shows it too, nobody knows which one brought it. If not, the
 *    change lies between the two, and halving finds it: it takes a logarithm of tries, and one more for each that cannot be tried.
 * 3. Above it, the same from the newest.
 *
 * What is found is a real change in any case: the two versions at it were tried, and only versions that cannot be tried lie between.
 * If the bug comes and goes more than once, it is one of several changes, which halving cannot know; a full matrix shows them all.
 */

import type { BadInterval, Probe } from '../affected-versions.js';

/** Yields the numbers of versions to try, and returns the interval; undefined: no version shows it. */
export function* bisectVersions(
  count: number,
  found?: number,
): Generator<number, BadInterval | undefined, Probe> {
  const probes = new Map<number, Probe>();
  function* ask(at: number): Generator<number, Probe, Probe> {
    const known = probes.get(at);
    if (known !== undefined) return known;
    const answer = yield at;
    probes.set(at, answer);
    return answer;
  }
  let bad: number | undefined;
  for (const at of searchOrder(count, found)) {
    if ((yield* ask(at)) !== 'bad') continue;
    bad = at;
    break;
  }
  if (bad === undefined) return undefined;
  const below = yield* findChange(bad, -1, count, ask);
  const above = yield* findChange(bad, 1, count, ask);
  return {
    firstBad: below.bad,
    lastBad: above.bad,
    ...(below.good !== undefined && { goodBefore: below.good }),
    ...(above.good !== undefined && { goodAfter: above.good }),
  };
}

/** Where it was found, both ends, then the middles of what lies between, the larger gaps first. */
function* searchOrder(count: number, found: number | undefined): Generator<number> {
  if (count === 0) return;
  if (found !== undefined) yield found;
  yield count - 1;
  yield 0;
  const gaps: (readonly [number, number])[] = [[0, count - 1]];
  for (const [low, high] of gaps) {
    if (high - low < 2) continue;
    const middle = Math.floor((low + high) / 2);
    yield middle;
    gaps.push([low, middle], [middle, high]);
  }
}

type Ask = (at: number) => Generator<number, Probe, Probe>;

/** From a bad version towards one end: the last bad one on the way to the nearest change, and the good one behind it. */
function* findChange(
  start: number,
  step: 1 | -1,
  count: number,
  ask: Ask,
): Generator<number, { readonly bad: number; readonly good?: number }, Probe> {
  let bad = start;
  let good: number | undefined;
  for (let end = step < 0 ? 0 : count - 1; end !== start; end -= step) {
    const answer = yield* ask(end);
    if (answer === 'unknown') continue;
    if (answer === 'bad') return { bad: end };
    good = end;
    break;
  }
  if (good === undefined) return { bad };
  let nearest = good;
  for (;;) {
    const next: Answered | undefined = yield* askBetween(bad, nearest, ask);
    if (next === undefined) return { bad, good: nearest };
    if (next.answer === 'bad') bad = next.at;
    else nearest = next.at;
  }
}

interface Answered {
  readonly at: number;
  readonly answer: 'bad' | 'good';
}

/** A version between two that can be tried, the nearest to their middle. */
function* askBetween(one: number, other: number, ask: Ask): Generator<number, Answered | undefined, Probe> {
  const [low, high] = [Math.min(one, other), Math.max(one, other)];
  const middle = Math.floor((low + high) / 2);
  for (let distance = 0; distance < high - low; distance++) {
    for (const at of distance === 0 ? [middle] : [middle - distance, middle + distance]) {
      if (at <= low || at >= high) continue;
      const answer = yield* ask(at);
      if (answer !== 'unknown') return { at, answer };
    }
  }
  return undefined;
}
