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
 * Where events have no process, a completion belongs to an open invocation with the same operations, results aside.
 * Several of those cannot be told apart, so each completion is given the earliest of their starts, which claims the
 * least about real time. A completion without operations belongs to the only open invocation, if there is only one.
 *
 * Times are `:time`. In a file whose events carry none, the positions of invocation and completion stand
 * for them, because events are in the order in which one client saw them.
 *
 * Events of other functions than `:txn` whose value is no list of operations go to `operation-events.ts`.
 */
import type { KvBuilder } from '../kv-builder.js';
import type { KvHistory, KvName } from '../kv-history.js';
import type { PlainOperation, PlainValue } from '../plain-operations.js';
import type { EventHead } from './event-head.js';
import type { Imported } from './format.js';
import { type MicroOps, settleReads } from './micro-ops.js';
import { OperationEvents } from './operation-events.js';

interface Invocation {
  readonly start: number;
  readonly label: number;
  /** The operations as invoked, made when somebody needs them. */
  readonly ops: () => MicroOps;
}

/** What a process invoked last. One object serves all invocations of a process: a million of them cost no garbage. */
interface ProcessState {
  isOpen: boolean;
  /** Its place among all events. */
  position: number;
  start: number;
  label: number;
  ops: () => MicroOps;
}

/** Open invocations without a process that have the same operations. */
interface Alike {
  readonly open: Invocation[];
  earliest: number;
}

/** An event whose value was read in full. */
export interface ReadEvent {
  readonly head: EventHead;
  /** The function, without its colon. */
  readonly f: string | undefined;
  readonly value: () => PlainValue;
  /** Its operations; undefined where it has none. */
  readonly ops: MicroOps | undefined;
  /** What is wrong with the value as a list of operations. */
  readonly problem: string | undefined;
}

export class JepsenEvents {
  readonly #builder: KvBuilder;
  readonly #processes = new Map<number, ProcessState>();
  readonly #alike = new Map<string, Alike>();
  readonly #retired = new Map<number, number>();
  readonly #operations = new OperationEvents();
  #position = 0;
  #timed = false;
  #anonymous = 0;

  constructor(builder: KvBuilder) {
    this.#builder = builder;
  }

  /** Takes an event; what is wrong with it, if it can be neither a transaction nor an operation of a workload. */
  take({ head, f, value, ops, problem }: ReadEvent): string | undefined {
    if (f !== undefined && f !== 'txn') {
      const isTransaction = problem === undefined && ops !== undefined && ops.length > 0;
      const completesOne = head.type !== 'invoke' && head.type !== 'ok' && this.isOpen(head.process);
      if (!isTransaction && !completesOne) {
        this.#count(head);
        this.#operations.take(head, this.#position, f, value());
        return undefined;
      }
    }
    if (problem !== undefined) return problem;
    if (head.type === 'invoke') {
      const invoked = ops!.copy();
      this.invoke(head, () => invoked);
    } else this.complete(head, ops);
    return undefined;
  }

  invoke(head: EventHead, ops: () => MicroOps): void {
    this.#count(head);
    const start = this.#timed ? head.time : this.#position; // NaN for the odd event without a time
    if (Number.isNaN(head.process)) {
      this.#openAlike({ start, label: head.index, ops });
      return;
    }
    const state = this.#processes.get(head.process);
    if (state === undefined) {
      const opened = { isOpen: true, position: this.#position, start, label: head.index, ops };
      this.#processes.set(head.process, opened);
      return;
    }
    if (state.isOpen) this.#addLost(head.process, state);
    state.isOpen = true;
    state.position = this.#position;
    state.start = start;
    state.label = head.index;
    state.ops = ops;
  }

  isOpen(process: number): boolean {
    return this.#processes.get(process)?.isOpen === true;
  }

  /** `ops` are those of the completion; undefined where it has none. */
  complete(head: EventHead, ops: MicroOps | undefined): void {
    this.#count(head);
    const anonymous = Number.isNaN(head.process);
    const invocation = anonymous ? this.#matching(ops) : this.#closed(head.process);
    if (!anonymous) this.#operations.forget(head.process);
    const committed = head.type === 'ok';
    // It failed or got lost, and which one cannot be said: the open ones all stay of unknown outcome.
    if (anonymous && !committed && ops === undefined && invocation === undefined) return;
    const label = Number.isNaN(head.index) ? invocation?.label : head.index;
    let known = ops;
    if (!committed && invocation !== undefined) {
      const invoked = invocation.ops();
      if (ops === undefined || ops.length !== invoked.length) known = invoked;
    }
    const process = anonymous ? this.#nextProcess() : head.process;
    this.#builder.begin(this.#session(process), invocation?.start, label);
    known?.sendTo(this.#builder, committed);
    if (head.type === 'info') {
      this.#builder.end('unknown');
      this.#retire(process);
      return;
    }
    const end = this.#timed || invocation === undefined ? head.time : this.#position;
    this.#builder.end(committed ? 'committed' : 'aborted', end);
  }

  /** The transactions, and whatever else the file holds. */
  finish(): Imported {
    const open = [...this.#processes].filter(([, { isOpen }]) => isOpen);
    for (const [process, state] of open.sort(([, a], [, b]) => a.position - b.position))
      this.#addLost(process, state);
    for (const { open } of this.#alike.values()) {
      for (const invocation of open) this.#addLost(this.#nextProcess(), invocation);
    }
    this.#operations.finish();
    const { operations } = this.#operations;
    const history = settleReads(this.#builder.build());
    if (operations.length === 0) return { kind: 'kv', history };
    return { kind: 'kv', history: withoutOperations(history, operations), operations };
  }

  #openAlike(invocation: Invocation): void {
    const key = invocation.ops().shape();
    const alike = this.#alike.get(key) ?? { open: [], earliest: invocation.start };
    alike.open.push(invocation);
    this.#alike.set(key, alike);
  }

  /** The open invocation without a process that a completion belongs to. */
  #matching(ops: MicroOps | undefined): Invocation | undefined {
    const only = this.#alike.size === 1 ? [...this.#alike.keys()][0] : undefined;
    const key = ops === undefined ? only : ops.shape();
    const alike = key === undefined ? undefined : this.#alike.get(key);
    if (alike === undefined || (ops === undefined && alike.open.length > 1)) return undefined;
    const invocation = alike.open.shift()!;
    if (alike.open.length === 0) this.#alike.delete(key!);
    return { ...invocation, start: alike.earliest };
  }

  /** Events without a process: each is a session of its own. */
  #nextProcess(): number {
    return -1 - this.#anonymous++;
  }

  /** What the process had open. */
  #closed(process: number): Invocation | undefined {
    const state = this.#processes.get(process);
    if (state?.isOpen !== true) return undefined;
    state.isOpen = false;
    return state;
  }

  #addLost(process: number, invocation: Invocation): void {
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
    const before = this.#retired.size === 0 ? undefined : this.#retired.get(process);
    return before === undefined ? process : `${process}, ${before + 1}`;
  }
}

/** A history of the transactions alone says what else there was. */
function withoutOperations(history: KvHistory, operations: readonly PlainOperation[]): KvHistory {
  const counts = new Map<string, number>();
  for (const { f } of operations) counts.set(f, (counts.get(f) ?? 0) + 1);
  const listed = [...counts].map(([f, count]) => `${count} ${f}`).join(', ');
  const reason = `operations that are no transactions of reads and writes were skipped: ${listed}`;
  return { ...history, omitted: [...(history.omitted ?? []), reason] };
}
