/**
 * From a refutation to the few transactions that prove it.
 *
 * A refutation is a cycle, or several that together leave no choice. An edge on them is known, or chosen, or derived
 * from a path of edges that came before it. Following the derived edges back gives every transaction that was used;
 * writers of versions that those read belong to them too. Of these as many as possible are then left out again
 * (`minimalCore`), as long as the rest still breaks the level.
 */

import { kvWrite } from '../../../histories/index.js';
import { cyclicComponents } from '../../graph/components.js';
import { noSource, type ResolvedKv } from '../resolved-kv.js';
import { type OrderProblem, pointTx } from './order-problem.js';
import type { PointEdges, Successors } from './point-edges.js';
import type { OrderConflict } from './search-order.js';

const mostSteps = 2_000;

/** Collects the transactions behind conflicts. */
export class Refutation {
  readonly txs = new Set<number>();
  readonly #problem: OrderProblem;
  readonly #edges: PointEdges;
  readonly #successors: Successors;
  readonly #predecessors: Successors;
  readonly #expanded = new Set<number>();
  /** Which search reached a point, and by which edge: from the front 2 · n, from behind 2 · n + 1. */
  readonly #mark: Int32Array;
  readonly #cameBy: Int32Array;
  #searches = 0;

  constructor(problem: OrderProblem, edges: PointEdges) {
    this.#problem = problem;
    this.#edges = edges;
    this.#successors = edges.successors();
    this.#predecessors = predecessors(edges);
    this.#mark = new Int32Array(edges.pointCount).fill(-1);
    this.#cameBy = new Int32Array(edges.pointCount);
  }

