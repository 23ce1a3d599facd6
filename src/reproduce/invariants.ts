/**
 * What every inferred schedule must satisfy, checked by walking it once and keeping nothing but the newest committed
 * version of each row and the holders of each lock:
 *
 * 1. every statement once, each session's in program order (`scheduleProblem`);
 * 2. no two accesses in one batch conflict;
 * 3. when a snapshot is taken, each row read through it is in a version that explains what was read;
 * 4. when a lock is taken, no other transaction holds it.
 *
 * Steps for which the raw run itself has no explanation are exempt from 3 and 4, and so are steps sent to wait.
 */

import { type Schedule, scheduleProblem } from '../cases/index.js';
import type { OrderStepId } from '../ids.js';
import type { Image } from '../rows/index.js';
import { inConflict } from './conflicts.js';
import { type Evidence, explains } from './evidence.js';
import { type Groups, groupBy, Ints } from './ints.js';

export interface BrokenInvariant {
  readonly invariant: 'program order' | 'conflict in a batch' | 'version' | 'lock';
  /** Number of the batch; −1: the schedule as a whole. */
  readonly batch: number;
  readonly what: string;
}

export function brokenInvariants(
  evidence: Evidence,
  schedule: Schedule,
  exempt: ReadonlySet<OrderStepId>,
  limit = 20,
): BrokenInvariant[] {
  const { steps } = evidence;
  const problem = scheduleProblem(steps.case, schedule);
  if (problem !== undefined) return [{ invariant: 'program order', batch: -1, what: problem }];
  const broken: BrokenInvariant[] = [];
  const walk = new Walk(evidence, exempt, (found) => {
    if (broken.length < limit) broken.push(found);
  });
  schedule.batches.forEach((batch, number) => {
    walk.batch(
      number,
      batch.map(([session, position]) => steps.firstOf[session]! + position),
    );
  });
  return broken;
}

class Walk {
  readonly #image: Image[];
  readonly #published: Groups;
  readonly #publishedRow = new Ints();
  readonly #publishedVersion = new Ints();
  readonly #needs: Groups;
  readonly #locks: Groups;
  /** Per object: transactions that hold it, and whether exclusively. */
  readonly #holders: ({ readonly transaction: number; readonly exclusive: boolean }[] | undefined)[] = [];
  readonly #ended: Uint8Array;
  readonly #unexplained = new Set<string>();
  readonly #stamp: Int32Array;
  readonly #inBatch: Int32Array;

  constructor(
    private readonly evidence: Evidence,
    private readonly exempt: ReadonlySet<OrderStepId>,
    private readonly report: (broken: BrokenInvariant) => void,
  ) {
    const { objects, needs, locks, steps, unexplained } = evidence;
    this.#image = [...objects.initial];
    this.#ended = new Uint8Array(steps.transactionCount);
    const publishers = new Ints();
    objects.chains.forEach((chain, row) => {
      chain?.versions.forEach((step, version) => {
        publishers.push(step);
        this.#publishedRow.push(row);
        this.#publishedVersion.push(version);
      });
    });
    this.#published = groupBy(publishers.view(), steps.count);
    this.#needs = groupBy(
      Int32Array.from(needs, ({ snapshot }) => snapshot),
      steps.count,
    );
    this.#locks = groupBy(locks.step.view(), steps.count);
    for (const { step, object } of unexplained) this.#unexplained.add(`${step} ${object}`);
    this.#stamp = new Int32Array(objects.names.length).fill(-1);
    this.#inBatch = new Int32Array(objects.names.length);
  }

  batch(number: number, steps: readonly OrderStepId[]): void {
    this.#conflicts(number, steps);
    for (const step of steps) {
      this.#versions(number, step);
      this.#take(number, step);
    }
    for (const step of steps) this.#publish(step);
  }

  #conflicts(number: number, steps: readonly OrderStepId[]): void {
    const { first, object, roles } = this.evidence.accesses;
    for (const step of steps) {
      for (let i = first[step]!; i < first[step + 1]!; i++) {
        const at = object[i]!;
        if (this.#stamp[at] !== number) {
          this.#stamp[at] = number;
          this.#inBatch[at] = 0;
        } else if (inConflict(this.#inBatch[at]!, roles[i]!)) {
          const what = `${this.#text(step)} conflicts with another statement on ${this.#name(at)}`;
          this.report({ invariant: 'conflict in a batch', batch: number, what });
        }
      }
      for (let i = first[step]!; i < first[step + 1]!; i++) this.#inBatch[object[i]!]! |= roles[i]!;
    }
  }

  #versions(number: number, step: OrderStepId): void {
    const { first, order } = this.#needs;
    for (let i = first[step]!; i < first[step + 1]!; i++) {
      const need = this.evidence.needs[order[i]!]!;
      if (explains(this.#image[need.row]!, need.expected) !== false) continue;
      if (this.exempt.has(step) || this.#unexplained.has(`${need.step} ${need.row}`)) continue;
      const what = `${this.#text(need.step)} read a version of ${this.#name(need.row)} that is not the newest then`;
      this.report({ invariant: 'version', batch: number, what });
    }
  }

  #take(number: number, step: OrderStepId): void {
    const { locks, steps } = this.evidence;
    const transaction = steps.transaction[step]!;
    const { first, order } = this.#locks;
    for (let i = first[step]!; i < first[step + 1]!; i++) {
      const object = locks.object.at(order[i]!);
      const exclusive = locks.exclusive.at(order[i]!) === 1;
      let held = this.#holders[object];
      if (held === undefined) {
        held = [];
        this.#holders[object] = held;
      }
      let kept = 0;
      let taken = false;
      for (const one of held) {
        if (this.#ended[one.transaction]) continue;
        held[kept++] = one;
        if (one.transaction !== transaction && (exclusive || one.exclusive)) taken = true;
      }
      if (taken && !this.exempt.has(step) && !this.#unexplained.has(`${step} ${object}`)) {
        const what = `${this.#text(step)} takes ${this.#name(object)}, which another transaction holds`;
        this.report({ invariant: 'lock', batch: number, what });
      }
      if (this.evidence.waits.has(step)) {
        // Nobody knows when it gets what it waits for.
        held.length = kept;
        continue;
      }
      held[kept] = { transaction, exclusive };
      if (held.length > kept + 1) held.length = kept + 1;
    }
  }

  #publish(step: OrderStepId): void {
    const { first, order } = this.#published;
    for (let i = first[step]!; i < first[step + 1]!; i++) {
      const row = this.#publishedRow.at(order[i]!);
      this.#image[row] = this.evidence.objects.chains[row]!.image(this.#publishedVersion.at(order[i]!));
    }
    const { steps } = this.evidence;
    if (steps.endOf[steps.transaction[step]!] === step) this.#ended[steps.transaction[step]!] = 1;
  }

  #text(step: OrderStepId): string {
    const { steps } = this.evidence;
    const { name, statements } = steps.case.sessions[steps.session[step]!]!;
    return `${name}: ${statements[steps.position[step]!]}`;
  }

  #name(object: number): string {
    return this.evidence.objects.names[object]!;
  }
}
