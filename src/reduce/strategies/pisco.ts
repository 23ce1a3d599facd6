/**
 * Pisco's recursive operation reduction (Algorithm 2): divide and conquer over reduction units.
 *
 * 1. S := operations that depend on none.
 * 2. Try to remove the reduction units of all of S at once; if the finding goes, halve S and do the same for each half. An
 *    operation whose unit cannot go is retained.
 * 3. S := the direct successors, still in the case, of the operations retained in this round; repeat from 2 until there
 *    are none.
 *
 * At most 4M + 2M·log2(N/M) trials, where M of N operations are related to the finding and whatever such an operation
 * depends on is related too (technical report §B.2).
 *
 * C_B is one case that shrinks: what line 8 removes is gone when the second half is tried, as the prose and Example 2 of
 * the paper have it, and so the intersection of line 14 is what the second half returns. The other reading of lines 12–14,
 * both halves from the same case and then an intersection that nobody has tried, loses the finding where there are two ways
 * to show it, and runs nearly the whole case in every trial of the first round (for 5,000 operations 26 trials of 128,000
 * statements instead of 18 trials of 16,000). Where the paper's assumption holds both readings end with the same case; a
 * test says so.
 *
 * Reduction units alone are not 1-minimal, whatever Lemma A.1 says: an overwritten write whose reader is needed is
 * retained with it. So single operations are tried at the end; what the units have settled comes from memory.
 */
import type { Subset } from '../case-model.js';
import { type DependencyGraph, reachable, without } from '../dependencies.js';
import { removeSingles } from './one-by-one.js';
import type { Strategy, SubsetTrials } from './strategy.js';

export const pisco: Strategy = {
  name: 'pisco',
  granularity: 'operations',
  async reduce({ model, trials, graph, checkStart }) {
    await checkStart();
    const all = model.operations.map((_, id) => id);
    const units = await reduceUnits(all, graph(), trials);
    return removeSingles(units, trials);
  },
};

/** Algorithm 2 on some operations that show the finding; only those `within` are removed. */
export async function reduceUnits(
  start: Subset,
  whole: DependencyGraph,
  trials: SubsetTrials,
  within: Subset = start,
): Promise<Subset> {
  let current = start;
  const graph = graphWithin(whole, within);
  const retained = new Set<number>();
  let open = within.filter((id) => graph.predecessors[id]!.length === 0);
  while (open.length > 0) {
    const round: number[] = [];
    current = await divideAndConquer(open, current, { graph, trials, round });
    for (const id of round) retained.add(id);
    const alive = new Set(current);
    const next = new Set(round.flatMap((id) => graph.successors[id]!));
    open = [...next].filter((id) => alive.has(id) && !retained.has(id)).sort((a, b) => a - b);
  }
  return current;
}

/** The graph between some operations only. */
function graphWithin(graph: DependencyGraph, operations: Subset): DependencyGraph {
  if (operations.length === graph.successors.length) return graph;
  const inside = new Set(operations);
  const keep = (neighbours: readonly Subset[]) =>
    neighbours.map((ids, id) => (inside.has(id) ? ids.filter((other) => inside.has(other)) : []));
  return { successors: keep(graph.successors), predecessors: keep(graph.predecessors) };
}

interface Round {
  readonly graph: DependencyGraph;
  readonly trials: SubsetTrials;
  /** Operations whose unit cannot go. */
  readonly round: number[];
}

async function divideAndConquer(given: Subset, current: Subset, context: Round): Promise<Subset> {
  const alive = new Set(current);
  // Units overlap: an operation may have gone with another one's unit since the set was cut.
  const set = given.filter((id) => alive.has(id));
  if (set.length === 0) return current;
  const half = set.length >> 1;
  const unit = (part: Subset) => without(current, reachable(context.graph.successors, part));
  const smaller = unit(set);
  const ahead = half > 0 ? [() => unit(set.slice(0, half))] : [];
  if (await context.trials.test(smaller, ahead)) return smaller;
  if (set.length === 1) {
    context.round.push(set[0]!);
    return current;
  }
  const left = await divideAndConquer(set.slice(0, half), current, context);
  return divideAndConquer(set.slice(half), left, context);
}
