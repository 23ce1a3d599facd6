/**
 * Edges between points: first those that are known, then those that were derived from them. A derived edge remembers
 * its premise, the path whose existence forces it; all edges of that path have smaller numbers. So every derived edge
 * can be traced back to known ones (`refutation.ts`).
 */
import type { OrderProblem } from './order-problem.js';

/** Edges by source: those of `p` lead to `targets[offsets[p] … offsets[p + 1] - 1]`, and `edges` has their numbers. */
export interface Successors {
  readonly offsets: Int32Array;
  readonly targets: Int32Array;
  readonly edges: Int32Array;
}

export class PointEdges {
  readonly pointCount: number;
  /** Edges with smaller numbers are known, the others derived. */
  readonly knownCount: number;
  from: Int32Array;
  to: Int32Array;
  length: number;
  #premiseFrom: Int32Array;
  #premiseTo: Int32Array;

  constructor(problem: Pick<OrderProblem, 'pointCount' | 'sources' | 'targets'>) {
    this.pointCount = problem.pointCount;
    this.knownCount = problem.sources.length;
    this.length = this.knownCount;
    const size = this.knownCount + 1024;
    this.from = new Int32Array(size);
    this.from.set(problem.sources);
    this.to = new Int32Array(size);
    this.to.set(problem.targets);
    this.#premiseFrom = new Int32Array(1024);
    this.#premiseTo = new Int32Array(1024);
  }

  /** An edge that holds because there is a path between the two points of its premise. */
  derive(from: number, to: number, premiseFrom: number, premiseTo: number): void {
    const edge = this.length++;
    if (edge === this.from.length) {
      this.from = grown(this.from);
      this.to = grown(this.to);
    }
    this.from[edge] = from;
    this.to[edge] = to;
    const derived = edge - this.knownCount;
    if (derived === this.#premiseFrom.length) {
      this.#premiseFrom = grown(this.#premiseFrom);
      this.#premiseTo = grown(this.#premiseTo);
    }
    this.#premiseFrom[derived] = premiseFrom;
    this.#premiseTo[derived] = premiseTo;
  }

  /** The ends of the path that forces a derived edge. */
  premise(edge: number): readonly [from: number, to: number] {
    const derived = edge - this.knownCount;
    return [this.#premiseFrom[derived]!, this.#premiseTo[derived]!];
  }

  successors(): Successors {
    const { pointCount, length, from, to } = this;
    const offsets = new Int32Array(pointCount + 1);
    for (let e = 0; e < length; e++) offsets[from[e]! + 1]!++;
    for (let p = 0; p < pointCount; p++) offsets[p + 1] = offsets[p + 1]! + offsets[p]!;
    const targets = new Int32Array(length);
    const edges = new Int32Array(length);
    const next = offsets.slice(0, pointCount);
    for (let e = 0; e < length; e++) {
      const at = next[from[e]!]!++;
      targets[at] = to[e]!;
      edges[at] = e;
    }
    return { offsets, targets, edges };
  }
}

function grown(old: Int32Array): Int32Array {
  const larger = new Int32Array(old.length * 2);
  larger.set(old);
  return larger;
}

/** The number of edges into each point. */
export function incomingCounts({ pointCount }: PointEdges, { targets }: Successors): Int32Array {
  const incoming = new Int32Array(pointCount);
  for (let i = 0; i < targets.length; i++) incoming[targets[i]!]!++;
  return incoming;
}

/** The points in an order of the edges; those on cycles, and behind them, are left out. */
export function sortPoints(edges: PointEdges, { offsets, targets, edges: ids }: Successors): Int32Array {
  const incoming = incomingCounts(edges, { offsets, targets, edges: ids });
  const order = new Int32Array(edges.pointCount);
  let length = 0;
  for (let p = 0; p < edges.pointCount; p++) if (incoming[p] === 0) order[length++] = p;
  for (let i = 0; i < length; i++) {
    const p = order[i]!;
    for (let e = offsets[p]!; e < offsets[p + 1]!; e++) {
      const target = targets[e]!;
      incoming[target] = incoming[target]! - 1;
      if (incoming[target] === 0) order[length++] = target;
    }
  }
  return order.subarray(0, length);
}
