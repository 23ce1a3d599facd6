/** Which operations of a history were taken back by a ROLLBACK TO, reads included: they may have seen what is gone. */
import type { History } from '../histories/index.js';
import type { OperationId, TransactionId } from '../ids.js';
import type { Dialect } from '../sql/index.js';
import { Savepoints, savepointOf } from './savepoints.js';

export function undoneOperations({ operations }: History, dialect: Dialect): ReadonlySet<OperationId> {
  const undone = new Set<OperationId>();
  const open = new Map<TransactionId, { savepoints: Savepoints<number>; done: OperationId[] }>();
  for (const operation of operations) {
    const { transaction, index, outcome } = operation;
    const { savepoints, done } = open.get(transaction) ?? { savepoints: new Savepoints<number>(), done: [] };
    open.set(transaction, { savepoints, done });
    const named = outcome === 'ok' ? savepointOf(operation, dialect) : undefined;
    const back = named && savepoints.follow(named, done.length);
    // A savepoint we did not see set: anything before may be gone.
    if (back !== undefined) for (const gone of done.splice(back.backTo ?? 0)) undone.add(gone);
    done.push(index);
  }
  return undone;
}
