/**
 * Derby at READ UNCOMMITTED and READ COMMITTED: an UPDATE with a subquery that reads the table it writes computes its rows first, keeps no lock on them, and
 * writes them when it has seen all of them. What others have committed to a row in between is overwritten.
 *
 * So there was such an UPDATE, and a write of another transaction which was sent before the UPDATE was answered and committed after that was sent, to a row
 * that both can have met and the finding can be about.
 */
import { sameName, visitNodes } from '../../sql/index.js';
import { endOf, endOfTransaction, type Shown } from './known-causes.js';
import { mayMeetInKey, mayNameRowOf, type RowWrite, rowWritesOf, statementOf, touch } from './row-writes.js';

export function overwritesMeanwhile(shown: Shown): boolean {
  const { history, catalog, named } = shown;
  const last = Math.max(...named.map(endOf));
  const writes = rowWritesOf(history.operations, catalog);
  return writes.some(
    (update) =>
      update.operation.start <= last &&
      readsItsTable(update, shown) &&
      writes.some(
        (other) =>
          other.table === update.table &&
          other.operation.transaction !== update.operation.transaction &&
          other.operation.start < endOf(update.operation) &&
          endOfTransaction(history, other.operation) > update.operation.start &&
          mayMeetInKey(touch(update.operation, catalog), other, catalog) &&
          mayNameRowOf([update, other], shown),
      ),
  );
}

function readsItsTable({ change, operation, table }: RowWrite, { catalog }: Shown): boolean {
  if (change !== 'update') return false;
  let uses = 0;
  visitNodes(statementOf(operation, catalog), {
    from: (item) => {
      if (item.type === 'table' && sameName(item.name, table.shape.name, catalog.dialect)) uses++;
    },
  });
  // One is the table it writes.
  return uses > 1;
}
