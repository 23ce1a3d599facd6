/**
 * Pairs the events of operations that are no transactions. With a process, an invocation belongs to the next completion
 * of its process. Without one, a completion belongs to the earliest open invocation of the same function with the same
 * value, or with none, as a read is invoked.
 */
import { type PlainOperation, type PlainValue, plainKey } from '../plain-operations.js';
import type { EventHead } from './event-head.js';

interface OpenOperation {
  readonly head: EventHead;
  readonly position: number;
  readonly f: string;
  readonly value: PlainValue;
}

export class OperationEvents {
  readonly operations: PlainOperation[] = [];
  readonly #open = new Map<number, OpenOperation>();
  readonly #anonymous: OpenOperation[] = [];

  take(head: EventHead, position: number, f: string, value: PlainValue): void {
    const anonymous = Number.isNaN(head.process);
    if (head.type === 'invoke') {
      const opened = { head, position, f, value };
      if (anonymous) this.#anonymous.push(opened);
      else {
        this.abandon(head.process);
        this.#open.set(head.process, opened);
      }
      return;
    }
    const invocation = anonymous ? this.#matching(f, value) : this.#open.get(head.process);
    this.#open.delete(head.process);
    this.#add(head, position, { f, value, invocation });
  }

  /** What a process invoked and will not complete. */
  abandon(process: number): void {
    const open = this.#open.get(process);
    if (open === undefined) return;
    this.#open.delete(process);
    this.#add({ ...open.head, type: 'info' }, open.position, { ...open, invocation: open });
  }

  /** Drops an invocation that a transaction completed: an operation whose value only its completion shows. */
  forget(process: number): void {
    if (this.#open.size > 0) this.#open.delete(process);
  }

  finish(): void {
    for (const process of [...this.#open.keys()]) this.abandon(process);
    for (const open of this.#anonymous) {
      this.#add({ ...open.head, type: 'info' }, open.position, { ...open, invocation: open });
    }
    this.#anonymous.length = 0;
  }

  #matching(f: string, value: PlainValue): OpenOperation | undefined {
    const key = plainKey(value);
    const at = this.#anonymous.findIndex(
      (open) => open.f === f && (open.value === null || value === null || plainKey(open.value) === key),
    );
    return at < 0 ? undefined : this.#anonymous.splice(at, 1)[0];
  }

  #add(
    head: EventHead,
    position: number,
    { f, value, invocation }: { f: string; value: PlainValue; invocation: OpenOperation | undefined },
  ): void {
    const status = head.type === 'ok' || head.type === 'fail' ? head.type : 'info';
    const index = Number.isNaN(head.index) ? (invocation?.head.index ?? Number.NaN) : head.index;
    this.operations.push({
      f,
      process: Number.isNaN(head.process) ? undefined : head.process,
      status,
      start: invocation?.position ?? position,
      end: status === 'info' ? Number.POSITIVE_INFINITY : position,
      label: Number.isNaN(index) ? position : index,
      invoked: invocation?.value ?? null,
      value: value ?? invocation?.value ?? null,
    });
  }
}
