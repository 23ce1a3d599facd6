/**
 * DELETEs that come too late: the row they select in their transaction's snapshot was deleted by somebody else meanwhile,
 * and they see current rows, so they meet nothing. Manuals allow that the transaction goes on to see the row. Contracts
 * with `ownDeletesHide` do not: the newest committed state has no such row, and the snapshot has it no more once the
 * transaction has deleted it, so no state is left in which it is there.
 *
 * Such a DELETE writes nothing that others could see; it only leaves a note on the row (`RowChain.vainDeletes`), which
 * later plain reads of its transaction heed (`outlook.ts`).
 *
 * A row that is merely changed, and not gone, is none of this: the newest state still has it.
 */
import { intervalOf, type Satisfies } from '../../rows/index.js';
import type { Write } from './followed-write.js';
import type { PendingWrite } from './in-flight.js';
import { expectRow } from './judge-read.js';
import { lookAt } from './outlook.js';
import type { RowChain } from './row-chain.js';
import { snapshotView, type Verification } from './verification.js';

export interface DeletedRows {
  readonly rows: readonly RowChain[];
  readonly where: Satisfies;
  readonly pending: readonly PendingWrite[];
  /** Why nothing is certain about the table. */
  readonly blind: string | undefined;
  /** It looks rows up by their key, so it cannot pass one by that is there. */
  readonly byKey: boolean;
}

/** Notes for each row that this DELETE selects, or may select, where it is, or may be, gone. */
export function noteVainDelete(
  verification: Verification,
  write: Write,
  { rows, where, pending, blind, byKey }: DeletedRows,
): void {
  const { tx, operation, view } = write;
  if (!view.current || tx.contract?.mechanism?.ownDeletesHide !== true || tx.unjudged !== undefined) return;
  const { snapshot } = tx;
  if (snapshot === undefined || snapshot.start > intervalOf(operation).end) return;
  const after = snapshot.end < operation.start;
  const plain = snapshotView(verification, tx, operation);
  const look = { view, tx, exclusive: verification.exclusive, pending };
  for (const row of rows) {
    if (row.versions.length < 2 && pending.length === 0) continue;
    const current = lookAt(row, look);
    // A DELETE that had to wait may have begun while the row was there. That it matched nothing shows what it then met.
    const metNothing = byKey && operation.matched === 0 && current.images.includes('absent');
    const gone =
      !current.unknown &&
      current.images.every(
        (image) => image === 'absent' || (metNothing && image !== 'unknown' && where(image) === true),
      );
    if (!gone && !current.unknown && !current.images.includes('absent')) continue;
    const outlook = lookAt(row, { ...look, view: plain });
    const { mayBeIn, mayBeOut } = expectRow(outlook, { where }, plain);
    if (!mayBeIn || outlook.own) continue;
    const certain = after && gone && !mayBeOut && blind === undefined;
    row.vainDeletes.push({ tx, operation: operation.index, certain });
    write.touch(row);
  }
}
