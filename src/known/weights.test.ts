import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Labelled, likeness, nearest, type Vector, weigh } from './weights.js';

const names = ['a', 'b', 'c', 'd', 'e'];
const vectors: fc.Arbitrary<Vector> = fc
  .array(fc.tuple(fc.constantFrom(...names), fc.integer({ min: 1, max: 8 })), { maxLength: 5 })
  .map((pairs) => new Map(pairs.map(([name, eighths]) => [name, eighths / 8])));
const reports: fc.Arbitrary<Labelled[]> = fc.array(
  fc.record({ bug: fc.constantFrom('x', 'y', 'z', 'w'), vector: vectors }),
  { minLength: 1, maxLength: 12 },
);

/** The definition, cell by cell. */
function slowWeigh(all: readonly Labelled[]): Map<string, number> {
  const features = names.filter((name) => all.some(({ vector }) => vector.has(name)));
  const bugs = ['x', 'y', 'z', 'w'].filter((bug) => all.some((report) => report.bug === bug));
  const n = (feature: string, bug: string) => {
    let sum = 0;
    for (const report of all) if (report.bug === bug) sum += report.vector.get(feature) ?? 0;
    return sum;
  };
  let total = 0;
  for (const feature of features) for (const bug of bugs) total += n(feature, bug) + 1;
  const p = (feature: string, bug: string) => (n(feature, bug) + 1) / total;
  const result = new Map<string, number>();
  for (const feature of features) {
    let weight = 0;
    for (const bug of bugs) {
      const pf = bugs.map((other) => p(feature, other)).reduce((a, b) => a + b);
      const py = features.map((other) => p(other, bug)).reduce((a, b) => a + b);
      weight += p(feature, bug) * Math.log(p(feature, bug) / (pf * py));
    }
    result.set(feature, Math.max(0, weight));
  }
  return result;
}

/** Written out over all names. */
function slowCosine(a: Vector, b: Vector, weights: ReadonlyMap<string, number>): number {
  const row = (v: Vector) => names.map((name) => (v.get(name) ?? 0) * (weights.get(name) ?? 0));
  const dot = (x: number[], y: number[]) => x.reduce((sum, each, i) => sum + each * y[i]!, 0);
  const [x, y] = [row(a), row(b)];
  const norm = Math.sqrt(dot(x, x)) * Math.sqrt(dot(y, y));
  return norm === 0 ? 0 : dot(x, y) / norm;
}

describe('weights and likeness', () => {
  it('agree with their definitions', () => {
    fc.assert(
      fc.property(reports, vectors, vectors, (all, a, b) => {
        const [fast, slow] = [weigh(all), slowWeigh(all)];
        expect([...fast.keys()].sort()).toEqual([...slow.keys()].sort());
        for (const [name, weight] of fast) expect(weight).toBeCloseTo(slow.get(name)!, 9);
        // Tiny weights lose digits in the product of norms.
        const exact = new Map(names.map((name, i) => [name, (i + 1) / 3]));
        expect(likeness(a, b, exact)).toBeCloseTo(slowCosine(a, b, exact), 9);
      }),
    );
  });

  it('weighs what tells bugs apart above what all of them have', () => {
    const all = ['p', 'q', 'r', 's'].map((bug, i) => ({
      bug,
      vector: new Map([['engine', 1], ...(i === 0 ? ([['rare', 1]] as const) : [])]),
    }));
    const weights = weigh(all);
    expect(weights.get('rare')!).toBeGreaterThan(weights.get('engine')!);
  });

  it('orders by likeness, then by id, and returns no more than asked for', () => {
    const weights = new Map([['a', 1]]);
    const at = (id: string, name: string) => ({ id, vector: new Map([[name, 1]]) });
    const found = nearest(new Map([['a', 1]]), [at('2', 'a'), at('3', 'b'), at('1', 'a')], weights, 2);
    expect(found.map(({ report, likeness: like }) => [report.id, like])).toEqual([
      ['1', 1],
      ['2', 1],
    ]);
  });
});
