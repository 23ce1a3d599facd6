/**
 * Finds, in each strongly connected component, the shortest cycle of each family of anomalies.
 *
 * A family is a small automaton over edge kinds ("exactly one rw", "no two rw in a row", …). A breadth-first
 * search over (node, state) from each possible first node finds the shortest cycle through that node; the best so
 * far bounds the depth of the next search, so after the first short cycle the rest is cheap. Searches are counted
 * and stop at a budget: then the cycle returned is a real one, though perhaps not the shortest.
 *
 * Families (Adya 1999; the exact shapes follow Elle, VLDB 2020, and Cerone & Gotsman for non-adjacency):
 * G0 only ww; G1c ww and at least one wr; G-single exactly one rw; G-nonadjacent two or more rw, never one after
 * the other; G2-item at least two rw one after the other; G2 the same with at least one rw through a predicate.
 * Each may use session order, or session and real-time order, and then must.
 */
import { cyclicComponents } from './components.js';
import { type Graph, kindBit, kindMask, predicateRw, realTime, rw, sessionOrder, wr, ww } from './graph.js';

export type Family = 'G0' | 'G1c' | 'G-single' | 'G-nonadjacent' | 'G2-item' | 'G2';
export type OrderUsed = 'none' | 'session' | 'real-time';

export interface FamilyCycle {
  readonly family: Family;
  readonly order: OrderUsed;
  /** Transactions only; edge i leads from `nodes[i]` to `nodes[(i + 1) % length]`. */
  readonly nodes: readonly number[];
  readonly kinds: readonly number[];
  readonly refs: readonly number[];
}

export interface CycleSearch {
  readonly cycles: FamilyCycle[];
  /** A family for which the budget ended before any cycle was found or excluded. */
  readonly undecided: readonly { readonly family: Family; readonly order: OrderUsed }[];
}

export const families: readonly Family[] = ['G0', 'G1c', 'G-single', 'G-nonadjacent', 'G2-item', 'G2'];
export const orders: readonly OrderUsed[] = ['none', 'session', 'real-time'];

const dependencies = kindMask(ww, wr);
const masks: Readonly<Record<Family, number>> = {
  G0: kindMask(ww),
  G1c: dependencies,
  'G-single': dependencies | kindMask(rw, predicateRw),
  'G-nonadjacent': dependencies | kindMask(rw, predicateRw),
  'G2-item': dependencies | kindMask(rw),
  G2: dependencies | kindMask(rw, predicateRw),
};
const orderMasks: Readonly<Record<OrderUsed, number>> = {
  none: 0,
  session: kindMask(sessionOrder),
  'real-time': kindMask(sessionOrder, realTime),
};

/** Bits of an automaton's state. */
const sawWr = 1;
const sawOrder = 2;
const sawSecondRw = 4;
const sawPredicate = 8;
const lastWasRw = 16;
const stateCount = 32;

const smallPart = 40;

const isRw = (kind: number): boolean => kind === rw || kind === predicateRw;

/** The state after an edge, or -1 if the family does not allow it. Every rw family starts with its rw edge. */
function step(family: Family, order: OrderUsed, state: number, kind: number, first: boolean): number {
  let next = state & ~lastWasRw;
  if (kind === wr) next |= sawWr;
  if (kind === realTime || (kind === sessionOrder && order === 'session')) next |= sawOrder;
  if (isRw(kind)) {
    if (!first) {
      if (family === 'G-single') return -1;
      if (family === 'G-nonadjacent' && (state & lastWasRw) !== 0) return -1;
      next |= sawSecondRw;
    }
    if (kind === predicateRw) next |= sawPredicate;
    next |= lastWasRw;
  } else if (first && family !== 'G0' && family !== 'G1c') return -1;
  return next;
}

