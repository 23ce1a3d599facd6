/**
 * Autocommitted writes that were sent but not yet answered. Writes enter the mirror in the order of their answers; a
 * transaction's writes are all answered before its COMMIT is sent, so a reader that could see them finds them there.
 * Only an autocommitted write can be visible before its answer: until then the rows it may touch are unknown. One that
 * is never answered stays here for ever.
 */
import type { Operation } from '../../histories/index.js';
import type { Tx } from './transactions.js';

export interface PendingWrite {
  readonly operation: Operation;
  readonly tx: Tx;
  /** Tables it may write; undefined: any. */
  readonly tables: readonly string[] | undefined;
  /** The only rows it may touch, by key; undefined: any row of its tables. */
  readonly keys: ReadonlySet<string> | undefined;
}

export class InFlight {
  /** By start, those that will start later. */
  readonly #waiting: PendingWrite[];
  #next = 0;
  readonly #active = new Map<number, PendingWrite>();

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

  /** The write was answered and is in the mirror now. */
  settle(operation: Operation): void {
    this.#active.delete(operation.index);
  }

  /** Writes of others that may be visible by `time` and may touch this table. */
  on(table: string, reader: Tx, time: number): readonly PendingWrite[] {
    if (this.#active.size === 0) return none;
    const found: PendingWrite[] = [];
    for (const write of this.#active.values()) {
      if (write.tx === reader || write.operation.start > time) continue;
      if (write.tables === undefined || write.tables.includes(table)) found.push(write);
    }
    return found;
  }
}

const none: readonly PendingWrite[] = [];

/** Whether one of these writes may touch a row. */
export function mayTouch(pending: readonly PendingWrite[], key: string): boolean {
  return pending.some((write) => write.keys === undefined || write.keys.has(key));
}
