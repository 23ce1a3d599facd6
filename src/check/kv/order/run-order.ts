/**
 * Proves that a level holds by running the history against a store that keeps it: a finished run is the proof.
 *
 * 1. Points run one by one: a point when all points that must come before it have run, the one with the smallest
 *    priority first. A commit waits while somebody who read the version it replaces has not been there; at snapshot
 *    isolation a transaction starts only when no open one writes a key it writes too.
 * 2. If all points get through, their order explains every read.
 * 3. If some are stuck, the order taken so far was wrong somewhere. The run learns "the transaction that waits comes
 *    before the writer of the version it waits for" wherever that closes no cycle, goes back to where the first of
 *    those writers ran, and goes on from there. Where nothing can be learned any more, part of what was learned is
 *    forgotten, by a seeded choice, and the run starts again.
 *
 * What is learned is a guess, not a fact: a run that never gets through proves nothing, and the search decides.
 * A run is linear but for its heap, and what it goes back is usually little.
 */

import { ww } from '../../graph/graph.js';
import { TopologicalOrder } from '../../graph/topological-order.js';
import type { Effort } from '../effort.js';
import { commitPoint, entersAt, leavesFrom, type OrderProblem, pointTx } from './order-problem.js';
import { incomingCounts, type PointEdges, type Successors, sortPoints } from './point-edges.js';
import { PointHeap } from './point-heap.js';

/** Attempts without getting further, after which a run gives up. */
const mostAttempts = 60;
const forgottenPart = 0.3;

/** The points in the order in which a run took them; undefined if no run got through. */
export function runOrder(
  problem: OrderProblem,
  edges: PointEdges,
  options: { readonly priority?: Float64Array; readonly effort: Effort; readonly attempts?: number },
): Int32Array | undefined {
  const { effort, attempts = mostAttempts } = options;
  const successors = edges.successors();
  const sorted = sortPoints(edges, successors);
  if (sorted.length < edges.pointCount) return undefined;
  const priority = options.priority ?? middlePriority(successors, sorted);
  const store = new Store(problem, edges, successors, priority);
  let learner: Learner | undefined;
  let [best, attempt, bestAttempt] = [0, 1, 1];
  for (; ; attempt++) {
    const length = store.run();
    if (length === edges.pointCount) return store.done;
    if (length > best) [best, bestAttempt] = [length, attempt];
    effort.progress(`running the history, attempt ${attempt}: ${length} of ${edges.pointCount} steps`);
    if (attempt - bestAttempt >= attempts - 1 || effort.spent()) return undefined;
    learner ??= new Learner(problem, edges, sorted);
    const known = learner.length;
    if (store.teach(learner)) store.goBack(learner, known);
    else if (learner.forget()) store.restart(learner);
    else return undefined;
  }
}

/** How far a point is from the beginning, as part of the longest way from the beginning over it to the end. */
export function middlePriority({ offsets, targets }: Successors, sorted: Int32Array): Float64Array {
  const count = sorted.length;
  const before = new Int32Array(count);
  const after = new Int32Array(count);
  for (let i = 0; i < count; i++) {
    const p = sorted[i]!;
    for (let e = offsets[p]!; e < offsets[p + 1]!; e++) {
      const q = targets[e]!;
      if (before[p]! + 1 > before[q]!) before[q] = before[p]! + 1;
    }
  }
  for (let i = count - 1; i >= 0; i--) {
    const p = sorted[i]!;
    for (let e = offsets[p]!; e < offsets[p + 1]!; e++) {
      const q = targets[e]!;
      if (after[q]! + 1 > after[p]!) after[p] = after[q]! + 1;
    }
  }
  return Float64Array.from(before, (depth, p) => depth / (depth + after[p]! || 1));
}

