/**
 * Finds, in each strongly connected component, the shortest cycle of each family of anomalies (`families.ts`). When the
 * budget ends a search early, the cycle returned is a real one, though perhaps not the shortest.
 */
import { cyclicComponents } from './components.js';
import { CycleBfs, type FamilyCycle } from './cycle-search.js';
import { type Family, families, familyMasks, type OrderUsed, orderMasks, orders } from './families.js';
import { type Graph, kindBit, predicateRw, realTime, sessionOrder } from './graph.js';

export interface CycleSearch {
  readonly cycles: FamilyCycle[];
  /** A family for which the budget ended before any cycle was found or excluded. */
  readonly undecided: readonly { readonly family: Family; readonly order: OrderUsed }[];
}

/** The kinds of edges in the graph, so that families that cannot occur cost nothing. */
function kindsIn(graph: Graph): number {
  let mask = 0;
  for (let e = 0; e < graph.kinds.length; e++) mask |= kindBit(graph.kinds[e]!);
  return mask;
}

/**
 * The shortest cycle of every family in every component of `graph`. A family is searched without session and
 * real-time order first, and with them only in components where it was not found.
 */
export function findCycles(graph: Graph, budget = 20_000_000, perFamily = 20): CycleSearch {
  const cycles: FamilyCycle[] = [];
  const undecided: { family: Family; order: OrderUsed }[] = [];
  const components = cyclicComponents(graph);
  if (components.length === 0) return { cycles, undecided };
  const present = kindsIn(graph);
  // Each component becomes a graph of its own, so that the cost follows the components and not the history.
  const parts = components.map((nodes) => inducedGraph(graph, nodes));
  for (const family of families) {
    if (family === 'G2' && (present & kindBit(predicateRw)) === 0) continue;
    const done = new Set<number>();
    let found = 0;
    let edgesLeft = budget;
    for (const order of orders) {
      const mask = familyMasks[family] | orderMasks[order];
      const needed = order === 'session' ? sessionOrder : realTime;
      if (order !== 'none' && (present & kindBit(needed)) === 0) continue;
      let exhausted = false;
      for (const [i, nodes] of components.entries()) {
        if (done.has(i) || found >= perFamily) continue;
        const search = new CycleBfs(parts[i]!);
        for (const part of cyclicComponents(parts[i]!, mask)) {
          search.edgesLeft = edgesLeft;
          const cycle = search.shortest(family, order, mask, part);
          edgesLeft = search.edgesLeft;
          if (cycle !== undefined) {
            cycles.push({ ...cycle, nodes: cycle.nodes.map((node) => nodes[node]!) });
            found++;
            done.add(i);
            break;
          }
          if (edgesLeft <= 0) exhausted = true;
        }
      }
      if (exhausted && found === 0) undecided.push({ family, order });
    }
  }
  return { cycles, undecided };
}

/** The nodes of a component, renumbered in order, so that transactions still come before auxiliary nodes. */
function inducedGraph(graph: Graph, nodes: Int32Array): Graph {
  const local = new Map<number, number>();
  nodes.forEach((node, i) => {
    local.set(node, i);
  });
  const offsets = new Int32Array(nodes.length + 1);
  const targets: number[] = [];
  const kinds: number[] = [];
  const refs: number[] = [];
  nodes.forEach((node, i) => {
    for (let e = graph.offsets[node]!; e < graph.offsets[node + 1]!; e++) {
      const target = local.get(graph.targets[e]!);
      if (target === undefined) continue;
      targets.push(target);
      kinds.push(graph.kinds[e]!);
      refs.push(graph.refs[e]!);
    }
    offsets[i + 1] = targets.length;
  });
  return {
    txCount: nodes.filter((node) => node < graph.txCount).length,
    nodeCount: nodes.length,
    offsets,
    targets: Int32Array.from(targets),
    kinds: Uint8Array.from(kinds),
    refs: Int32Array.from(refs),
  };
}
