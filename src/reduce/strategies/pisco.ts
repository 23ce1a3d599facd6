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
 * The paper leaves open in which order halves are tried. Here it is level by level, as in the released program: all parts of one
 * size, in the order of the schedule, before any is cut finer. What is left shrinks from level to level, and with it every trial
 * that follows; going down into the first half at once would run the second half along in each of them (the spread case of
 * `npm run bench reduce`, 5,000 operations: 168,000 statements in 50 trials instead of 52,000 in 62).
 *
 * C_B is one case that shrinks: what line 8 removes is gone when the next part is tried, as the prose and Example 2 of
 * the paper have it. The other reading of lines 12–14, both halves from the same case and then an intersection that nobody has
 * tried, loses the finding where there are two ways to show it. Where the paper's assumption holds both readings end with
 * the same case; a test says so.
 *
 * Reduction units alone are not 1-minimal, whatever Lemma A.1 says: an overwritten write whose reader is needed is
 * retained with it. So single operations are tried at the end; what the units have settled comes from memory.
 */
import type { Subset } from '../case-model.js';
import { type DependencyGraph, reachable, without } from '../dependencies.js';
import { cut, removeSingles } from './one-by-one.js';
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

async function divideAndConquer(open: Subset, start: Subset, context: Round): Promise<Subset> {
  const { graph, trials, round } = context;
  let current = start;
  let parts = [open];
  while (parts.length > 0) {
    const finer: Subset[] = [];
    for (const [i, part] of parts.entries()) {
      const alive = new Set(current);
      // Units overlap: an operation may have gone with another one's unit since the part was cut.
      const set = part.filter((id) => alive.has(id));
      if (set.length === 0) continue;
      const base = current;
      const unit = (some: Subset) => without(base, reachable(graph.successors, some));
      const smaller = unit(set);
      const ahead = parts.slice(i + 1).map((next) => () => unit(next));
      if (await trials.test(smaller, ahead)) current = smaller;
      else if (set.length === 1) round.push(set[0]!);
      else finer.push(...cut(set, 2));
    }
    parts = finer;
  }
  return current;
}
