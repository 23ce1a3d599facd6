/**
 * Batches from orders (Pisco §4, Algorithm 1): again and again, from the next step of every session, take those whose
 * predecessors are all in earlier batches and that conflict with nothing in this one.
 *
 * - Reads are offered before writes, and among either the one answered first, so that of two overlapping steps that
 *   nothing else orders a read comes before a write (Algorithm 1, lines 9–15).
 * - A batch is full when every session had its turn, or earlier, when every object that is still to be accessed has been
 *   written in this batch (the paper's A_C and A_W): then nothing left can join.
 * - When no step is free the orders contradict each other. A cycle of steps that wait for each other is found, and the
 *   weakest order in it given up: the step it held back goes next, and what it should have waited for holds back its
 *   successor instead. If that was a lock, the replay will see it wait, as the raw run did. The choices involved are
 *   reported, for at least one of them was wrong (`solve.ts`).
 *
 * Linear in the number of accesses and edges, times the number of sessions where batches are small.
 */
import type { OrderStepId } from '../ids.js';
import { changing, conflictsOf, publish, someRow, write } from './conflicts.js';
import type { Accesses } from './evidence.js';
import { type OrderGraph, strength } from './order-graph.js';
import type { Steps } from './steps.js';

export interface Batches {
  /** The steps of batch b stand at `first[b] … first[b + 1] - 1`. */
  readonly first: readonly number[];
  readonly steps: Int32Array;
  /** The batch of each step. */
  readonly of: Int32Array;
  /** Steps that had to go although a predecessor had not. */
  readonly forced: readonly Forced[];
}

export interface Forced {
  readonly step: OrderStepId;
  /** Strength of the order given up. */
  readonly strength: number;
  /** Choices that were part of the contradiction. */
  readonly choices: readonly number[];
}

/** Something that stands in the way of the next step of a session. */
interface Obstacle {
  readonly edge: number;
  readonly from: OrderStepId;
  readonly step: OrderStepId;
  readonly strength: number;
  readonly choice: number;
}

export function makeBatches(
  steps: Steps,
  accesses: Accesses,
  objectCount: number,
  graph: OrderGraph,
): Batches {
  return new Batcher(steps, accesses, objectCount, graph).run();
}

class Batcher {
  readonly #order: Int32Array;
  readonly #of: Int32Array;
  readonly #firsts: number[] = [];
  readonly #forced: Forced[] = [];
  #done = 0;
  /** The next step of every session. */
  readonly #head: Int32Array;
  readonly #isWrite: Uint8Array;
  /** Edges given up: the step that waits instead, the next of its session, or nobody (−1). */
  readonly #moved = new Map<number, number>();
  readonly #inherited = new Map<number, number[]>();

  // Roles in the current batch per object, valid where the stamp is the batch's number.
  readonly #roles: Int32Array;
  readonly #stamp: Int32Array;

  // The paper's A_C and A_W: accesses left per object, and the objects written in this batch that have some left.
  readonly #left: Int32Array;
  #objectsLeft = 0;
  readonly #written: Int32Array;
  #writtenLeft = 0;
  #stepsWithoutAccess = 0;

