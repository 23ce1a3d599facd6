/**
 * Mutual exclusion. After a statement certainly locked a row, its transaction holds the row until it begins to end. A
 * conflicting lock that another transaction was granted wholly inside that time (sent after the first was answered,
 * answered before the holder began to end) should have waited or failed.
 *
 * Only rows that a statement certainly touched count, and only statements that succeeded. Shares of a row go together.
 */

import type { Operation } from '../../histories/index.js';
import { intervalOf, type Tx } from '../../rows/index.js';

export type LockMode = 'share' | 'exclusive';

interface HeldLock {
  readonly tx: Tx;
  readonly mode: LockMode;
  readonly operation: Operation;
  readonly since: number;
}

export interface LockConflict {
  readonly holder: Tx;
  readonly heldBy: Operation;
  readonly heldMode: LockMode;
}

export class LockTable {
  readonly #held = new Map<string, HeldLock[]>();

  /** Grants a lock, and returns the holder it should have waited for, if any. */
  grant(object: string, tx: Tx, operation: Operation, mode: LockMode): LockConflict | undefined {
    const span = intervalOf(operation);
    const held = this.#held.get(object)?.filter((lock) => lock.tx.holdsLocksUntil > span.start) ?? [];
    let conflict: LockConflict | undefined;
    for (const lock of held) {
      if (lock.tx === tx || (lock.mode === 'share' && mode === 'share')) continue;
      if (span.start > lock.since && span.end < lock.tx.holdsLocksUntil)
        conflict = { holder: lock.tx, heldBy: lock.operation, heldMode: lock.mode };
    }
    if (span.end < tx.holdsLocksUntil) held.push({ tx, mode, operation, since: span.end });
    if (held.length > 0) this.#held.set(object, held);
    else this.#held.delete(object);
    return conflict;
  }

  /** Forgets locks that ended before `watermark`. */
  prune(watermark: number): void {
    for (const [object, locks] of this.#held) {
      const kept = locks.filter((lock) => lock.tx.holdsLocksUntil >= watermark);
      if (kept.length === 0) this.#held.delete(object);
      else if (kept.length < locks.length) this.#held.set(object, kept);
    }
  }
}
