/**
 * Witness-first: the finding already names the operations that show it, so start small and grow, instead of starting big
 * and shrinking.
 *
 * 1. The smallest case is the finding's own operations. BEGIN and COMMIT come by themselves.
 * 2. Add what it needs, layer by layer, until a layer shows the finding: the last 1, 2, 4, 8 writers of the rows the finding
 *    is about, for their versions are what was read, overwritten or missed; the first operation of each transaction,
 *    where its snapshot may be fixed; the writers of everything else these operations touch, and the INSERTs that
 *    created their rows; their whole transactions; every writer of those rows; then the writers before all that, 1, 2, 4, …
 *    steps back along the dependency graph, again with whole transactions; then everything up to the last of them; then
 *    everything, which is known to show it.
 * 3. What the last layer added is reduced by divide and conquer over reduction units (`pisco.ts`), and every operation
 *    left is tried alone.
 *
 * The whole case itself is tried only if no layer shows the finding: running 20,000 statements takes longer than all
 * the rest.
 *
 * When the finding is local, as isolation findings nearly always are, the number of trials does not depend on the size of
 * the case at all. When it is not, layers cost a logarithm and the rest is what reduction units cost.
 */
import type { CaseModel, Subset } from '../case-model.js';
import { type DependencyGraph, reachable, without } from '../dependencies.js';
import type { Surroundings } from '../surroundings.js';
import { removeSingles } from './one-by-one.js';
import { reduceUnits } from './pisco.js';
import type { Strategy } from './strategy.js';

const nearWriters = [1, 2, 4, 8];

export const witness: Strategy = {
  name: 'witness',
  granularity: 'operations',
  async reduce(problem) {
    const { model, trials } = problem;
    // The layer before the one that shows the finding: too little, but what it lacks is in the next one.
    let core: Subset = [];
    let enough: Subset | undefined;
    for (const layer of witnessLayers(problem)) {
      if (await trials.test(layer)) {
        enough = layer;
        break;
      }
      core = layer;
    }
    if (enough === undefined) await problem.checkStart();
    enough ??= model.operations.map((_, id) => id);
    const extras = core.length === 0 && enough.length < model.operations.length ? [] : without(enough, core);
    const kept = extras.length === 0 ? enough : await reduceUnits(enough, problem.graph(), trials, extras);
    return removeSingles(kept, trials);
  },
};

/**
 * Sets of operations around a finding's own, small ones first; none is everything, and none comes twice in a row. None at
 * all if the finding names no operations. Lazy: rows and graph are looked at only if the first layer does not do.
 */
export function* witnessLayers(problem: Surroundings): Generator<Subset> {
  let last = '';
  for (const layer of growingSets(problem)) {
    const sorted = [...new Set(layer)].sort((a, b) => a - b);
    const key = sorted.join();
    if (key !== last && sorted.length < problem.model.operations.length) yield sorted;
    last = key;
  }
}

function* growingSets({ model, graph, witness: own, rowWriters }: Surroundings): Generator<Subset> {
  if (own.length === 0) return;
  yield own;
  const writers = rowWriters();
  let layer = own;
  for (const count of nearWriters) {
    layer = [...own, ...writers.slice(-count)];
    yield layer;
    if (count >= writers.length) break;
  }
  layer = [...layer, ...firstOperations(model, own)];
  yield layer;
  layer = [...layer, ...writersBefore(graph(), layer, 1), ...creators(model, graph(), layer)];
  yield layer;
  layer = wholeTransactions(model, layer);
  yield layer;
  layer = [...layer, ...writers];
  yield layer;
  for (let steps = 1, before = 0; before < layer.length; steps *= 2) {
    before = layer.length;
    const further = [...layer, ...writersBefore(graph(), layer, steps), ...creators(model, graph(), layer)];
    layer = wholeTransactions(model, further);
    yield layer;
  }
  yield [...layer, ...Array.from({ length: Math.max(...own) + 1 }, (_, id) => id)];
}

function firstOperations(model: CaseModel, of: Subset): number[] {
  return of.map((id) => model.transactions[model.operations[id]!.transaction]!.operations[0]!);
}

function wholeTransactions(model: CaseModel, of: Iterable<number>): number[] {
  const touched = new Set([...of].map((id) => model.operations[id]!.transaction));
  return [...touched].flatMap((t) => model.transactions[t]!.operations);
}

/** What lies up to so many steps back along the graph. */
function writersBefore(graph: DependencyGraph, of: Subset, steps: number): Iterable<number> {
  const seen = new Set<number>(of);
  let edge: Iterable<number> = of;
  for (let step = 0; step < steps; step++) {
    const next: number[] = [];
    for (const id of edge) {
      for (const before of graph.predecessors[id]!) {
        if (seen.has(before)) continue;
        seen.add(before);
        next.push(before);
      }
    }
    if (next.length === 0) break;
    edge = next;
  }
  return seen;
}

/** The INSERTs nearest before some operations on every way back: they made the rows exist. */
function creators(model: CaseModel, graph: DependencyGraph, of: Subset): number[] {
  const isInsert = (id: number) => model.operations[id]!.kind === 'insert';
  const untilInsert = graph.predecessors.map((before, id) => (isInsert(id) ? [] : before));
  return reachable(untilInsert, of).filter(isInsert);
}