  constructor(
    private readonly steps: Steps,
    private readonly accesses: Accesses,
    objectCount: number,
    private readonly graph: OrderGraph,
  ) {
    const { count, firstOf } = steps;
    this.#order = new Int32Array(count);
    this.#of = new Int32Array(count);
    this.#head = firstOf.slice(0, -1);
    this.#isWrite = new Uint8Array(count);
    this.#roles = new Int32Array(objectCount);
    this.#stamp = new Int32Array(objectCount).fill(-1);
    this.#left = new Int32Array(objectCount);
    this.#written = new Int32Array(objectCount).fill(-1);
    const { first, object, roles } = accesses;
    for (let step = 0; step < count; step++) {
      if (first[step] === first[step + 1]) this.#stepsWithoutAccess++;
      for (let i = first[step]!; i < first[step + 1]!; i++) {
        if ((roles[i]! | (roles[i]! >> someRow)) & changing) this.#isWrite[step] = 1;
        if (this.#left[object[i]!]!++ === 0) this.#objectsLeft++;
      }
    }
  }

  run(): Batches {
    const { count } = this.steps;
    while (this.#done < count) {
      const batch = this.#firsts.length;
      const from = this.#done;
      this.#firsts.push(from);
      let offered = this.#offered();
      for (; offered.length === 0; offered = this.#offered()) this.#force();
      this.#writtenLeft = 0;
      for (const step of offered) {
        if (this.#fits(step, batch)) this.#put(step, batch);
        if (this.#writtenLeft === this.#objectsLeft && this.#stepsWithoutAccess === 0) break;
      }
      for (let i = from; i < this.#done; i++) this.#release(this.#order[i]!);
    }
    this.#firsts.push(count);
    return { first: this.#firsts, steps: this.#order, of: this.#of, forced: this.#forced };
  }

  /** The free heads: reads before writes, then by the time of their answers. */
  #offered(): OrderStepId[] {
    const { firstOf, end } = this.steps;
    const offered: OrderStepId[] = [];
    for (let session = 0; session < this.#head.length; session++) {
      const step = this.#head[session]!;
      if (step >= firstOf[session + 1]! || this.graph.pending[step] !== 0) continue;
      let at = offered.length;
      for (; at > 0; at--) {
        const before = offered[at - 1]!;
        const order = this.#isWrite[before]! - this.#isWrite[step]! || end[before]! - end[step]!;
        if (order <= 0) break;
      }
      offered.splice(at, 0, step);
    }
    return offered;
  }

  #fits(step: OrderStepId, batch: number): boolean {
    const { first, object, roles } = this.accesses;
    for (let i = first[step]!; i < first[step + 1]!; i++) {
      const at = object[i]!;
      if (this.#stamp[at] === batch && (conflictsOf(roles[i]!) & this.#roles[at]!) !== 0) return false;
    }
    return true;
  }

  #put(step: OrderStepId, batch: number): void {
    const { first, object, roles } = this.accesses;
    this.#order[this.#done++] = step;
    this.#of[step] = batch;
    if (first[step] === first[step + 1]) this.#stepsWithoutAccess--;
    for (let i = first[step]!; i < first[step + 1]!; i++) {
      const at = object[i]!;
      if (this.#stamp[at] !== batch) {
        this.#stamp[at] = batch;
        this.#roles[at] = 0;
      }
      this.#roles[at]! |= roles[i]!;
      if (--this.#left[at]! === 0) {
        this.#objectsLeft--;
        if (this.#written[at] === batch) this.#writtenLeft--;
      } else if (roles[i]! & (write | publish) && this.#written[at] !== batch) {
        this.#written[at] = batch;
        this.#writtenLeft++;
      }
    }
  }

  #release(step: OrderStepId): void {
    const { graph } = this;
    this.#head[this.steps.session[step]!] = step + 1;
    const { first, order } = graph.bySource;
    for (let i = first[step]!; i < first[step + 1]!; i++) {
      const edge = order[i]!;
      const to = this.#moved.size === 0 ? graph.to[edge]! : (this.#moved.get(edge) ?? graph.to[edge]!);
      if (to >= 0) graph.pending[to]!--;
    }
  }

  /** Gives up the weakest order of a cycle: what it held back goes on, and its successor waits instead. */
  #force(): void {
    const cycle = this.#findCycle();
    const { end, session, firstOf } = this.steps;
    let weakest = cycle[0]!;
    for (const one of cycle) {
      const order = one.strength - weakest.strength || end[weakest.step]! - end[one.step]!;
      if (order > 0) weakest = one;
    }
    const { step, edge } = weakest;
    const choices = [...new Set(cycle.map(({ choice }) => choice))].filter((choice) => choice >= 0);
    if (weakest.strength !== strength.answered)
      this.#forced.push({ step, strength: weakest.strength, choices });
    if (weakest.strength === strength.answered || weakest.strength === strength.presumed) {
      this.graph.pending[step]!--;
      this.#moved.set(edge, -1);
      return;
    }
    const next = step + 1 < firstOf[session[step]! + 1]! ? step + 1 : -1;
    this.graph.pending[step]!--;
    this.#moved.set(edge, next);
    if (next < 0) return;
    this.graph.pending[next]!++;
    const list = this.#inherited.get(next);
    if (list === undefined) this.#inherited.set(next, [edge]);
    else list.push(edge);
  }

  /** Heads that wait for each other, each with what stands in its way. */
  #findCycle(): readonly Obstacle[] {
    const { firstOf, session } = this.steps;
    const path: Obstacle[] = [];
    const at = new Map<number, number>();
    let current = this.#head.find((step, s) => step < firstOf[s + 1]!)!;
    for (;;) {
      const seen = at.get(current);
      if (seen !== undefined) return path.slice(seen);
      at.set(current, path.length);
      const obstacle = this.#obstacle(current);
      path.push(obstacle);
      current = this.#head[session[obstacle.from]!]!;
    }
  }

  #obstacle(step: OrderStepId): Obstacle {
    const { graph, steps } = this;
    const { first, order } = graph.byTarget();
    const held = (edge: number): Obstacle | undefined => {
      const from = graph.from[edge]!;
      if ((this.#moved.get(edge) ?? step) !== step || this.#head[steps.session[from]!]! > from)
        return undefined;
      return { from, step, edge, strength: graph.strength[edge]!, choice: graph.choice[edge]! };
    };
    for (let i = first[step]!; i < first[step + 1]!; i++) {
      const found = held(order[i]!);
      if (found !== undefined) return found;
    }
    for (const edge of this.#inherited.get(step) ?? []) {
      const found = held(edge);
      if (found !== undefined) return found;
    }
    throw new Error(`step ${step} is held back by nothing`);
  }
}
