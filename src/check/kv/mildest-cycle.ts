/**
 * Names what a few transactions that break a level did. The order of the versions they wrote is often not known, and a
 * cycle in one order may be a lost update where another order shows no more than write skew: then the history allows what a
 * database that forbids lost updates does, and the milder name is the right one.
 *
 * So every order of versions is tried. An order is as bad as the worst cycle it has; the mildest order counts, and its worst
 * cycle names the finding. Only for the few transactions of a core: the orders of all keys together are limited.
 */
import { kvRead, kvWrite } from '../../histories/index.js';
import type { FamilyCycle } from '../graph/cycle-search.js';
import { findCycles } from '../graph/cycles.js';
import { buildGraph, copyEdges, type EdgeList, rw, ww } from '../graph/graph.js';
import { mildnessOf, nameCycle } from '../graph/name-cycle.js';
import type { ResolvedKv } from './resolved-kv.js';

const mostOrders = 720;

/**
 * The worst cycle in the mildest order of versions; `none` where an order has no cycle that `breaks` the level, undefined
 * where there are too many orders. `known` are the edges that hold whatever the order.
 */
export function mildestCycle(
  resolved: ResolvedKv,
  known: EdgeList,
  breaks: (cycle: FamilyCycle) => boolean,
): FamilyCycle | 'none' | undefined {
  const keys = openKeys(resolved);
  const count = keys.reduce((product, { writers }) => product * factorial(writers.length), 1);
  if (count > mostOrders) return undefined;
  let best: { readonly cycle: FamilyCycle; readonly rank: number } | undefined;
  for (const orders of combinations(keys.map(({ writers }) => [...permutations(writers)]))) {
    const edges = copyEdges(known);
    keys.forEach(({ key, readers }, i) => {
      const order = orders[i]!;
      for (let version = 0; version + 1 < order.length; version++) {
        const [first, second] = [order[version]!, order[version + 1]!];
        edges.add(first, second, ww, key);
        for (const reader of readers.get(first) ?? [])
          if (reader !== second) edges.add(reader, second, rw, key);
      }
    });
    const worst = findCycles(buildGraph(edges))
      .cycles.map((cycle) => ({ cycle, rank: rankOf(cycle) }))
      .reduce<{ readonly cycle: FamilyCycle; readonly rank: number } | undefined>(
        (worse, next) => (worse === undefined || isWorse(next, worse) ? next : worse),
        undefined,
      );
    if (worst === undefined || !breaks(worst.cycle)) return 'none';
    if (best === undefined || worst.rank > best.rank || (worst.rank === best.rank && isShorter(worst, best)))
      best = worst;
  }
  return best?.cycle;
}

type Ranked = { readonly cycle: FamilyCycle; readonly rank: number };

const isShorter = (a: Ranked, b: Ranked): boolean => a.cycle.nodes.length < b.cycle.nodes.length;
const isWorse = (a: Ranked, b: Ranked): boolean => a.rank < b.rank || (a.rank === b.rank && isShorter(a, b));

const rankOf = (cycle: FamilyCycle): number => mildnessOf(nameCycle(cycle));

interface OpenKey {
  readonly key: number;
  readonly writers: readonly number[];
  /** Who read each writer's version. */
  readonly readers: ReadonlyMap<number, readonly number[]>;
}

/** Registers with several writers among the transactions that count. */
function openKeys({ history, counts, opTx, finalWrite, readsFrom }: ResolvedKv): OpenKey[] {
  const writers = new Map<number, number[]>();
  const readers = new Map<number, Map<number, number[]>>();
  for (let tx = 0; tx < history.txCount; tx++) {
    if (counts[tx] === 0) continue;
    for (let op = history.opOffsets[tx]!; op < history.opOffsets[tx + 1]!; op++) {
      const key = history.opKey[op]!;
      if (history.opKind[op] === kvWrite && finalWrite[op] === 1)
        writers.set(key, [...(writers.get(key) ?? []), tx]);
      const source = readsFrom[op]!;
      if (history.opKind[op] !== kvRead || source < 0) continue;
      const ofKey = readers.get(key) ?? new Map<number, number[]>();
      const writer = opTx[source]!;
      ofKey.set(writer, [...(ofKey.get(writer) ?? []), tx]);
      readers.set(key, ofKey);
    }
  }
  return [...writers]
    .filter(([, txs]) => txs.length > 1)
    .map(([key, txs]) => ({ key, writers: txs, readers: readers.get(key) ?? new Map() }));
}

const factorial = (n: number): number =>
  n <= 1 ? 1 : n > 10 ? Number.POSITIVE_INFINITY : n * factorial(n - 1);

function* permutations(items: readonly number[]): Generator<number[], void, undefined> {
  if (items.length <= 1) yield [...items];
  for (const first of items.length <= 1 ? [] : items) {
    for (const rest of permutations(items.filter((item) => item !== first))) yield [first, ...rest];
  }
}

function* combinations(lists: readonly (readonly number[][])[]): Generator<number[][], void, undefined> {
  const [first, ...rest] = lists;
  if (first === undefined) yield [];
  for (const item of first ?? []) for (const others of combinations(rest)) yield [item, ...others];
}
