/**
 * Witness-first: the finding already names the operations that show it, so start small and grow, instead of starting big
 * and shrinking.
 *
 * 1. The smallest case is the finding's own operations and the first operation of each of their transactions, where the
 *    snapshot may be fixed. BEGIN and COMMIT come by themselves.
 * 2. Close it under what it needs, layer by layer, until a layer shows the finding: the writers of the versions these
 *    operations read or overwrite and the INSERTs that created their rows; their whole transactions; then the writers before
 *    those, 1, 2, 4, … steps back along the dependency graph, again with whole transactions; then everything up to the
 *    last of them; then everything, which is known to show it.
 * 3. What the last layer added is reduced by divide and conquer over reduction units (`pisco.ts`), and every operation
 *    left is tried alone.
 *
 * When the finding is local, as isolation findings nearly always are, the number of trials does not depend on the size of
 * the case at all. When it is not, layers cost a logarithm and the rest is what reduction units cost.
 */
import type { CaseModel, Subset } from '../case-model.js';
import { type DependencyGraph, reachable, without } from '../dependencies.js';
import { removeOneByOne, singles } from './one-by-one.js';
import { reduceUnits } from './pisco.js';
import type { Problem, Strategy } from './strategy.js';

export const witness: Strategy = {
  name: 'witness',
  granularity: 'operations',
  async reduce(problem) {
    const { model, trials } = problem;
    const layers = witnessLayers(problem);
    const found = await trials.first(layers.length, (i) => layers[i]!);
    const enough = found < 0 ? model.operations.map((_, id) => id) : layers[found]!;
    const core = found > 0 ? layers[found - 1]! : found === 0 ? enough : [];
    const extras = without(enough, core);
    const kept = extras.length === 0 ? enough : await reduceUnits(enough, problem.graph(), trials, extras);
    return removeOneByOne(kept, singles(kept), trials);
  },
};

/** Growing sets of operations around a finding's own; the last one is not everything. Empty: the finding names none. */
export function witnessLayers({ model, graph, witness: own }: Problem): Subset[] {
  if (own.length === 0) return [];
  const layers: Subset[] = [];
  const add = (layer: Iterable<number>): Subset => {
    const sorted = [...new Set(layer)].sort((a, b) => a - b);
    const last = layers.at(-1);
    if (sorted.length > (last?.length ?? 0) && sorted.length < model.operations.length) layers.push(sorted);
    return sorted;
  };
  const end = Math.max(...own);
  let layer = add([...own, ...firstOperations(model, own)]);
  layer = add([...layer, ...writersBefore(graph(), layer, 1), ...creators(model, graph(), layer)]);
  layer = add(wholeTransactions(model, layer));
  for (let steps = 1; ; steps *= 2) {
    const before = layer.length;
    const further = [...layer, ...writersBefore(graph(), layer, steps), ...creators(model, graph(), layer)];
    layer = add(wholeTransactions(model, further));
    if (layer.length === before) break;
  }
  add([...layer, ...Array.from({ length: end + 1 }, (_, id) => id)]);
  return layers;
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
