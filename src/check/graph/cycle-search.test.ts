/** The search for cycles of each family against one that walks every simple cycle there is. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findCycles } from './cycles.js';
import { type Family, families, type OrderUsed, orders } from './families.js';
import { buildGraph, EdgeList, predicateRw, realTime, rw, sessionOrder, wr, ww } from './graph.js';

interface Edge {
  readonly from: number;
  readonly to: number;
  readonly kind: number;
}

/** Every simple cycle, each once, from its smallest transaction on. */
function* simpleCycles(edges: readonly Edge[]): Generator<readonly Edge[]> {
  function* extend(path: readonly Edge[]): Generator<readonly Edge[]> {
    const start = path[0]!.from;
    for (const edge of edges) {
      if (edge.from !== path.at(-1)!.to) continue;
      if (edge.to === start) yield [...path, edge];
      else if (edge.to > start && !path.some(({ from }) => from === edge.to)) yield* extend([...path, edge]);
    }
  }
  for (const edge of edges) if (edge.to > edge.from) yield* extend([edge]);
}

const isRead = ({ kind }: Edge) => kind === rw || kind === predicateRw;

/** The order a cycle needs: the strongest that one of its edges is of. */
function orderOf(cycle: readonly Edge[]): OrderUsed {
  if (cycle.some(({ kind }) => kind === realTime)) return 'real-time';
  return cycle.some(({ kind }) => kind === sessionOrder) ? 'session' : 'none';
}

/** The definitions of the literature, word for word. */
function isOf(family: Family, cycle: readonly Edge[]): boolean {
  const reads = cycle.filter(isRead).length;
  const adjacent = cycle.some((edge, i) => isRead(edge) && isRead(cycle[(i + 1) % cycle.length]!));
  const has = (kind: number) => cycle.some((edge) => edge.kind === kind);
  switch (family) {
    case 'G0':
      return reads === 0 && !has(wr);
    case 'G1c':
      return reads === 0 && has(wr);
    case 'G-single':
      return reads === 1;
    case 'G-nonadjacent':
      return reads > 1 && !adjacent;
    case 'G2-item':
      return adjacent && !has(predicateRw);
    case 'G2':
      return adjacent && has(predicateRw);
  }
}

const tx = fc.nat(4);
const kind = fc.constantFrom(ww, wr, rw, rw, predicateRw, sessionOrder, realTime);
const edgeLists = fc
  .uniqueArray(fc.record({ from: tx, to: tx, kind }), {
    minLength: 2,
    maxLength: 11,
    selector: ({ from, to, kind: k }) => `${from} ${to} ${k}`,
  })
  .map((list) => list.filter(({ from, to }) => from !== to));

function listOf(edges: readonly Edge[]): EdgeList {
  const list = new EdgeList(5);
  for (const [i, { from, to, kind: k }] of edges.entries()) list.add(from, to, k, i);
  return list;
}

describe('the search for cycles', () => {
  it('finds a family exactly where a simple cycle of it exists, without order where it can', () => {
    const met = new Set<string>();
    fc.assert(
      fc.property(edgeLists, (edges) => {
        const all = [...simpleCycles(edges)];
        const { cycles, undecided } = findCycles(buildGraph(listOf(edges)));
        expect(undecided).toEqual([]);
        for (const family of families) {
          const own = all.filter((cycle) => isOf(family, cycle));
          const weakest = orders.find((order) => own.some((cycle) => orderOf(cycle) === order));
          const found = cycles.filter((cycle) => cycle.family === family);
          expect(found.length > 0, family).toBe(own.length > 0);
          if (weakest !== undefined) {
            met.add(`${family} ${weakest}`);
            expect(found.map(({ order }) => order)).toContain(weakest);
          }
        }
      }),
      { numRuns: 1500, seed: 5 },
    );
    // Each family was met, with and without an order.
    expect(met.size).toBeGreaterThanOrEqual(families.length * 2);
  });

  it('returns real cycles of the family, as short as there are in their component', () => {
    fc.assert(
      fc.property(edgeLists, (edges) => {
        const all = [...simpleCycles(edges)];
        for (const { family, order, nodes, kinds, refs } of findCycles(buildGraph(listOf(edges))).cycles) {
          const cycle = refs.map((ref) => edges[ref]!);
          expect(cycle.map(({ from }) => from)).toEqual(nodes);
          expect(cycle.map((edge) => edge.kind)).toEqual(kinds);
          expect(new Set(nodes).size).toBe(nodes.length);
          for (const [i, edge] of cycle.entries()) expect(edge.to).toBe(nodes[(i + 1) % nodes.length]);
          expect(isOf(family, cycle)).toBe(true);
          expect(orderOf(cycle)).toBe(order);
          const rivals = all.filter(
            (other) =>
              isOf(family, other) &&
              orderOf(other) === order &&
              other.some(({ from }) => nodes.includes(from)),
          );
          const shortest = Math.min(...rivals.map(({ length }) => length));
          // What crosses itself on the way may be passed by for a longer one, never for none.
          expect(nodes.length).toBeGreaterThanOrEqual(shortest);
          if (shortest === 2) expect(nodes.length).toBe(2);
        }
      }),
      { numRuns: 1000, seed: 6 },
    );
  });

  it('takes an auxiliary node for all the edges it stands for', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(tx, { minLength: 1, maxLength: 3 }),
        fc.uniqueArray(tx, { minLength: 1, maxLength: 3 }),
        edgeLists,
        (readers, writers, more) => {
          const straight = new EdgeList(5);
          const joined = new EdgeList(5);
          for (const { from, to, kind: k } of more) {
            straight.add(from, to, k);
            joined.add(from, to, k);
          }
          for (const from of readers) for (const to of writers) if (from !== to) straight.add(from, to, rw);
          const aux = joined.addAux();
          // Nobody depends on himself: where the sides share somebody, each pair has its own edge.
          if (readers.some((each) => writers.includes(each))) return;
          for (const from of readers) joined.add(from, aux, rw);
          for (const to of writers) joined.add(aux, to, rw);
          const shape = (list: EdgeList) =>
            new Set(findCycles(buildGraph(list)).cycles.map(({ family, order }) => `${family} ${order}`));
          expect(shape(joined)).toEqual(shape(straight));
        },
      ),
      { numRuns: 500, seed: 7 },
    );
  });

  it('says what it did not decide when its budget ends', () => {
    const list = new EdgeList(60);
    for (let from = 0; from < 60; from++)
      for (let to = 0; to < 60; to++) if (from !== to) list.add(from, to, from < to ? ww : wr);
    const { cycles, undecided } = findCycles(buildGraph(list), 1);
    expect(cycles.map(({ family }) => family)).not.toContain('G-single');
    expect(undecided.length + cycles.length).toBeGreaterThan(0);
    expect(findCycles(buildGraph(list)).undecided).toEqual([]);
  });
});
