import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TopologicalOrder } from './topological-order.js';

type Edge = readonly [from: number, to: number];

/** Whether `to` can be reached from `from`, by looking everywhere. */
function reaches(edges: readonly Edge[], from: number, to: number): boolean {
  const seen = new Set([from]);
  for (const point of seen) for (const [a, b] of edges) if (a === point) seen.add(b);
  return seen.has(to);
}

const size = 8;
const point = fc.nat(size - 1);
const steps = fc.array(
  fc.oneof(
    { weight: 5, arbitrary: fc.record({ from: point, to: point }) },
    { weight: 1, arbitrary: fc.record({ keep: fc.double({ min: 0, max: 1, noNaN: true }) }) },
  ),
  { maxLength: 40 },
);

/** The places of all points agree with the edges, and no two points have one place. */
function expectOrdered(order: TopologicalOrder, edges: readonly Edge[]): void {
  const listed = order.order();
  expect([...listed].sort((a, b) => a - b)).toEqual(Array.from({ length: size }, (_, i) => i));
  listed.forEach((each, i) => {
    expect(order.place[each]).toBe(i);
  });
  for (const [from, to] of edges) expect(order.place[from]!).toBeLessThan(order.place[to]!);
}

describe('a topological order', () => {
  it('takes an edge exactly if it closes no cycle, and is right after each, also when edges go', () => {
    fc.assert(
      fc.property(
        fc.shuffledSubarray([0, 1, 2, 3, 4, 5, 6, 7], { minLength: size }),
        steps,
        (first, list) => {
          const order = new TopologicalOrder(Int32Array.from(first), 1);
          let edges: Edge[] = [];
          for (const each of list) {
            if ('keep' in each) {
              edges = edges.slice(0, Math.floor(each.keep * edges.length));
              order.truncate(edges.length);
            } else {
              const { from, to } = each;
              const path = order.add(from, to);
              expect(path === undefined).toBe(from !== to && !reaches(edges, to, from));
              if (path === undefined) edges.push([from, to]);
            }
            expect(order.length).toBe(edges.length);
            expectOrdered(order, edges);
          }
        },
      ),
    );
  });

  it('names the shortest way back by which an edge would close a cycle', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(point, point), { maxLength: 25 }), point, point, (list, from, to) => {
        const order = new TopologicalOrder(Int32Array.from({ length: size }, (_, i) => i));
        for (const [a, b] of list) order.add(a, b);
        const path = order.add(from, to);
        if (path === undefined || from === to) return;
        const way = path.map((edge) => [order.source(edge), order.target(edge)] as const);
        expect(way[0]![0]).toBe(to);
        expect(way.at(-1)![1]).toBe(from);
        for (const [i, [, end]] of way.entries()) if (i + 1 < way.length) expect(way[i + 1]![0]).toBe(end);
        const all = Array.from(
          { length: order.length },
          (_, e) => [order.source(e), order.target(e)] as const,
        );
        expect(way).toHaveLength(distance(all, to, from));
      }),
    );
  });

  it('says nothing of the way where an edge leads to its own point', () => {
    const order = new TopologicalOrder(Int32Array.of(0, 1));
    expect(order.add(1, 1)).toEqual([]);
    expect(order.length).toBe(0);
  });

  it('grows beyond the edges it was made for', () => {
    const count = 200;
    const order = new TopologicalOrder(
      Int32Array.from({ length: count }, (_, i) => count - 1 - i),
      1,
    );
    for (let i = 0; i + 1 < count; i++) expect(order.add(i, i + 1)).toBeUndefined();
    expect([...order.order()]).toEqual(Array.from({ length: count }, (_, i) => i));
    expect(order.add(count - 1, 0)).toHaveLength(count - 1);
  });
});

function distance(edges: readonly Edge[], from: number, to: number): number {
  let level = new Set([from]);
  for (let length = 0; ; length++) {
    if (level.has(to)) return length;
    level = new Set([...level].flatMap((each) => edges.filter(([a]) => a === each).map(([, b]) => b)));
  }
}
