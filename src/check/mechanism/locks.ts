/**
 * Mutual exclusion. After a statement certainly locked a row, its transaction holds the row until it begins to end. A
 * conflicting lock that another transaction was granted wholly inside that time (sent after the first was answered,
 * answered before the holder began to end) should have waited or failed.
 *
 * Only rows that a statement certainly touched count, and only statements that succeeded (`rows/row-locks.ts` has the modes).
 */

import type { Operation } from '../../histories/index.js';
import {
  intervalOf,
  type Lock,
  type LockMode,
  lockMeeting,
  type RowLocks,
  type Tx,
} from '../../rows/index.js';

export interface HeldLock extends Lock<Tx> {
  readonly operation: Operation;
  /** Held for certain from here to `owner.holdsLocksUntil`. */
  readonly since: number;
}

/** Grants a lock, and returns the one it should have waited for, if any. */
export function grantLock(
  locks: RowLocks<HeldLock>,
  owner: Tx,
  operation: Operation,
  mode: LockMode,
): HeldLock | undefined {
  const request = intervalOf(operation);
  locks.release((held) => held.owner.holdsLocksUntil <= request.start);
  let conflict: HeldLock | undefined;
  locks.meet(owner, mode, (held) => {
    const { holdsLocksUntil } = held.owner;
    const together = lockMeeting({ start: holdsLocksUntil, end: holdsLocksUntil }, request) === 'together';
    if (together && request.start > held.since) conflict = held;
  });
  if (request.end < owner.holdsLocksUntil) locks.grant({ owner, mode, operation, since: request.end });
  return conflict;
}

/** Whether a statement may have met rows without waiting for who held them: it is its own transaction, and may have left a row as it was. */
export function mayLockNothing(tx: Tx, operation: Operation): boolean {
  return (
    tx.contract?.mechanism?.autocommitLocksNothing === true && !tx.explicit && !changedAllRows(operation)
  );
}

/** Whether no row that it matched was left as it was: each is to be committed, and meets whoever holds it. */
export function changedAllRows(operation: Operation): boolean {
  const { changed, matched } = operation;
  return changed !== undefined && changed > 0 && changed === matched && !countsUnchanged(operation);
}

/** Servers count the rows that a REPLACE or an upsert offers, also one that is there already as it would become. */
function countsUnchanged({ kind, sql = '' }: Operation): boolean {
  return kind === 'replace' || (kind === 'insert' && /\bon\s+(duplicate|conflict)\b/i.test(sql));
}
