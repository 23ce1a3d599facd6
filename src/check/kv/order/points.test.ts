import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { incomingCounts, PointEdges, sortPoints } from './point-edges.js';
import { PointHeap } from './point-heap.js';

describe('a heap of points', () => {
  it('gives the smallest first, ties by number, whenever points come', () => {
    const numbers = fc.array(fc.integer({ min: 0, max: 5 }), { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(numbers, fc.array(fc.boolean(), { minLength: 40, maxLength: 60 }), (priorities, takes) => {
        const heap = new PointHeap(Float64Array.from(priorities));
        const waiting: number[] = [];
        let next = 0;
        for (const take of takes) {
          if (!take && next < priorities.length) {
            waiting.push(next);
            heap.push(next++);
            continue;
          }
          waiting.sort((a, b) => priorities[a]! - priorities[b]! || a - b);
          expect(heap.pop()).toBe(waiting.shift() ?? -1);
        }
      }),
    );
  });
});

const pointCount = 6;
const point = fc.nat(pointCount - 1);
const pairs = fc.array(fc.tuple(point, point), { maxLength: 14 });

function edgesOf(list: readonly (readonly [number, number])[], derived: typeof list = []): PointEdges {
  const edges = new PointEdges({
    pointCount,
    sources: Int32Array.from(list, ([from]) => from),
    targets: Int32Array.from(list, ([, to]) => to),
  });
  for (const [from, to] of derived) edges.derive(from, to, to, from);
  return edges;
}

describe('edges between points', () => {
  it('are listed by source, with their numbers, the derived ones too', () => {
    fc.assert(
      fc.property(pairs, pairs, (known, derived) => {
        const edges = edgesOf(known, derived);
        const all = [...known, ...derived];
        const { offsets, targets, edges: ids } = edges.successors();
        for (let p = 0; p < pointCount; p++) {
          const expected = all.flatMap(([from, to], id) => (from === p ? [[to, id]] : []));
          const found = Array.from(targets.subarray(offsets[p], offsets[p + 1]), (to, i) => [
            to,
            ids[offsets[p]! + i],
          ]);
          expect(found).toEqual(expected);
        }
        const incoming = incomingCounts(edges, edges.successors());
        expect([...incoming]).toEqual(
          Array.from({ length: pointCount }, (_, p) => all.filter(([, to]) => to === p).length),
        );
      }),
    );
  });

  it('remember what forced them, however many there are', () => {
    const edges = edgesOf([[0, 1]]);
    for (let i = 0; i < 3000; i++) edges.derive(i % 5, (i + 1) % 5, i, i + 1);
    expect(edges.length).toBe(3001);
    expect(edges.knownCount).toBe(1);
    for (const edge of [1, 1024, 1025, 2048, 3000]) expect(edges.premise(edge)).toEqual([edge - 1, edge]);
    expect([edges.from[3000], edges.to[3000]]).toEqual([2999 % 5, 3000 % 5]);
  });

  it('put points in order, except those on cycles and behind them', () => {
    fc.assert(
      fc.property(pairs, (list) => {
        const order = [...sortPoints(edgesOf(list), edgesOf(list).successors())];
        const place = new Map(order.map((each, i) => [each, i]));
        for (const [from, to] of list)
          if (place.has(to)) expect(place.get(from)).toBeLessThan(place.get(to)!);
        const reach = (start: number) => {
          const seen = new Set<number>();
          const work = [start];
          for (let at = work.pop(); at !== undefined; at = work.pop())
            for (const [from, to] of list)
              if (from === at && !seen.has(to)) {
                seen.add(to);
                work.push(to);
              }
          return seen;
        };
        const cyclic = Array.from({ length: pointCount }, (_, p) => p).filter((p) => reach(p).has(p));
        const behind = new Set([...cyclic, ...cyclic.flatMap((p) => [...reach(p)])]);
        expect(new Set(order)).toEqual(
          new Set(Array.from({ length: pointCount }, (_, p) => p).filter((p) => !behind.has(p))),
        );
      }),
    );
  });
});
