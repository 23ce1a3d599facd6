/**
 * Reduction by rate: a burst that breaks its fact now and then is made smaller as long as one of so many runs still breaks it.
 *
 * 1. Repetitions and sessions are halved.
 * 2. The program's parts (BEGIN and COMMIT, reads, kinds of statements) are left out, one after another. A program names as parts
 *    only statements without which its fact still holds on a correct database. One session alone must still keep the fact, unless it
 *    broke it with all statements: what is left must need concurrency as the whole burst did.
 * 3. What became smaller may become smaller again.
 *
 * Every trial costs many runs, so what was taken from a candidate that failed is not taken from a smaller one, either, until nothing else
 * can be taken away; then all is tried once more, but for the very candidates that have failed. A candidate is taken at one broken run of so
 * many, which may be luck: so the way to the smallest one is returned, and whoever counts rates can go back on it.
 */
import type { Burst, BurstSize } from './burst-form.js';

export interface ReducedBurst extends BurstSize {
  /** Parts of the program that were left out. */
  readonly without?: readonly string[] | undefined;
}

export interface BurstTrials {
  /** Whether one of so many runs breaks the fact. */
  readonly shows: (size: BurstSize, burst: Burst) => Promise<boolean>;
  /** Whether one session keeps it, or need not. */
  readonly isSilentAlone: (size: BurstSize, burst: Burst) => Promise<boolean>;
  readonly isStopped: () => boolean;
  /** Parts that are not left out. */
  readonly stays?: readonly string[];
}

const fewestSessions = 2;
const fewestRepeats = 4;

/** The way to the smallest burst found, from the start on; the start alone if nothing smaller shows it. */
export async function reduceBurst(
  burst: Burst,
  start: ReducedBurst,
  trials: BurstTrials,
): Promise<readonly ReducedBurst[]> {
  const way = [start];
  const failures = new Failures();
  for (let progress = false; ; ) {
    const found = await firstSmaller(burst, way.at(-1)!, trials, failures);
    if (found !== undefined) {
      way.push(found);
      progress = true;
    } else if (progress && !trials.isStopped()) {
      failures.tryAgain();
      progress = false;
    } else return way;
  }
}

/** Candidates that were tried in vain. */
class Failures {
  readonly #all: ReducedBurst[] = [];
  /** Those from here on speak for everything smaller, too. */
  #recent = 0;

  add(candidate: ReducedBurst): void {
    this.#all.push(candidate);
  }

  tryAgain(): void {
    this.#recent = this.#all.length;
  }

  isHopeless(candidate: ReducedBurst): boolean {
    return this.#all.some(
      (failed, i) => isWithin(candidate, failed) && (i >= this.#recent || isWithin(failed, candidate)),
    );
  }
}

function isWithin(smaller: ReducedBurst, larger: ReducedBurst): boolean {
  const { without = [] } = smaller;
  return (
    smaller.sessions <= larger.sessions &&
    smaller.repeats <= larger.repeats &&
    (larger.without ?? []).every((part) => without.includes(part))
  );
}

async function firstSmaller(
  burst: Burst,
  best: ReducedBurst,
  { shows, isSilentAlone, isStopped, stays = [] }: BurstTrials,
  failures: Failures,
): Promise<ReducedBurst | undefined> {
  for (const each of [...halves(best), ...withLess(burst, best, stays)]) {
    if (isStopped()) return undefined;
    if (failures.isHopeless(each)) continue;
    const candidate = { ...burst, without: each.without };
    const isLess = each.without !== best.without;
    const isSmaller = (await shows(each, candidate)) && (!isLess || (await isSilentAlone(each, candidate)));
    if (isStopped()) return undefined;
    if (isSmaller) return each;
    failures.add(each);
  }
  return undefined;
}

function halves(best: ReducedBurst): readonly ReducedBurst[] {
  const { sessions, repeats } = best;
  const smaller = [
    { ...best, repeats: Math.ceil(repeats / 2) },
    { ...best, sessions: Math.ceil(sessions / 2) },
  ];
  return smaller.filter(
    (each) =>
      each.sessions >= fewestSessions &&
      each.repeats >= fewestRepeats &&
      each.sessions * each.repeats < sessions * repeats,
  );
}

function withLess(
  { program, form }: Burst,
  best: ReducedBurst,
  stays: readonly string[],
): readonly ReducedBurst[] {
  const { without = [] } = best;
  return (
    Object.keys(program.parts ?? {})
      .filter((part) => !without.includes(part) && !stays.includes(part))
      // One request has no BEGIN.
      .filter((part) => form === 'statements' || part !== 'begin')
      .map((part) => ({ ...best, without: [...without, part] }))
  );
}
