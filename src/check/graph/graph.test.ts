import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cyclicComponents } from './components.js';
import { findCycles } from './cycles.js';
import { buildGraph, EdgeList, kindMask, predicateRw, realTime, rw, sessionOrder, wr, ww } from './graph.js';
import { cycleRulesOut, nameCycle } from './name-cycle.js';
import { addRealTimeOrder } from './real-time.js';

function edgeList(txCount: number, edges: readonly (readonly [number, number, number, number?])[]): EdgeList {
  const list = new EdgeList(txCount);
  for (const [from, to, kind, ref] of edges) list.add(from, to, kind, ref);
  return list;
}

/** Pairs of nodes that reach each other, by Warshall's algorithm. */
function mutuallyReachable(nodeCount: number, edges: readonly (readonly [number, number])[]): Set<string> {
  const reach = Array.from({ length: nodeCount }, () => new Array<boolean>(nodeCount).fill(false));
  for (const [from, to] of edges) reach[from]![to] = true;
  for (let k = 0; k < nodeCount; k++) {
    for (let i = 0; i < nodeCount; i++) {
      for (let j = 0; j < nodeCount; j++) if (reach[i]![k]! && reach[k]![j]!) reach[i]![j] = true;
    }
  }
  const pairs = new Set<string>();
  for (let i = 0; i < nodeCount; i++) {
    for (let j = i + 1; j < nodeCount; j++) if (reach[i]![j]! && reach[j]![i]!) pairs.add(`${i},${j}`);
  }
  return pairs;
}

describe('components', () => {
  it('are the classes of nodes that reach each other', () => {
    const node = fc.integer({ min: 0, max: 9 });
    fc.assert(
      fc.property(fc.array(fc.tuple(node, node), { maxLength: 25 }), (pairs) => {
        const edges = pairs.filter(([a, b]) => a !== b);
        const graph = buildGraph(
          edgeList(
            10,
            edges.map(([a, b]) => [a, b, ww] as const),
          ),
        );
        const found = new Set<string>();
        for (const component of cyclicComponents(graph)) {
          component.forEach((a, i) => {
            for (const b of component.subarray(i + 1)) found.add(`${a},${b}`);
          });
        }
        expect(found).toEqual(mutuallyReachable(10, edges));
      }),
    );
  });

  it('are found on a path of a million nodes that closes', () => {
    const size = 1_000_000;
    const edges = new EdgeList(size, size);
    for (let v = 0; v < size; v++) edges.add(v, (v + 1) % size, wr);
    expect(cyclicComponents(buildGraph(edges)).map((nodes) => nodes.length)).toEqual([size]);
  });

  it('look only at the kinds and nodes asked for', () => {
    const graph = buildGraph(
      edgeList(3, [
        [0, 1, ww],
        [1, 0, rw],
        [1, 2, ww],
        [2, 1, ww],
      ]),
    );
    expect(cyclicComponents(graph).map((nodes) => [...nodes])).toEqual([[0, 1, 2]]);
    expect(cyclicComponents(graph, 1 << ww).map((nodes) => [...nodes])).toEqual([[1, 2]]);
    expect(
      cyclicComponents(graph, kindMask(ww, wr, rw), Int32Array.of(0, 1)).map((nodes) => [...nodes]),
    ).toEqual([[0, 1]]);
  });
});

describe('cycles', () => {
  it('are the shortest of their family, also through auxiliary nodes', () => {
    const edges = edgeList(4, [
      [0, 1, ww, 7],
      [1, 2, wr, 7],
      [2, 3, ww, 7],
      [3, 0, ww, 7],
    ]);
    const aux = edges.addAux();
    edges.add(2, aux, rw, 8);
    edges.add(aux, 0, rw, 8);
    const { cycles } = findCycles(buildGraph(edges));
    expect(cycles.map(({ family, nodes }) => [family, nodes.length])).toEqual([
      ['G1c', 4],
      ['G-single', 3],
    ]);
    expect(cycles[1]).toMatchObject({ nodes: [2, 0, 1], kinds: [rw, ww, wr], refs: [8, 7, 7] });
  });

  it('tell predicate anti-dependencies from item ones', () => {
    const names = (kind: number): string[] => {
      const graph = buildGraph(
        edgeList(2, [
          [0, 1, rw, 1],
          [1, 0, kind, 2],
        ]),
      );
      return findCycles(graph).cycles.map(nameCycle);
    };
    expect(names(rw)).toEqual(['write-skew']);
    expect(names(predicateRw)).toEqual(['G2']);
    const phantom = {
      family: 'G2',
      order: 'none',
      nodes: [0, 1],
      kinds: [rw, predicateRw],
      refs: [1, 2],
    } as const;
    expect(cycleRulesOut(phantom)).toEqual(['serializable']);
  });

  it('need the order they are named after', () => {
    const names = (kind: number): string[] => {
      const graph = buildGraph(
        edgeList(2, [
          [0, 1, rw, 1],
          [1, 0, kind],
        ]),
      );
      return findCycles(graph).cycles.map(nameCycle);
    };
    expect(names(sessionOrder)).toEqual(['G-single-session']);
    expect(names(realTime)).toEqual(['G-single-realtime']);
  });
});

describe('real-time order', () => {
  it('leads from one transaction to another exactly when the first ended before the second started', () => {
    const interval = fc.tuple(fc.integer({ min: 0, max: 12 }), fc.integer({ min: 0, max: 5 }));
    fc.assert(
      fc.property(fc.array(interval, { minLength: 2, maxLength: 8 }), (intervals) => {
        const starts = Float64Array.from(intervals, ([start]) => start);
        const ends = Float64Array.from(intervals, ([start, length]) => start + length);
        const edges = new EdgeList(intervals.length);
        addRealTimeOrder(edges, starts, ends, new Uint8Array(intervals.length).fill(1));
        expect(edges.length).toBeLessThanOrEqual(3 * intervals.length);
        const graph = buildGraph(edges);
        for (let from = 0; from < intervals.length; from++) {
          const seen = new Set([from]);
          for (const v of seen) {
            // Through auxiliary nodes only: transactions are where the order begins and ends.
            if (v !== from && v < intervals.length) continue;
            for (let e = graph.offsets[v]!; e < graph.offsets[v + 1]!; e++) seen.add(graph.targets[e]!);
          }
          for (let to = 0; to < intervals.length; to++) {
            if (to !== from) expect(seen.has(to)).toBe(ends[from]! < starts[to]!);
          }
        }
      }),
    );
  });
});
