/**
 * The shortest cycle of one family in one strongly connected part of a graph: a breadth-first search over (node, state
 * of the family's automaton) from each possible first node. The best so far bounds the depth of the next search, so
 * after the first short cycle the rest is cheap. Edges looked at are counted and the search stops at a budget.
 */
import { accepts, type Family, isRw, type OrderUsed, stateCount, step } from './families.js';
import type { Graph } from './graph.js';

export interface FamilyCycle {
  readonly family: Family;
  readonly order: OrderUsed;
  /** Transactions only; edge i leads from `nodes[i]` to `nodes[(i + 1) % length]`. */
  readonly nodes: readonly number[];
  readonly kinds: readonly number[];
  readonly refs: readonly number[];
}

const smallPart = 40;

/** What is looked for, and where. */
interface Wanted {
  readonly family: Family;
  readonly order: OrderUsed;
  readonly mask: number;
  readonly part: Int32Array;
}

/** Per node of a part and state: which search reached it last, from where, and by which edge. */
interface Trail {
  readonly reached: Int32Array;
  readonly cameFrom: Int32Array;
  readonly cameBy: Int32Array;
}

export class CycleBfs {
  edgesLeft = 0;
  #metTwice = false;
  readonly #graph: Graph;
  readonly #inPart: Uint8Array;
  /** Where the nodes of the part at hand stand in it. */
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
    const wanted = { family, order, mask, part };
    const trail = {
      reached: new Int32Array(part.length * stateCount).fill(-1),
      cameFrom: new Int32Array(part.length * stateCount),
      cameBy: new Int32Array(part.length * stateCount),
    };
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
      const cycle = this.#from(start, wanted, trail, bestLength);
      if (cycle !== undefined) {
        best = cycle;
        bestLength = cycle.nodes.length;
      }
    }
    if (best === undefined && this.#metTwice && part.length <= smallPart) {
      best = this.#bySimplePaths(wanted);
    }
    for (const node of part) this.#inPart[node] = 0;
    return best;
  }

  /**
   * The search above keeps one way to each (node, state), and that one may cross itself where another would not. In
   * small parts every simple path is tried then.
   */
  #bySimplePaths({ family, order, mask, part }: Wanted): FamilyCycle | undefined {
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

  /** The shortest cycle over a transaction, if it has fewer than `limit`. */
  #from(start: number, wanted: Wanted, trail: Trail, limit: number): FamilyCycle | undefined {
    const { family, order, mask, part } = wanted;
    const { reached, cameFrom, cameBy } = trail;
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
            const cycle = this.#cycle({ root, last: at, lastEdge: e }, wanted, trail);
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

  /** The cycle that a search closed, by an edge from `last` to its root. */
  #cycle(
    { root, last, lastEdge }: { readonly root: number; readonly last: number; readonly lastEdge: number },
    { family, order, part }: Wanted,
    { cameFrom, cameBy }: Trail,
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
