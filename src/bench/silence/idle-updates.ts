/**
 * What MDEV-26642, MySQL #100328 and TiDB #42487 need: an own UPDATE that changes nothing. It meets the newest row, which another transaction has
 * made what the UPDATE would make of it, and so writes nothing; the own reads, which look at the snapshot, go on to show the row as it was.
 *
 * All of it is asked for: a write in the transaction that shows the finding that found more rows than it changed, or does not say; the one that the
 * finding names, where it names one; another transaction that wrote to the table, and whose COMMIT fell between the BEGIN of the first and its
 * write; and one row that both writes, the read and the finding can all be about.
 */
import { type Shown, writesAfterOthers } from './known-causes.js';
import { type RowWrite, statementOf } from './row-writes.js';

export function updatesNothing(shown: Shown): boolean {
  return writesAfterOthers(shown, (write) => mayChangeNothing(write, shown));
}

/**
 * The count of an upsert does not say whether it inserted a row, or found one that was right already; but a single row that counts twice was changed.
 * A REPLACE by an equal row writes nothing, and counts as a change.
 */
function mayChangeNothing({ operation, change }: RowWrite, { catalog }: Shown): boolean {
  const { matched, changed } = operation;
  const statement = statementOf(operation, catalog);
  if (statement.type === 'update') return matched !== undefined && changed !== undefined && changed < matched;
  if (statement.type !== 'insert') return false;
  if (change === 'replace') return true;
  const single = statement.source.type === 'values' && statement.source.rows.length === 1;
  return changed === undefined && !(single && matched === 2);
}