/** Points by the clock, where it is known; auxiliary points at once, for they hold nobody up. */
export function clockPriority(
  problem: OrderProblem,
  times: { readonly start: Float64Array; readonly end: Float64Array },
): Float64Array {
  const result = new Float64Array(problem.pointCount).fill(-1);
  for (let tx = 0; tx < problem.txCount; tx++) {
    const start = times.start[tx]!;
    const end = times.end[tx]!;
    result[tx] = Number.isNaN(start) ? end : start;
    result[commitPoint(problem, tx)] = Number.isNaN(end) ? start : end;
  }
  return result.map((time) => (Number.isNaN(time) ? -1 : time));
}

/** What runs have learned: an order of points that is kept free of cycles. */
class Learner {
  readonly #order: TopologicalOrder;
  readonly #base: number;
  readonly #learned = new Set<number>();
  readonly #pointCount: number;
  /** xorshift: the same history always takes the same runs. */
  #random = 0x2545f491;

  constructor(
    readonly problem: OrderProblem,
    edges: PointEdges,
    sorted: Int32Array,
  ) {
    this.#pointCount = edges.pointCount;
    this.#order = new TopologicalOrder(sorted, edges.length + 1024);
    for (let e = 0; e < edges.length; e++) this.#order.add(edges.from[e]!, edges.to[e]!);
    this.#base = this.#order.length;
  }

