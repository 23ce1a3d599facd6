/**
 * Writes that leave a row as it was, under contracts whose writers of a row do not wait for each other.
 *
 * Where conflicts are found at COMMIT, they are found among the rows that a transaction is about to write; a row that an UPDATE, an upsert
 * or a REPLACE leaves as it was is not one of them (TiDB), nor of the write set that nodes of a cluster certify (Galera). The same goes for
 * a statement outside of a transaction that locks nothing. Such a row meets no conflict, and its commit hides nothing that others
 * committed meanwhile; its own transaction sees it nevertheless.
 *
 * It is idle for certain if the answer counts no changed row, or if its only possible base and its only possible result are
 * the same known values. Nobody else can then tell whether it was written, so it is kept for its own transaction alone and dropped when that
 * ends (`RowChain.dropIdle`): a version that nobody needs would make others unsure of a row that never changed.
 *
 * Where the second writer fails at once, it fails because of what the first has left. Some engines leave nothing where an update changes nothing
 * (DuckDB), others do: it has perhaps written, never certainly not, and must have the row in any case.
 */

import type { Operation } from '../../histories/index.js';
import { type Image, imageKey, isVague } from '../../rows/index.js';
import type { Write } from './followed-write.js';
import { changedAllRows, mayLockNothing } from './locks.js';
import type { Outlook } from './outlook.js';

/**
 * What a write that certainly met a row leaves to commit: the row, perhaps the row, or nothing for certain. Its own transaction sees the row
 * in any case.
 */
export type Effect = 'written' | 'perhaps' | 'idle';

type Met = Pick<Outlook, 'own' | 'versions' | 'images' | 'unknown'>;

export function effectOn(
  write: Pick<Write, 'tx' | 'operation'>,
  outlook: Met,
  after: readonly Image[],
): Effect {
  const { operation } = write;
  if (!mayBeIdle(write) || hasWritten(outlook) || operation.kind === 'delete') return 'written';
  const idle = failsAtOnce(write) ? 'perhaps' : 'idle';
  if (operation.kind === 'update') {
    if (changedAllRows(operation)) return 'written';
    if (changedNothing(operation)) return idle;
  }
  const { images, unknown } = outlook;
  const [base] = images;
  const [result] = after;
  if (images.length === 1 && after.length === 1 && !unknown && areEqual(base!, result!)) return idle;
  return after.some((image) => images.some((other) => mayBeEqual(image, other))) ? 'perhaps' : 'written';
}

/** Whether an UPDATE left nothing at all to commit, whichever rows it met. */
export function isIdle(write: Pick<Write, 'tx' | 'operation'>): boolean {
  const { operation } = write;
  return operation.kind === 'update' && changedNothing(operation) && mayBeIdle(write);
}

function mayBeIdle({ tx, operation }: Pick<Write, 'tx' | 'operation'>): boolean {
  const mechanism = tx.contract?.mechanism;
  return mechanism?.writeConflict === 'none' || failsAtOnce({ tx }) || mayLockNothing(tx, operation);
}

function failsAtOnce({ tx }: Pick<Write, 'tx'>): boolean {
  return tx.contract?.mechanism?.writeConflict === 'fails';
}

/** Whether a write with such an effect must not meet another transaction that has the row. */
export function needsRow(write: Pick<Write, 'tx'>, effect: Effect | 'doubtful'): boolean {
  return effect === 'written' || (effect === 'perhaps' && failsAtOnce(write));
}

function changedNothing({ changed }: Operation): boolean {
  return changed === 0;
}

/** Whether the transaction has certainly written the row before, and will commit that. */
export function hasWritten({ own, versions }: Pick<Outlook, 'own' | 'versions'>): boolean {
  return own && versions[0]!.certain;
}

export function mayBeEqual(image: Image, other: Image): boolean {
  return isVague(image) || isVague(other) || imageKey(image) === imageKey(other);
}

function areEqual(image: Image, other: Image): boolean {
  return !isVague(image) && !isVague(other) && imageKey(image) === imageKey(other);
}
