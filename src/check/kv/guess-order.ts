/**
 * Looks for an order that explains a history by running it: take the transactions one by one, in the order of the
 * known edges and otherwise by the clock (or by their place in their session), and let a transaction overwrite a
 * version only when everybody who read it has been there. If all get through, the order found is a proof that the
 * level holds. If some are stuck, nothing follows: another order might have worked.
 *
 * Linear but for a heap, so it decides nearly every history of a correct database, however long.
 */
import { commitPoint, type Polygraph, readPoint } from './polygraph.js';

export interface OrderHints {
  readonly start?: Float64Array;
  readonly end?: Float64Array;
  readonly position: Int32Array;
}

/** Did the run get through? */
export function guessOrder(graph: Polygraph, hints: OrderHints): boolean {
  return new Run(graph, hints).finish();
}

/**
 * How many points must come before each transaction's commit, counted along the longest path: where the clock is not
 * known, the best guess at when it happened.
 */
export function depths(graph: Polygraph): Int32Array {
  const { nodeCount, sources, targets, txCount } = graph;
  const incoming = new Int32Array(nodeCount);
  const offsets = new Int32Array(nodeCount + 1);
  for (let e = 0; e < sources.length; e++) {
    offsets[sources[e]! + 1]!++;
    incoming[targets[e]!]!++;
  }
  for (let v = 0; v < nodeCount; v++) offsets[v + 1] = offsets[v + 1]! + offsets[v]!;
  const out = new Int32Array(sources.length);
  const next = offsets.slice(0, nodeCount);
  for (let e = 0; e < sources.length; e++) out[next[sources[e]!]!++] = targets[e]!;
  const depth = new Int32Array(nodeCount);
  const queue = new Int32Array(nodeCount);
  let queued = 0;
  for (let v = 0; v < nodeCount; v++) if (incoming[v] === 0) queue[queued++] = v;
  for (let i = 0; i < queued; i++) {
    const v = queue[i]!;
    for (let e = offsets[v]!; e < offsets[v + 1]!; e++) {
      const w = out[e]!;
      depth[w] = Math.max(depth[w]!, depth[v]! + 1);
      incoming[w] = incoming[w]! - 1;
      if (incoming[w] === 0) queue[queued++] = w;
    }
  }
  return Int32Array.from({ length: txCount }, (_, tx) => depth[commitPoint(graph, tx)]!);
}

class Run {
  readonly #graph: Polygraph;
  readonly #incoming: Int32Array;
  readonly #offsets: Int32Array;
  readonly #targets: Int32Array;
  readonly #heap: PointHeap;
  /** Open keys a transaction writes, and versions of open keys it reads, as numbers of `#pending`. */
  readonly #writes = new Map<number, number[]>();
  readonly #reads = new Map<number, number[]>();
  /** Readers of each version that have not been there yet. */
  readonly #pending: number[] = [];
  readonly #versionOf: Map<number, number>[] = [];
  readonly #keyOfVersion: number[] = [];
  readonly #current: Int32Array;
  readonly #lockedBy: Int32Array;
  readonly #parked: number[][];