  /** The transaction `first` is to come before `second`; false if that is known, or cannot be. */
  learn(first: number, second: number): boolean {
    const from = leavesFrom(this.problem, first, ww);
    const to = entersAt(this.problem, second, ww);
    const id = from * this.#pointCount + to;
    if (first === second || this.#learned.has(id)) return false;
    if (this.#order.add(from, to) !== undefined) return false;
    this.#learned.add(id);
    return true;
  }

  /** Forgets part of what was learned; false if there is nothing. */
  forget(): boolean {
    if (this.#learned.size === 0) return false;
    const kept: [number, number][] = [];
    for (let e = this.#base; e < this.#order.length; e++) {
      this.#random ^= this.#random << 13;
      this.#random ^= this.#random >>> 17;
      this.#random ^= this.#random << 5;
      if ((this.#random >>> 0) / 2 ** 32 >= forgottenPart) {
        kept.push([this.#order.source(e), this.#order.target(e)]);
      }
    }
    this.#order.truncate(this.#base);
    this.#learned.clear();
    for (const [from, to] of kept) {
      this.#order.add(from, to);
      this.#learned.add(from * this.#pointCount + to);
    }
    return true;
  }

  get length(): number {
    return this.#order.length - this.#base;
  }

  /** What was learned, from number `start` on. */
  each(start: number, visit: (from: number, to: number) => void): void {
    for (let e = this.#base + start; e < this.#order.length; e++) {
      visit(this.#order.source(e), this.#order.target(e));
    }
  }
}

/** The store a history runs against: per open key the current version, who still has to read it, who holds it. */
class Store {
  /** The points that have run, in their order. */
  readonly done: Int32Array;
  #doneCount = 0;
  /** Where a point is among them, or -1. */
  readonly #when: Int32Array;
  readonly #problem: OrderProblem;
  readonly #successors: Successors;
  readonly #given: Int32Array;
  /** Edges into each point from points that have not run. */
  readonly #incoming: Int32Array;
  readonly #learned = new Map<number, number[]>();
  readonly #heap: PointHeap;
  readonly #current: Int32Array;
  /** The version that each version replaced. */
  readonly #replaced: Int32Array;
  readonly #holder: Int32Array;
  readonly #pending: Int32Array;
  /** Points that wait for a key: a list per key. */
  readonly #firstWaiting: Int32Array;
  readonly #nextWaiting: Int32Array;
  readonly #exclusive: boolean;

  constructor(problem: OrderProblem, edges: PointEdges, successors: Successors, priority: Float64Array) {
    this.#problem = problem;
    this.#successors = successors;
    this.#given = incomingCounts(edges, successors);
    this.#incoming = new Int32Array(edges.pointCount);
    this.#heap = new PointHeap(priority);
    const keyCount = problem.keys.length;
    this.#current = new Int32Array(keyCount);
    this.#holder = new Int32Array(keyCount);
    this.#firstWaiting = new Int32Array(keyCount);
    this.#nextWaiting = new Int32Array(edges.pointCount);
    this.#pending = new Int32Array(problem.versionTx.length);
    this.#replaced = new Int32Array(problem.versionTx.length);
    this.done = new Int32Array(edges.pointCount);
    this.#when = new Int32Array(edges.pointCount);
    this.#exclusive = problem.mode === 'snapshot';
    this.restart();
  }

  /** Back to the beginning, with what the learner knows now. */
  restart(learner?: Learner): void {
    const { readers } = this.#problem;
    this.#doneCount = 0;
    this.#when.fill(-1);
    this.#current.fill(-1);
    this.#holder.fill(-1);
    this.#firstWaiting.fill(-1);
    for (let v = 0; v < this.#pending.length; v++) {
      this.#pending[v] = readers.offsets[v + 1]! - readers.offsets[v]!;
    }
    this.#incoming.set(this.#given);
    this.#learned.clear();
    learner?.each(0, (from, to) => this.#addLearned(from, to));
    for (let p = 0; p < this.#incoming.length; p++) if (this.#incoming[p] === 0) this.#heap.push(p);
  }

  #addLearned(from: number, to: number): void {
    if (this.#when[from]! < 0) this.#incoming[to]!++;
    const list = this.#learned.get(from);
    if (list === undefined) this.#learned.set(from, [to]);
    else list.push(to);
  }

  /** Goes back until nothing that was learned from number `start` on is contradicted. Only where a run is stuck. */
  goBack(learner: Learner, start: number): void {
    let first = this.#doneCount;
    learner.each(start, (_, to) => {
      if (this.#when[to]! >= 0 && this.#when[to]! < first) first = this.#when[to]!;
    });
    const ready: number[] = [];
    for (let key = 0; key < this.#firstWaiting.length; key++) {
      for (let p = this.#firstWaiting[key]!; p >= 0; p = this.#nextWaiting[p]!) ready.push(p);
      this.#firstWaiting[key] = -1;
    }
    while (this.#doneCount > first) {
      const point = this.done[--this.#doneCount]!;
      this.#when[point] = -1;
      this.#untake(point);
      this.#eachSuccessor(point, (target) => {
        this.#incoming[target]!++;
      });
      ready.push(point);
    }
    learner.each(start, (from, to) => this.#addLearned(from, to));
    for (const point of ready) if (this.#incoming[point] === 0) this.#heap.push(point);
  }

  #eachSuccessor(point: number, visit: (target: number) => void): void {
    const { offsets, targets } = this.#successors;
    for (let e = offsets[point]!; e < offsets[point + 1]!; e++) visit(targets[e]!);
    const learned = this.#learned.get(point);
    if (learned !== undefined) for (const target of learned) visit(target);
  }

  /** Runs as far as it gets; how many points have run then. */
  run(): number {
    const arrive = (point: number): void => {
      this.#incoming[point]!--;
      if (this.#incoming[point] === 0) this.#heap.push(point);
    };
    for (let point = this.#heap.pop(); point >= 0; point = this.#heap.pop()) {
      const key = this.#waitsFor(point);
      if (key >= 0) {
        this.#nextWaiting[point] = this.#firstWaiting[key]!;
        this.#firstWaiting[key] = point;
        continue;
      }
      this.#when[point] = this.#doneCount;
      this.done[this.#doneCount++] = point;
      this.#take(point);
      this.#eachSuccessor(point, arrive);
    }
    return this.#doneCount;
  }

  /** Learns from where the last run was stuck; false if that says nothing new. */
  teach(learner: Learner): boolean {
    const { versionTx } = this.#problem;
    let learned = false;
    this.#eachWaiting((tx, starts, key) => {
      const current = this.#current[key]!;
      if (!starts && current >= 0) learned = learner.learn(tx, versionTx[current]!) || learned;
    });
    if (learned) return true;
    this.#eachWaiting((tx, starts, key) => {
      const holder = this.#holder[key]!;
      if (starts && holder >= 0) learned = learner.learn(tx, holder) || learned;
    });
    return learned;
  }

  #eachWaiting(visit: (tx: number, starts: boolean, key: number) => void): void {
    const { split, txCount, keys } = this.#problem;
    for (let key = 0; key < keys.length; key++) {
      for (let point = this.#firstWaiting[key]!; point >= 0; point = this.#nextWaiting[point]!) {
        visit(pointTx(this.#problem, point), split && point < txCount, key);
      }
    }
  }

  /** The open key for which a point has to wait, or -1. */
  #waitsFor(point: number): number {
    const { split, txCount, writes, versionKey } = this.#problem;
    const tx = pointTx(this.#problem, point);
    if (tx < 0) return -1;
    const starts = split && point < txCount;
    if (starts && !this.#exclusive) return -1;
    for (let w = writes.offsets[tx]!; w < writes.offsets[tx + 1]!; w++) {
      const key = versionKey[writes.items[w]!]!;
      if (starts) {
        if (this.#holder[key]! >= 0) return key;
        continue;
      }
      const current = this.#current[key]!;
      if (current < 0 || this.#pending[current] === 0) continue;
      // Where a transaction is one point, it reads the version it replaces as it replaces it.
      const own = !split && this.#reads(tx, current) ? 1 : 0;
      if (this.#pending[current]! > own) return key;
    }
    return -1;
  }

  #reads(tx: number, version: number): boolean {
    const { reads } = this.#problem;
    for (let r = reads.offsets[tx]!; r < reads.offsets[tx + 1]!; r++) {
      if (reads.items[r] === version) return true;
    }
    return false;
  }

  #take(point: number): void {
    const { split, txCount, reads, writes, versionKey } = this.#problem;
    const tx = pointTx(this.#problem, point);
    if (tx < 0) return;
    if (point < txCount) {
      for (let r = reads.offsets[tx]!; r < reads.offsets[tx + 1]!; r++) {
        const version = reads.items[r]!;
        this.#pending[version] = this.#pending[version]! - 1;
        // One reader left may be the one who waits to replace it.
        if (this.#pending[version]! <= (split ? 0 : 1)) this.#wake(versionKey[version]!);
      }
    }
    for (let w = writes.offsets[tx]!; w < writes.offsets[tx + 1]!; w++) {
      const key = versionKey[writes.items[w]!]!;
      if (split && point < txCount) this.#holder[key] = tx;
      else {
        this.#replaced[writes.items[w]!] = this.#current[key]!;
        this.#current[key] = writes.items[w]!;
        this.#holder[key] = -1;
        this.#wake(key);
      }
    }
  }

  #untake(point: number): void {
    const { split, txCount, reads, writes, versionKey } = this.#problem;
    const tx = pointTx(this.#problem, point);
    if (tx < 0) return;
    if (point < txCount) {
      for (let r = reads.offsets[tx]!; r < reads.offsets[tx + 1]!; r++) this.#pending[reads.items[r]!]!++;
    }
    for (let w = writes.offsets[tx]!; w < writes.offsets[tx + 1]!; w++) {
      const version = writes.items[w]!;
      const key = versionKey[version]!;
      if (split && point < txCount) this.#holder[key] = -1;
      else {
        this.#current[key] = this.#replaced[version]!;
        this.#holder[key] = split ? tx : -1;
      }
    }
  }

  #wake(key: number): void {
    let point = this.#firstWaiting[key]!;
    this.#firstWaiting[key] = -1;
    while (point >= 0) {
      const next = this.#nextWaiting[point]!;
      this.#heap.push(point);
      point = next;
    }
  }
}
