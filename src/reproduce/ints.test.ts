import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { groupBy, Ints } from './ints.js';
import { wilsonInterval } from './wilson.js';

describe('a list of integers', () => {
  it('holds what was pushed, however many', () => {
    fc.assert(
      fc.property(fc.array(fc.integer()), fc.integer({ min: 1, max: 4 }), (values, capacity) => {
        const list = new Ints(capacity);
        for (const value of values) list.push(value);
        expect(list.length).toBe(values.length);
        expect([...list.view()]).toEqual(values);
        values.forEach((value, i) => {
          expect(list.at(i)).toBe(value);
        });
      }),
    );
  });
});

describe('entries grouped by key', () => {
  it('are all there, each under its key, in their order', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(6), { maxLength: 40 }), (keys) => {
        const { first, order } = groupBy(Int32Array.from(keys), 7);
        for (let key = 0; key < 7; key++) {
          const expected = keys.flatMap((each, i) => (each === key ? [i] : []));
          expect([...order.subarray(first[key], first[key + 1])]).toEqual(expected);
        }
        expect(first[7]).toBe(keys.length);
      }),
    );
  });
});

describe('the interval of a ratio', () => {
  it('contains what was seen, inside 0 and 1', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 500 }), fc.nat(500), (runs, some) => {
        const successes = some % (runs + 1);
        const [low, high] = wilsonInterval(successes, runs);
        expect(low).toBeGreaterThanOrEqual(0);
        expect(high).toBeLessThanOrEqual(1);
        expect(low).toBeLessThanOrEqual(successes / runs + 1e-12);
        expect(high).toBeGreaterThanOrEqual(successes / runs - 1e-12);
      }),
    );
  });

  it('is where a ratio is no further than 1.96 of its own deviations from what was seen', () => {
    // Wilson's definition, looked for by steps instead of solved.
    for (const [successes, runs] of [
      [0, 10],
      [3, 10],
      [10, 10],
      [19, 20],
      [70, 100],
    ] as const) {
      const ratios = Array.from({ length: 10_001 }, (_, i) => i / 10_000).filter(
        (ratio) =>
          Math.abs(successes / runs - ratio) <= 1.959964 * Math.sqrt((ratio * (1 - ratio)) / runs) + 1e-12,
      );
      const [low, high] = wilsonInterval(successes, runs);
      expect(low).toBeCloseTo(Math.min(...ratios), 3);
      expect(high).toBeCloseTo(Math.max(...ratios), 3);
    }
  });

  it('says nothing of no runs, and more of more', () => {
    expect(wilsonInterval(0, 0)).toEqual([0, 1]);
    const width = (runs: number) => wilsonInterval(runs, runs)[1] - wilsonInterval(runs, runs)[0];
    expect(width(100)).toBeLessThan(width(10));
    expect(wilsonInterval(20, 20)[0]).toBeCloseTo(0.84, 2);
  });
});
