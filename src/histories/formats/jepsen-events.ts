/**
 * From Jepsen's events to transactions. A process invokes a transaction and later completes it:
 *
 * - `ok`: committed, with the results in the completion;
 * - `fail`: aborted;
 * - `info`: nobody knows, and it may take effect at any later time, so it has no end. The process is retired:
 *   should its number appear again, that is another session;
 * - an invocation that is never completed counts as `info`;
 * - a completion without an invocation has no start.
 *
 * Times are `:time`. In a file whose events carry none, the positions of invocation and completion stand
 * for them, because events are in the order in which one client saw them.
 */
import type { KvBuilder } from '../kv-builder.js';
import type { KvName } from '../kv-history.js';
import type { EventType } from './edn-event.js';
import type { MicroOps } from './micro-ops.js';

export interface EventHead {
  readonly type: EventType;
  readonly process: number;
  readonly time: number;
  readonly index: number;
}

interface Invocation {
  readonly start: number;
  readonly label: number;
  /** The operations as invoked, made when somebody needs them. */
  readonly ops: () => MicroOps;
}

export class JepsenEvents {
  readonly #builder: KvBuilder;
  readonly #open = new Map<number, Invocation>();
  readonly #retired = new Map<number, number>();
  #position = 0;
  #timed = false;
  #anonymous = 0;

  constructor(builder: KvBuilder) {
    this.#builder = builder;
  }

  invoke(head: EventHead, ops: () => MicroOps): void {
    this.#count(head);
    if (this.#open.has(head.process)) this.#abandon(head.process);
    const start = this.#timed ? head.time : this.#position; // NaN for the odd event without a time
    this.#open.set(head.process, { start, label: head.index, ops });
  }

  /** `ops` are those of the completion; undefined where it has none. */
  complete(head: EventHead, ops: MicroOps | undefined): void {
    this.#count(head);
    const invocation = this.#open.get(head.process);
    this.#open.delete(head.process);
    const committed = head.type === 'ok';
    const label = Number.isNaN(head.index) ? invocation?.label : head.index;
    let told = ops;
    if (!committed && invocation !== undefined) {
      const invoked = invocation.ops();
      if (ops === undefined || ops.length !== invoked.length) told = invoked;
    }
    this.#builder.begin(this.#session(head.process), invocation?.start, label);
    told?.sendTo(this.#builder, committed);
    if (head.type === 'info') {
      this.#builder.end('unknown');
      this.#retire(head.process);
      return;
    }
    const end = this.#timed || invocation === undefined ? head.time : this.#position;
    this.#builder.end(committed ? 'committed' : 'aborted', end);
  }

  /** Events without a process: each is a session of its own. */
  nextProcess(): number {
    return -1 - this.#anonymous++;
  }

  finish(): void {
    for (const process of this.#open.keys()) this.#abandon(process);
  }

  #abandon(process: number): void {
    const invocation = this.#open.get(process)!;
    this.#builder.begin(this.#session(process), invocation.start, invocation.label);
    invocation.ops().sendTo(this.#builder, false);
    this.#builder.end('unknown');
    this.#retire(process);
  }

  #count(head: EventHead): void {
    this.#timed ||= !Number.isNaN(head.time);
    this.#position++;
  }

  #retire(process: number): void {
    this.#retired.set(process, (this.#retired.get(process) ?? 0) + 1);
  }

  #session(process: number): KvName {
    if (process < 0) return `event ${-process}`;
    const before = this.#retired.get(process);
    return before === undefined ? process : `${process}, ${before + 1}`;
  }
}