  /** A short cycle of the edges themselves. */
  addCycle(): void {
    const { offsets, targets, edges: ids } = this.#successors;
    const parts = cyclicComponents({ nodeCount: this.#edges.pointCount, offsets, targets });
    const part = parts.reduce<Int32Array | undefined>(
      (best, next) => (best === undefined || next.length < best.length ? next : best),
      undefined,
    );
    let cycle: number[] | undefined;
    for (const point of part?.subarray(0, 32) ?? []) {
      for (let e = offsets[point]!; e < offsets[point + 1]!; e++) {
        const back = this.#path(targets[e]!, point, this.#edges.length);
        if (back !== undefined && (cycle === undefined || back.length + 1 < cycle.length)) {
          cycle = [ids[e]!, ...back];
        }
      }
    }
    if (cycle !== undefined) this.#addEdges(cycle);
  }

  addConflict({ points, derived, choices }: OrderConflict): void {
    for (const point of points) this.#addPoint(point);
    for (const versions of choices) {
      for (const version of versions) this.txs.add(this.#problem.versionTx[version]!);
    }
    this.#addEdges(derived);
  }

  #addPoint(point: number): void {
    const tx = pointTx(this.#problem, point);
    if (tx >= 0) this.txs.add(tx);
  }

  #addEdges(start: readonly number[]): void {
    const work = [...start];
    for (let edge = work.pop(); edge !== undefined; edge = work.pop()) {
      this.#addPoint(this.#edges.from[edge]!);
      this.#addPoint(this.#edges.to[edge]!);
      if (edge < this.#edges.knownCount || this.#expanded.has(edge)) continue;
      if (this.#expanded.size >= mostSteps) continue;
      this.#expanded.add(edge);
      const [from, to] = this.#edges.premise(edge);
      this.#addPoint(from);
      this.#addPoint(to);
      work.push(...this.#withoutDetours(this.#path(from, to, edge) ?? []));
    }
  }

  /** A path along a session needs only its ends: the order of a session is known without what lies between. */
  #withoutDetours(path: readonly number[]): number[] {
    const { chains } = this.#problem;
    const chainOf = (point: number): number => {
      const tx = pointTx(this.#problem, point);
      return tx < 0 ? -1 : chains.session[tx]!;
    };
    const along = (edge: number): boolean => {
      const chain = chainOf(this.#edges.from[edge]!);
      return edge < this.#edges.knownCount && chain >= 0 && chain === chainOf(this.#edges.to[edge]!);
    };
    return path.filter((edge, i) => {
      const before = path[i - 1];
      const after = path[i + 1];
      const inside = before !== undefined && after !== undefined && along(before) && along(after);
      return !(inside && along(edge));
    });
  }

  /** A shortest path of edges with numbers below `limit`, looked for from both ends. */
  #path(from: number, to: number, limit: number): number[] | undefined {
    if (from === to) return [];
    const front = 2 * ++this.#searches;
    const behind = front + 1;
    const mark = this.#mark;
    mark[from] = front;
    mark[to] = behind;
    let heads = [from];
    let tails = [to];
    while (heads.length > 0 && tails.length > 0) {
      const forward = heads.length <= tails.length;
      const { offsets, targets, edges } = forward ? this.#successors : this.#predecessors;
      const own = forward ? front : behind;
      const next: number[] = [];
      for (const point of forward ? heads : tails) {
        for (let e = offsets[point]!; e < offsets[point + 1]!; e++) {
          const target = targets[e]!;
          if (edges[e]! >= limit || mark[target] === own) continue;
          if (mark[target] === (forward ? behind : front)) return this.#join(from, to, edges[e]!);
          mark[target] = own;
          this.#cameBy[target] = edges[e]!;
          next.push(target);
        }
      }
      if (forward) heads = next;
      else tails = next;
    }
    return undefined;
  }

  /** The path over an edge at which both searches met. */
  #join(from: number, to: number, meeting: number): number[] {
    const path = [meeting];
    for (let point = this.#edges.from[meeting]!; point !== from; ) {
      const edge = this.#cameBy[point]!;
      path.unshift(edge);
      point = this.#edges.from[edge]!;
    }
    for (let point = this.#edges.to[meeting]!; point !== to; ) {
      const edge = this.#cameBy[point]!;
      path.push(edge);
      point = this.#edges.to[edge]!;
    }
    return path;
  }
}

function predecessors(edges: PointEdges): Successors {
  const { pointCount, length, from, to } = edges;
  const offsets = new Int32Array(pointCount + 1);
  for (let e = 0; e < length; e++) offsets[to[e]! + 1]!++;
  for (let p = 0; p < pointCount; p++) offsets[p + 1] = offsets[p + 1]! + offsets[p]!;
  const targets = new Int32Array(length);
  const ids = new Int32Array(length);
  const next = offsets.slice(0, pointCount);
  for (let e = 0; e < length; e++) {
    const at = next[to[e]!]!++;
    targets[at] = from[e]!;
    ids[at] = e;
  }
  return { offsets, targets, edges: ids };
}

/** The transactions, and whoever wrote what they read of keys that another of them writes. */
export function withSources(resolved: ResolvedKv, txs: Iterable<number>): number[] {
  const { history, opTx, readsFrom } = resolved;
  const all = new Set(txs);
  const writersOfKey = new Map<number, Set<number>>();
  const eachOp = (visit: (op: number, tx: number) => void): void => {
    for (const tx of [...all]) {
      for (let op = history.opOffsets[tx]!; op < history.opOffsets[tx + 1]!; op++) visit(op, tx);
    }
  };
  eachOp((op, tx) => {
    if (history.opKind[op]! < kvWrite) return;
    const key = history.opKey[op]!;
    const writers = writersOfKey.get(key) ?? new Set();
    writersOfKey.set(key, writers.add(tx));
  });
  eachOp((op, tx) => {
    const source = readsFrom[op]!;
    if (source === noSource || source < 0) return;
    const writer = opTx[source]!;
    const writers = writersOfKey.get(history.opKey[op]!);
    if (writers === undefined) return;
    for (const other of writers) if (other !== tx && other !== writer) all.add(writer);
  });
  return [...all].sort((a, b) => a - b);
}

/** Leaves out what `breaks` does not need: halves first, then smaller parts, until no single one can go. */
export function minimalCore(
  txs: readonly number[],
  breaks: (txs: readonly number[]) => boolean,
  spent: () => boolean = () => false,
): readonly number[] {
  let core = txs;
  for (let size = core.length >> 1; size >= 1; size >>= 1) {
    for (let at = 0; at < core.length && !spent(); ) {
      const rest = core.filter((_, i) => i < at || i >= at + size);
      if (rest.length > 0 && breaks(rest)) core = rest;
      else at += size;
    }
  }
  return core;
}
