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
 * The whole case itself is tried only if no layer shows the finding: running 20,000 statements takes longer than all
 * the rest.
 *
 * When the finding is local, as isolation findings nearly always are, the number of trials does not depend on the size of
 * the case at all. When it is not, layers cost a logarithm and the rest is what reduction units cost.
 */
import type { CaseModel, Subset } from '../case-model.js';
import { type DependencyGraph, reachable, without } from '../dependencies.js';
import { removeSingles } from './one-by-one.js';
import { reduceUnits } from './pisco.js';
import type { Problem, Strategy } from './strategy.js';

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
 * Growing sets of operations around a finding's own; the last one is not everything. None if the finding names none. Lazy:
 * the dependency graph is built only if the first layer does not do.
 */
export function* witnessLayers({ model, graph, witness: own }: Problem): Generator<Subset> {
  if (own.length === 0) return;
  let size = 0;
  let layer: Subset = own;
  const grown = function* (more: Iterable<number>): Generator<Subset> {
    layer = [...new Set([...layer, ...more])].sort((a, b) => a - b);
    if (layer.length > size && layer.length < model.operations.length) yield layer;
    size = layer.length;
  };
  yield* grown(firstOperations(model, own));
  yield* grown([...writersBefore(graph(), layer, 1), ...creators(model, graph(), layer)]);
  yield* grown(wholeTransactions(model, layer));
  for (let steps = 1, before = 0; before < layer.length; steps *= 2) {
    before = layer.length;
    const further = [...layer, ...writersBefore(graph(), layer, steps), ...creators(model, graph(), layer)];
    yield* grown(wholeTransactions(model, further));
  }
  yield* grown(Array.from({ length: Math.max(...own) + 1 }, (_, id) => id));
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