  constructor(graph: Polygraph, hints: OrderHints) {
    this.#graph = graph;
    const { nodeCount, sources, targets, openKeys } = graph;
    this.#incoming = new Int32Array(nodeCount);
    this.#offsets = new Int32Array(nodeCount + 1);
    for (let e = 0; e < sources.length; e++) {
      this.#offsets[sources[e]! + 1]!++;
      this.#incoming[targets[e]!]!++;
    }
    for (let v = 0; v < nodeCount; v++) this.#offsets[v + 1] = this.#offsets[v + 1]! + this.#offsets[v]!;
    this.#targets = new Int32Array(sources.length);
    const next = this.#offsets.slice(0, nodeCount);
    for (let e = 0; e < sources.length; e++) this.#targets[next[sources[e]!]!++] = targets[e]!;

    this.#current = new Int32Array(openKeys.length).fill(-1);
    this.#lockedBy = new Int32Array(openKeys.length).fill(-1);
    this.#parked = openKeys.map(() => []);
    openKeys.forEach((open, k) => {
      const versions = new Map<number, number>();
      this.#versionOf.push(versions);
      open.writers.forEach((writer, i) => {
        const version = this.#pending.length;
        this.#pending.push(open.readers[i]!.length);
        this.#keyOfVersion.push(k);
        versions.set(writer, version);
        push(this.#writes, writer, k);
        for (const reader of open.readers[i]!) push(this.#reads, reader, version);
      });
    });
    this.#heap = new PointHeap(priorities(graph, hints));
  }

  finish(): boolean {
    const { nodeCount } = this.#graph;
    for (let v = 0; v < nodeCount; v++) if (this.#incoming[v] === 0) this.#heap.push(v);
    let done = 0;
    for (let v = this.#heap.pop(); v >= 0; v = this.#heap.pop()) {
      const blockedOn = this.#blockedOn(v);
      if (blockedOn >= 0) {
        this.#parked[blockedOn]!.push(v);
        continue;
      }
      done++;
      this.#take(v);
      for (let e = this.#offsets[v]!; e < this.#offsets[v + 1]!; e++) {
        const w = this.#targets[e]!;
        this.#incoming[w] = this.#incoming[w]! - 1;
        if (this.#incoming[w] === 0) this.#heap.push(w);
      }
    }
    return done === nodeCount;
  }

  #txAt(v: number): number {
    const { split, txCount } = this.#graph;
    if (v < txCount) return v;
    return split && v < 2 * txCount ? v - txCount : -1;
  }

  /** The open key on which a point has to wait, or -1. */
  #blockedOn(v: number): number {
    const tx = this.#txAt(v);
    const writes = tx < 0 ? undefined : this.#writes.get(tx);
    if (writes === undefined) return -1;
    if (this.#graph.mode === 'snapshot' && v === readPoint(this.#graph, tx)) {
      return writes.find((k) => this.#lockedBy[k]! >= 0) ?? -1;
    }
    if (v !== commitPoint(this.#graph, tx)) return -1;
    const reads = this.#graph.split ? undefined : this.#reads.get(tx);
    for (const k of writes) {
      const version = this.#current[k]!;
      if (version < 0) continue;
      // Without a read point of its own, a transaction passes the version it reads as it overwrites it.
      const ownReads = reads?.includes(version) === true ? 1 : 0;
      if (this.#pending[version]! > ownReads) return k;
    }
    return -1;
  }

  #take(v: number): void {
    const tx = this.#txAt(v);
    if (tx < 0) return;
    if (v === readPoint(this.#graph, tx)) {
      for (const version of this.#reads.get(tx) ?? []) {
        this.#pending[version] = this.#pending[version]! - 1;
        this.#wake(this.#keyOfVersion[version]!);
      }
      if (this.#graph.mode === 'snapshot') for (const k of this.#writes.get(tx) ?? []) this.#lockedBy[k] = tx;
    }
    if (v === commitPoint(this.#graph, tx)) {
      for (const k of this.#writes.get(tx) ?? []) {
        this.#current[k] = this.#versionOf[k]!.get(tx)!;
        this.#lockedBy[k] = -1;
        this.#wake(k);
      }
    }
  }

  #wake(k: number): void {
    const parked = this.#parked[k]!;
    if (parked.length === 0) return;
    this.#parked[k] = [];
    for (const v of parked) this.#heap.push(v);
  }
}

/** Auxiliary points first: they hold nobody up. Then by the clock, else by the place in the session. */
function priorities(graph: Polygraph, hints: OrderHints): Float64Array {
  const { txCount, split } = graph;
  const result = new Float64Array(graph.nodeCount).fill(-1);
  for (let tx = 0; tx < txCount; tx++) {
    const start = hints.start?.[tx] ?? Number.NaN;
    const end = hints.end?.[tx] ?? Number.NaN;
    const place = hints.position[tx]!;
    const read = Number.isNaN(start) ? place : start;
    const commit = Number.isNaN(end) ? place : end;
    result[readPoint(graph, tx)] = split ? read : commit;
    result[commitPoint(graph, tx)] = commit;
  }
  return result;
}

function push(map: Map<number, number[]>, key: number, value: number): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [value]);
  else list.push(value);
}

/** A binary heap of points, smallest priority first, ties by number. */
class PointHeap {
  readonly #priority: Float64Array;
  readonly #items: number[] = [];

  constructor(priority: Float64Array) {
    this.#priority = priority;
  }

  push(item: number): void {
    const items = this.#items;
    let at = items.length;
    items.push(item);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!this.#less(item, items[parent]!)) break;
      items[at] = items[parent]!;
      at = parent;
    }
    items[at] = item;
  }

  /** The smallest point, or -1. */
  pop(): number {
    const items = this.#items;
    const top = items[0];
    const last = items.pop();
    if (top === undefined || last === undefined) return -1;
    if (items.length === 0) return top;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= items.length) break;
      if (child + 1 < items.length && this.#less(items[child + 1]!, items[child]!)) child++;
      if (!this.#less(items[child]!, last)) break;
      items[at] = items[child]!;
      at = child;
    }
    items[at] = last;
    return top;
  }

  #less(a: number, b: number): boolean {
    const difference = this.#priority[a]! - this.#priority[b]!;
    return difference < 0 || (difference === 0 && a < b);
  }
}
