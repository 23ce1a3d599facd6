/**
 * Autocommitted writes that were sent but not yet answered. Writes enter the mirror in the order of their answers; a
 * transaction's writes are all answered before its COMMIT is sent, so a reader that could see them finds them there.
 * Only an autocommitted write can be visible before its answer: until then the rows it may touch are unknown. One that
 * is never answered stays here for ever.
 */

import type { Operation } from '../../histories/index.js';
import { type Interval, intervalOf, type Tx } from '../../rows/index.js';

export interface PendingWrite {
  readonly operation: Operation;
  readonly tx: Tx;
  /** Tables it may write; undefined: any. */
  readonly tables: readonly string[] | undefined;
  /** The only rows it may touch, by key; undefined: any row of its tables. */
  readonly keys: ReadonlySet<string> | undefined;
  /** It may put in rows whose keys are not known. */
  readonly addsUnknown: boolean;
}

export class InFlight {
  /** By start, those that will start later. */
  readonly #waiting: PendingWrite[];
  #next = 0;
  readonly #active = new Map<number, PendingWrite>();
  #faded: PendingWrite[] = [];

  constructor(writes: readonly PendingWrite[]) {
    this.#waiting = [...writes].sort((a, b) => a.operation.start - b.operation.start);
  }

  /** Takes in what was sent by `time`. */
  advance(time: number): void {
    while (this.#next < this.#waiting.length && this.#waiting[this.#next]!.operation.start <= time) {
      const write = this.#waiting[this.#next++]!;
      this.#active.set(write.operation.index, write);
    }
  }

  /** The write was answered: it is in the mirror now, or it failed. */
  settle(operation: Operation): void {
    this.#active.delete(operation.index);
  }

  /** A write failed; whoever reads uncommitted data and overlaps it may have seen what it did before it did. */
  fade(operation: Operation): void {
    const write = this.#active.get(operation.index);
    this.#active.delete(operation.index);
    if (write !== undefined) this.#faded.push(write);
  }

  /** Forgets failed writes that nobody still running overlaps. */
  prune(watermark: number): void {
    this.#faded = this.#faded.filter((write) => intervalOf(write.operation).end >= watermark);
  }

  /** Writes of others that may touch this table and be visible at some instant of `span`. */
  on(table: string, reader: Tx, span: Interval): readonly PendingWrite[] {
    if (this.#active.size === 0 && this.#faded.length === 0) return none;
    const found: PendingWrite[] = [];
    const add = (write: PendingWrite) => {
      if (write.tx === reader || write.operation.start > span.end) return;
      if (write.tables === undefined || write.tables.includes(table)) found.push(write);
    };
    for (const write of this.#active.values()) add(write);
    for (const write of this.#faded) if (intervalOf(write.operation).end >= span.start) add(write);
    return found;
  }
}

const none: readonly PendingWrite[] = [];

/** Whether one of these writes may touch a row. */
export function mayTouch(pending: readonly PendingWrite[], key: string): boolean {
  return pending.some((write) => write.keys === undefined || write.keys.has(key));
}
