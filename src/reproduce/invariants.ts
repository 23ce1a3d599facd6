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
import { inConflict } from './conflicts.js';
import { type Evidence, explains } from './evidence.js';
import type { Image } from './schema.js';

export interface BrokenInvariant {
  readonly invariant: 'program order' | 'conflict in a batch' | 'version' | 'lock';
  /** Number of the batch; −1: the schedule as a whole. */
  readonly batch: number;
  readonly what: string;
}

export function brokenInvariants(
  evidence: Evidence,
  schedule: Schedule,
  exempt: ReadonlySet<number>,
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
  readonly #published = new Map<number, { row: number; image: Image }[]>();
  readonly #needs = new Map<number, number[]>();
  readonly #locks = new Map<number, number[]>();
  readonly #holders = new Map<number, { transaction: number; exclusive: boolean }[]>();
  readonly #ended: Uint8Array;
  readonly #unexplained = new Set<string>();

  constructor(
    private readonly evidence: Evidence,
    private readonly exempt: ReadonlySet<number>,
    private readonly report: (broken: BrokenInvariant) => void,
  ) {
    const { objects, needs, locks, steps, unexplained } = evidence;
    this.#image = [...objects.initial];
    this.#ended = new Uint8Array(steps.transactionCount);
    objects.chains.forEach((chain, row) => {
      chain?.publish.forEach((step, i) => {
        add(this.#published, step, { row, image: chain.image[i] });
      });
    });
    needs.forEach((need, i) => {
      add(this.#needs, need.snapshot, i);
    });
    for (let i = 0; i < locks.step.length; i++) add(this.#locks, locks.step.at(i), i);
    for (const { step, object } of unexplained) this.#unexplained.add(`${step} ${object}`);
  }

  batch(number: number, steps: readonly number[]): void {
    this.#conflicts(number, steps);
    for (const step of steps) {
      this.#versions(number, step);
      this.#take(number, step);
    }
    for (const step of steps) this.#publish(step);
  }

  #conflicts(number: number, steps: readonly number[]): void {
    const { first, object, roles } = this.evidence.accesses;
    const seen = new Map<number, { step: number; roles: number }[]>();
    for (const step of steps) {
      for (let i = first[step]!; i < first[step + 1]!; i++) {
        for (const other of seen.get(object[i]!) ?? [])
          if (other.step !== step && inConflict(other.roles, roles[i]!)) {
            const what = `${this.#text(other.step)} and ${this.#text(step)} conflict on ${this.#name(object[i]!)}`;
            this.report({ invariant: 'conflict in a batch', batch: number, what });
          }
        add(seen, object[i]!, { step, roles: roles[i]! });
      }
    }
  }

  #versions(number: number, step: number): void {
    for (const i of this.#needs.get(step) ?? []) {
      const need = this.evidence.needs[i]!;
      if (this.exempt.has(step) || this.#unexplained.has(`${need.step} ${need.row}`)) continue;
      if (explains(this.#image[need.row], need.expected) === false) {
        const what = `${this.#text(need.step)} read a version of ${this.#name(need.row)} that is not the newest then`;
        this.report({ invariant: 'version', batch: number, what });
      }
    }
  }

  #take(number: number, step: number): void {
    const { locks, steps } = this.evidence;
    const transaction = steps.transaction[step]!;
    for (const i of this.#locks.get(step) ?? []) {
      const object = locks.object.at(i);
      const exclusive = locks.exclusive.at(i) === 1;
      const held = (this.#holders.get(object) ?? []).filter((one) => !this.#ended[one.transaction]);
      const other = held.find((one) => one.transaction !== transaction && (exclusive || one.exclusive));
      if (other !== undefined && !this.exempt.has(step) && !this.#unexplained.has(`${step} ${object}`)) {
        const what = `${this.#text(step)} takes ${this.#name(object)}, which another transaction holds`;
        this.report({ invariant: 'lock', batch: number, what });
      }
      held.push({ transaction, exclusive });
      this.#holders.set(object, held);
    }
  }

  #publish(step: number): void {
    for (const { row, image } of this.#published.get(step) ?? []) this.#image[row] = image;
    const { steps } = this.evidence;
    if (steps.endOf[steps.transaction[step]!] === step) this.#ended[steps.transaction[step]!] = 1;
  }

  #text(step: number): string {
    const { steps } = this.evidence;
    const { name, statements } = steps.case.sessions[steps.session[step]!]!;
    return `${name}: ${statements[steps.position[step]!]}`;
  }

  #name(object: number): string {
    return this.evidence.objects.names[object]!;
  }
}

function add<K, V>(map: Map<K, V[]>, key: K, value: V): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [value]);
  else list.push(value);
}
