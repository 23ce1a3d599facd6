/**
 * The orders that time proves: of two conflicting accesses to an object, the one answered before the other was sent
 * comes first. One sweep over starts and ends, which meets only those finished accesses that no later one stands in for
 * (`latest-accesses.ts`), so the edges stay few.
 */
import type { Accesses } from './evidence.js';
import { Ints } from './ints.js';
import { LatestAccesses } from './latest-accesses.js';
import { type Steps, stepsByTime } from './steps.js';

export interface TimeEdges {
  readonly from: Ints;
  readonly to: Ints;
}

export const noEdges: TimeEdges = { from: new Ints(1), to: new Ints(1) };

export function timeOrder(steps: Steps, accesses: Accesses, objectCount: number): TimeEdges {
  const { count, start, end, session } = steps;
  const { first, object, roles } = accesses;
  const byStart = stepsByTime(steps, start);
  const byEnd = stepsByTime(steps, end);
  const finished = new LatestAccesses(objectCount);
  const predecessors = new Predecessors(steps, count * 2);
  let step = 0;
  const isBefore = (other: number, _: number, conflicts: boolean) =>
    session[other] === session[step] || (conflicts && end[other]! < start[step]!);
  const precede = (other: number) => {
    if (session[other] !== session[step]) predecessors.add(other);
  };
  let ended = 0;
  for (let s = 0; s < count; s++) {
    while (ended < count && end[byEnd[ended]!]! < start[byStart[s]!]!) {
      step = byEnd[ended++]!;
      for (let i = first[step]!; i < first[step + 1]!; i++)
        finished.add(object[i]!, step, roles[i]!, isBefore);
    }
    step = byStart[s]!;
    for (let i = first[step]!; i < first[step + 1]!; i++)
      finished.eachConflicting(object[i]!, roles[i]!, precede);
    predecessors.flush(step);
  }
  return predecessors.edges;
}

/** Collects what comes before a step: of each session only the last, for an older one adds nothing. */
class Predecessors {
  readonly edges: TimeEdges;
  readonly #session: Steps['session'];
  readonly #last: Int32Array;
  readonly #sessions: number[] = [];

  constructor(steps: Steps, expected: number) {
    this.edges = { from: new Ints(expected), to: new Ints(expected) };
    this.#session = steps.session;
    this.#last = new Int32Array(steps.firstOf.length).fill(-1);
  }

  add(step: number): void {
    const session = this.#session[step]!;
    if (this.#last[session]! < 0) this.#sessions.push(session);
    if (step > this.#last[session]!) this.#last[session] = step;
  }

  flush(to: number): void {
    for (const session of this.#sessions) {
      this.edges.from.push(this.#last[session]!);
      this.edges.to.push(to);
      this.#last[session] = -1;
    }
    this.#sessions.length = 0;
  }
}

export interface GuessOptions {
  /** The objects that guesses are made for; undefined: all. */
  readonly only: ReadonlySet<number> | undefined;
  readonly onGuess: ((step: number, object: number) => void) | undefined;
}

/**
 * Of two conflicting accesses that overlapped, the one answered first probably came first. Guesses, given up wherever
 * anything else speaks against them.
 */
export function answerOrder(
  steps: Steps,
  accesses: Accesses,
  objectCount: number,
  { only, onGuess }: GuessOptions,
): TimeEdges {
  const { count, start, end, session } = steps;
  const { first, object, roles } = accesses;
  const answered = new LatestAccesses(objectCount);
  const predecessors = new Predecessors(steps, count);
  let step = 0;
  let at = 0;
  const meet = (other: number, _: number, conflicts: boolean) => {
    const apart = session[other] !== session[step];
    if (conflicts && apart && end[other]! >= start[step]!) {
      onGuess?.(step, at);
      predecessors.add(other);
    }
    return conflicts || !apart;
  };
  for (const next of stepsByTime(steps, end)) {
    step = next;
    for (let i = first[step]!; i < first[step + 1]!; i++) {
      at = object[i]!;
      if (only?.has(at) !== false) answered.add(at, step, roles[i]!, meet);
    }
    predecessors.flush(step);
  }
  return predecessors.edges;
}