/** May a cycle end in this state? */
function accepts(family: Family, order: OrderUsed, state: number): boolean {
  if (order !== 'none' && (state & sawOrder) === 0) return false;
  const rwLast = (state & lastWasRw) !== 0;
  switch (family) {
    case 'G0':
      return true;
    case 'G1c':
      return (state & sawWr) !== 0;
    case 'G-single':
      return true;
    case 'G-nonadjacent':
      return (state & sawSecondRw) !== 0 && !rwLast;
    case 'G2-item':
      return rwLast;
    case 'G2':
      return rwLast && (state & sawPredicate) !== 0;
  }
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
      const mask = masks[family] | orderMasks[order];
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

class CycleBfs {
  edgesLeft = 0;
  #metTwice = false;
  readonly #graph: Graph;
  readonly #inPart: Uint8Array;
  /** Which search last reached (node, state), and from where. Allocated for the nodes of one part at a time. */
  readonly #slot: Int32Array;

  constructor(graph: Graph) {
    this.#graph = graph;
    this.#inPart = new Uint8Array(graph.nodeCount);
    this.#slot = new Int32Array(graph.nodeCount);
  }

  shortest(family: Family, order: OrderUsed, mask: number, part: Int32Array): FamilyCycle | undefined {
    const { txCount, offsets, kinds } = this.#graph;
    part.forEach((node, i) => {
      this.#inPart[node] = 1;
      this.#slot[node] = i;
    });
    const reached = new Int32Array(part.length * stateCount).fill(-1);
    const cameFrom = new Int32Array(part.length * stateCount);
    const cameBy = new Int32Array(part.length * stateCount);
    let best: FamilyCycle | undefined;
    let bestLength = Number.POSITIVE_INFINITY;
    this.#metTwice = false;
    for (const start of part) {
      if (start >= txCount || bestLength <= 2 || this.edgesLeft <= 0) continue;
      const needsRw = family !== 'G0' && family !== 'G1c';
      if (needsRw) {
        let leads = false;
        for (let e = offsets[start]!; e < offsets[start + 1]! && !leads; e++) leads = isRw(kinds[e]!);
        if (!leads) continue;
      }
      const cycle = this.#from(start, family, order, mask, part, bestLength, reached, cameFrom, cameBy);
      if (cycle !== undefined) {
        best = cycle;
        bestLength = cycle.nodes.length;
      }
    }
    if (best === undefined && this.#metTwice && part.length <= smallPart) {
      best = this.#bySimplePaths(family, order, mask, part);
    }
    for (const node of part) this.#inPart[node] = 0;
    return best;
  }

  /**
   * The search above keeps one way to each (node, state), and that one may cross itself where another would not. In
   * small parts every simple path is tried then.
   */
  #bySimplePaths(family: Family, order: OrderUsed, mask: number, part: Int32Array): FamilyCycle | undefined {
    const { txCount, offsets, targets, kinds, refs } = this.#graph;
    const onPath = new Set<number>();
    const path: { node: number; edge: number }[] = [];
    let best: FamilyCycle | undefined;
    const visit = (start: number, node: number, state: number, length: number): void => {
      if (this.edgesLeft <= 0 || (best !== undefined && length + 1 >= best.nodes.length)) return;
      for (let e = offsets[node]!; e < offsets[node + 1]!; e++) {
        const target = targets[e]!;
        const kind = kinds[e]!;
        if (((mask >> kind) & 1) === 0 || this.#inPart[target] === 0) continue;
        this.edgesLeft--;
        const isAux = target >= txCount;
        const next = step(family, order, state, kind, length === 0);
        if (next < 0) continue;
        path.push({ node, edge: e });
        if (target === start) {
          if (length > 0 && accepts(family, order, next)) {
            const entering = path.filter(({ edge }) => targets[edge]! < txCount).map(({ edge }) => edge);
            best = {
              family,
              order,
              nodes: path.filter((stepped) => stepped.node < txCount).map((stepped) => stepped.node),
              kinds: entering.map((edge) => kinds[edge]!),
              refs: entering.map((edge) => refs[edge]!),
            };
          }
        } else if (isAux) {
          // Auxiliary nodes never lead to each other in a circle, and a path may use one twice.
          visit(start, target, state, length);
        } else if (!onPath.has(target)) {
          onPath.add(target);
          visit(start, target, next, length + 1);
          onPath.delete(target);
        }
        path.pop();
      }
    };
    for (const start of part) if (start < txCount) visit(start, start, 0, 0);
    return best;
  }

  #from(
    start: number,
    family: Family,
    order: OrderUsed,
    mask: number,
    part: Int32Array,
    limit: number,
    reached: Int32Array,
    cameFrom: Int32Array,
    cameBy: Int32Array,
  ): FamilyCycle | undefined {
    const { txCount, offsets, targets, kinds } = this.#graph;
    const root = this.#slot[start]! * stateCount;
    // Levels of the search: auxiliary nodes cost nothing, so they join the level they were met on.
    let level: number[] = [root];
    for (let depth = 0; level.length > 0 && depth + 1 < limit; depth++) {
      const nextLevel: number[] = [];
      for (let i = 0; i < level.length; i++) {
        const at = level[i]!;
        const node = part[Math.floor(at / stateCount)]!;
        const state = at % stateCount;
        for (let e = offsets[node]!; e < offsets[node + 1]!; e++) {
          const kind = kinds[e]!;
          if (((mask >> kind) & 1) === 0) continue;
          const target = targets[e]!;
          if (this.#inPart[target] === 0) continue;
          this.edgesLeft--;
          if (target >= txCount) {
            // From the start of an rw family only its rw edges may leave, through auxiliary nodes too.
            if (depth === 0 && step(family, order, 0, kind, true) < 0) continue;
            const to = this.#slot[target]! * stateCount + state;
            if (reached[to] === start) continue;
            reached[to] = start;
            cameFrom[to] = at;
            cameBy[to] = e;
            level.push(to);
            continue;
          }
          const next = step(family, order, state, kind, depth === 0);
          if (next < 0) continue;
          if (target === start) {
            if (depth === 0 || !accepts(family, order, next)) continue;
            const cycle = this.#cycle(root, at, e, family, order, part, cameFrom, cameBy);
            // A walk that meets a transaction twice is two cycles, and each has a name of its own.
            if (new Set(cycle.nodes).size === cycle.nodes.length) return cycle;
            this.#metTwice = true;
            continue;
          }
          const to = this.#slot[target]! * stateCount + next;
          if (reached[to] === start) continue;
          reached[to] = start;
          cameFrom[to] = at;
          cameBy[to] = e;
          nextLevel.push(to);
        }
      }
      if (this.edgesLeft <= 0) return undefined;
      level = nextLevel;
    }
    return undefined;
  }

  #cycle(
    root: number,
    last: number,
    lastEdge: number,
    family: Family,
    order: OrderUsed,
    part: Int32Array,
    cameFrom: Int32Array,
    cameBy: Int32Array,
  ): FamilyCycle {
    const { txCount, kinds, refs } = this.#graph;
    const nodes: number[] = [];
    const kindList: number[] = [];
    const refList: number[] = [];
    let at = last;
    let edge = lastEdge;
    // Walk back; an edge counts at the transaction it enters, so the edges between auxiliary nodes drop out.
    let entered = true;
    for (;;) {
      if (entered) {
        kindList.unshift(kinds[edge]!);
        refList.unshift(refs[edge]!);
      }
      const node = part[Math.floor(at / stateCount)]!;
      entered = node < txCount;
      if (entered) nodes.unshift(node);
      if (at === root) break;
      edge = cameBy[at]!;
      at = cameFrom[at]!;
    }
    return { family, order, nodes, kinds: kindList, refs: refList };
  }
}
