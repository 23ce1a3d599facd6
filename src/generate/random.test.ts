import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Random } from './random.js';

describe('Random', () => {
  it('gives the numbers a seed has always given', () => {
    const random = new Random('isolde');
    expect(Array.from({ length: 5 }, () => random.bits())).toMatchInlineSnapshot(`
      [
        3299619872,
        1422073164,
        2710509819,
        435091011,
        175505414,
      ]
    `);
  });

  it('gives the same numbers for the same seed, and others for another one', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (a, b) => {
        const numbers = (seed: string) => {
          const random = new Random(seed);
          return Array.from({ length: 8 }, () => random.bits());
        };
        expect(numbers(a)).toEqual(numbers(a));
        if (a !== b) expect(numbers(a)).not.toEqual(numbers(b));
      }),
    );
  });

  it('draws every number of a range equally often', () => {
    const random = new Random('range');
    const counts = new Array<number>(7).fill(0);
    for (let i = 0; i < 70_000; i++) counts[random.between(3, 9) - 3]!++;
    for (const count of counts) expect(Math.abs(count - 10_000)).toBeLessThan(500);
  });

  it('draws by weight, and never what weighs nothing', () => {
    const random = new Random('weights');
    const counts = [0, 0, 0, 0];
    for (let i = 0; i < 40_000; i++) counts[random.weighted([1, 0, 2, 1])!]!++;
    expect(counts[1]).toBe(0);
    expect(Math.abs(counts[2]! - 20_000)).toBeLessThan(600);
    expect(Math.abs(counts[0]! - 10_000)).toBeLessThan(500);
    expect(random.weighted([0, 0])).toBeUndefined();
  });

  it('draws the first items of a skewed choice most often', () => {
    const random = new Random('skew');
    const counts = [0, 0, 0, 0];
    for (let i = 0; i < 10_000; i++) counts[random.pickSkewed([0, 1, 2, 3])]!++;
    expect(counts[0]).toBeGreaterThan(4_500);
    expect(counts[3]).toBeGreaterThan(1_000);
    expect(counts.toSorted((a, b) => b - a)).toEqual(counts);
  });

  it('shuffles without losing anything', () => {
    fc.assert(
      fc.property(fc.string(), fc.array(fc.integer()), (seed, items) => {
        const shuffled = new Random(seed).shuffle(items);
        expect(shuffled.toSorted((a, b) => a - b)).toEqual(items.toSorted((a, b) => a - b));
      }),
    );
  });

  it('says that nothing can be picked from nothing', () => {
    expect(() => new Random('x').pick([])).toThrow('nothing to pick');
  });
});
