import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type BadInterval, intervalsOf, type Probe } from '../affected-versions.js';
import { bisectVersions } from './bisect.js';

/** Drives the search on versions whose answers are known, counting the tries. */
function search(truth: readonly Probe[], found?: number) {
  const asked: number[] = [];
  const searching = bisectVersions(truth.length, found);
  let step = searching.next();
  while (step.done !== true) {
    asked.push(step.value);
    step = searching.next(truth[step.value]!);
  }
  return { interval: step.value, asked };
}

/** The slow twin: every version is tried, and the interval around one that shows it is read off by walking to both sides. */
function bruteForce(truth: readonly Probe[], around: number): BadInterval {
  let firstBad = around;
  let lastBad = around;
  let goodBefore: number | undefined;
  let goodAfter: number | undefined;
  for (let at = around; at >= 0 && goodBefore === undefined; at--) {
    if (truth[at] === 'bad') firstBad = at;
    if (truth[at] === 'good') goodBefore = at;
  }
  for (let at = around; at < truth.length && goodAfter === undefined; at++) {
    if (truth[at] === 'bad') lastBad = at;
    if (truth[at] === 'good') goodAfter = at;
  }
  return {
    firstBad,
    lastBad,
    ...(goodBefore !== undefined && { goodBefore }),
    ...(goodAfter !== undefined && { goodAfter }),
  };
}

/** One interval of bad versions; any version may be one that cannot be tried. */
const oneInterval = fc
  .record({
    count: fc.integer({ min: 1, max: 60 }),
    ends: fc.tuple(fc.nat(59), fc.nat(59)),
    holes: fc.array(fc.nat(59), { maxLength: 20 }),
  })
  .map(({ count, ends, holes }) =>
    Array.from({ length: count }, (_, at): Probe => {
      if (holes.includes(at)) return 'unknown';
      return at >= Math.min(...ends) && at <= Math.max(...ends) ? 'bad' : 'good';
    }),
  );
const anything = fc.array(fc.constantFrom<Probe>('bad', 'good', 'unknown'), { minLength: 1, maxLength: 40 });

describe('bisectVersions', () => {
  it('agrees with the slow twin where a bug shows in one interval, wherever it was found', () => {
    fc.assert(
      fc.property(oneInterval, fc.nat(59), (truth, somewhere) => {
        const bads = truth.flatMap((probe, at) => (probe === 'bad' ? [at] : []));
        const found = bads.length === 0 ? undefined : bads[somewhere % bads.length];
        for (const start of [found, undefined]) {
          const { interval } = search(truth, start);
          expect(interval).toEqual(bads.length === 0 ? undefined : bruteForce(truth, bads[0]!));
        }
        expect(intervalsOf(truth)).toEqual(bads.length === 0 ? [] : [bruteForce(truth, bads[0]!)]);
      }),
      { numRuns: 500 },
    );
  });

  it('whatever the versions say, what it finds is a real change, and nothing is tried twice', () => {
    fc.assert(
      fc.property(anything, (truth) => {
        const { interval, asked } = search(truth);
        expect(new Set(asked).size).toBe(asked.length);
        if (interval === undefined) {
          expect(truth).not.toContain('bad');
          return;
        }
        const { firstBad, lastBad, goodBefore, goodAfter } = interval;
        expect([truth[firstBad], truth[lastBad]]).toEqual(['bad', 'bad']);
        const between = (from: number, to: number) => new Set(truth.slice(from + 1, to));
        if (goodBefore !== undefined) {
          expect(truth[goodBefore]).toBe('good');
          expect([...between(goodBefore, firstBad)].filter((probe) => probe !== 'unknown')).toEqual([]);
        }
        if (goodAfter !== undefined) {
          expect(truth[goodAfter]).toBe('good');
          expect([...between(lastBad, goodAfter)].filter((probe) => probe !== 'unknown')).toEqual([]);
        }
        expect(intervalsOf(truth)[0]!.firstBad).toBe(truth.indexOf('bad'));
      }),
      { numRuns: 500 },
    );
  });

  it('takes a logarithm of tries', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5000 }), fc.nat(4999), (count, change) => {
        const truth = Array.from({ length: count }, (_, at): Probe => (at >= change ? 'bad' : 'good'));
        const { asked } = search(truth, count - 1);
        expect(asked.length).toBeLessThanOrEqual(Math.max(count, 3 + Math.ceil(Math.log2(count))));
        if (change < count) expect(asked.length).toBeLessThanOrEqual(3 + Math.ceil(Math.log2(count)));
      }),
    );
  });
});

it('intervalsOf names every interval, with the neighbours that could be tried', () => {
  const probes: Probe[] = ['good', 'unknown', 'bad', 'unknown', 'bad', 'good', 'unknown', 'bad'];
  expect(intervalsOf(probes)).toEqual([
    { firstBad: 2, lastBad: 4, goodBefore: 0, goodAfter: 5 },
    { firstBad: 7, lastBad: 7, goodBefore: 5 },
  ]);
});
