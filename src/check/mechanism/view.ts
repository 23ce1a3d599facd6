/** Which state a statement looks at, by its contract: a snapshot taken once, its own moment, or uncommitted data. */

import type { Mechanism } from '../../contracts/index.js';
import type { Operation } from '../../histories/index.js';
import { hasSnapshot, type Interval, intervalOf, type Tx } from '../../rows/index.js';
import type { View } from './row-chain.js';

export type ReadMode = 'plain' | 'locking' | 'write';

/**
 * The view of a statement of a transaction that is judged. `narrowed` is what earlier reads of the transaction have shown about its snapshot.
 *
 * A statement that sees current rows meets each of them when it gets to it, after waiting for locks perhaps, so its
 * rows need not belong to one instant. Plain reads that lock (InnoDB's SERIALIZABLE) are of this kind.
 */
export function viewOf(tx: Tx, operation: Operation, mode: ReadMode, narrowed?: Interval): View {
  const mechanism = tx.contract!.mechanism!;
  const moment = intervalOf(operation);
  const dirty = mode === 'plain' ? mechanism.pivot === 'uncommitted' : mechanism.writesSearchUncommitted;
  if (dirty === true) return { span: moment, current: true, dirty };
  const locks = readsLockRows(tx, mechanism);
  const current =
    mode === 'plain'
      ? locks || mechanism.readsLockBriefly === true
      : (mode === 'write' ? mechanism.writesSee : mechanism.lockingReadsSee) === 'current';
  const snapshot = narrowed ?? tx.snapshot;
  if (current || !hasSnapshot(mechanism) || snapshot === undefined)
    return { span: moment, current, dirty: false };
  // A write before the transaction's first read comes before its snapshot.
  if (tx.snapshot !== undefined && moment.end < tx.snapshot.start)
    return { span: moment, current: true, dirty: false };
  const later = mechanism.snapshotMoves === true || mechanism.snapshotPer === 'table';
  const end = later ? Math.max(snapshot.end, moment.end) : snapshot.end;
  return { span: { start: snapshot.start, end: Math.min(end, moment.end) }, current: false, dirty: false };
}

/** Whether plain reads take row locks: those of autocommitted statements do not last, and files are not rows. */
export function readsLockRows(tx: Tx, mechanism: Mechanism): boolean {
  return mechanism.readsLock && mechanism.protocol === 'locking' && tx.explicit;
}
