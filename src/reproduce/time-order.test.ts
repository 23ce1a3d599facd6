import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as role from './conflicts.js';
import { accessesOf, arbitraryRun, type LabRun, labRun } from './step-lab.case.js';
import { stepsByTime } from './steps.js';
import { answerOrder, type TimeEdges, timeOrder } from './time-order.js';

const every = [role.read, role.snapshot, role.share, role.lock, role.write, role.publish, role.releaseShare];
const options = { seed: 72, numRuns: 300 };

function pairsOf({ from, to }: TimeEdges): [number, number][] {
  return [...from.view()].map((step, i) => [step, to.at(i)]);
}

/** Pairs of steps of different sessions that conflict on an object. */
function conflicting({ steps, accesses }: LabRun): [number, number][] {
  const found: [number, number][] = [];
  for (let a = 0; a < steps.count; a++)
    for (let b = 0; b < steps.count; b++) {
      if (steps.session[a] === steps.session[b]) continue;
      const mine = accessesOf(accesses, a);
      const theirs = accessesOf(accesses, b);
      if (mine.some(([o, r]) => theirs.some(([p, q]) => o === p && role.inConflict(r, q))))
        found.push([a, b]);
    }
  return found;
}

/** Whether a path of these edges and of program order leads from one step to another. */
function reaches({ steps }: LabRun, edges: readonly (readonly [number, number])[]) {
  const next: number[][] = Array.from({ length: steps.count }, (_, step) =>
    step + 1 < steps.count && steps.session[step + 1] === steps.session[step] ? [step + 1] : [],
  );
  for (const [from, to] of edges) next[from]!.push(to);
  return (from: number, to: number): boolean => {
    const seen = new Set([from]);
    for (const step of seen) for (const other of next[step]!) seen.add(other);
    return seen.has(to);
  };
}

describe('orders that time proves', () => {
  it('lead from every access to all conflicting ones that were sent after its answer', () => {
    fc.assert(
      fc.property(arbitraryRun(every), (run) => {
        const { start, end } = run.steps;
        const isBefore = reaches(run, pairsOf(timeOrder(run.steps, run.accesses, run.objectCount)));
        for (const [a, b] of conflicting(run)) if (end[a]! < start[b]!) expect(isBefore(a, b)).toBe(true);
      }),
      options,
    );
  });

  it('are between sessions, and only where one was answered before the other was sent', () => {
    fc.assert(
      fc.property(arbitraryRun(every), (run) => {
        const { start, end, session } = run.steps;
        for (const [a, b] of pairsOf(timeOrder(run.steps, run.accesses, run.objectCount))) {
          expect(end[a]!).toBeLessThan(start[b]!);
          expect(session[a]).not.toBe(session[b]);
        }
      }),
      options,
    );
  });

  it('stay few: a step has one predecessor in each other session at most', () => {
    fc.assert(
      fc.property(arbitraryRun(every), (run) => {
        const pairs = pairsOf(timeOrder(run.steps, run.accesses, run.objectCount));
        const keys = pairs.map(([a, b]) => `${run.steps.session[a]} ${b}`);
        expect(new Set(keys).size).toBe(keys.length);
      }),
      options,
    );
  });
});

describe('orders of answers', () => {
  const guess = { only: undefined, onGuess: undefined };

  it('put of two conflicting accesses that overlap the one answered first before the other', () => {
    fc.assert(
      fc.property(arbitraryRun(every), (run) => {
        const { steps, accesses, objectCount } = run;
        const place = new Map([...stepsByTime(steps, steps.end)].map((step, i) => [step, i]));
        const guesses = pairsOf(answerOrder(steps, accesses, objectCount, guess));
        for (const [a, b] of guesses) {
          expect(place.get(a)!).toBeLessThan(place.get(b)!);
          expect(steps.end[a]!).toBeGreaterThanOrEqual(steps.start[b]!);
        }
        const isBefore = reaches(run, [...guesses, ...pairsOf(timeOrder(steps, accesses, objectCount))]);
        for (const [a, b] of conflicting(run))
          if (place.get(a)! < place.get(b)!) expect(isBefore(a, b)).toBe(true);
      }),
      options,
    );
  });

  const overlapping = labRun(
    [
      [{ start: 1, end: 9, accesses: [[0, role.write]] }],
      [
        {
          start: 2,
          end: 8,
          accesses: [
            [0, role.write],
            [1, role.write],
          ],
        },
      ],
      [{ start: 3, end: 7, accesses: [[1, role.write]] }],
    ],
    2,
  );

  it('are guessed for the objects asked for only, and told one by one', () => {
    const told: [number, number][] = [];
    const { steps, accesses } = overlapping;
    const onGuess = (step: number, object: number) => told.push([step, object]);
    const edges = answerOrder(steps, accesses, 2, { only: new Set([1]), onGuess });
    expect(pairsOf(edges)).toEqual([[2, 1]]);
    expect(told).toEqual([[1, 1]]);
  });

  it('say nothing of reads', () => {
    const read = { start: 1, end: 9, accesses: [[0, role.read]] as const };
    const { steps, accesses } = labRun([[read], [read]], 1);
    expect(pairsOf(answerOrder(steps, accesses, 1, guess))).toEqual([]);
  });
});

describe('steps by time', () => {
  it.each(['start', 'end'] as const)('are all steps, sorted by %s', (by) => {
    fc.assert(
      fc.property(arbitraryRun(every), ({ steps }) => {
        const order = [...stepsByTime(steps, steps[by])];
        const sorted = Array.from({ length: steps.count }, (_, i) => i).sort(
          (a, b) => steps[by][a]! - steps[by][b]! || a - b,
        );
        expect(order).toEqual(sorted);
      }),
      options,
    );
  });

  it('put what was never answered last', () => {
    const lists = [
      [{ start: 1, end: Number.POSITIVE_INFINITY, accesses: [] }],
      [{ start: 2, end: 3, accesses: [] }],
    ];
    const { steps } = labRun(lists, 0);
    expect([...stepsByTime(steps, steps.end)]).toEqual([1, 0]);
  });
});
