/** Indexes that are made while transactions write, and H2's, which lack the rows of those that it waited for. */
import type { History, Operation } from '../../histories/index.js';
import { type Catalog, columnsUsed, type Table } from '../../rows/index.js';
import { endOf, endOfTransaction, type Shown } from './known-causes.js';
import { mayNameRowOf, rowWritesOf, statementOf } from './row-writes.js';

/** An index that was made while the history ran. */
export interface NewIndex {
  readonly operation: Operation;
  readonly table: Table;
  readonly columns: readonly string[];
}

export function newIndexesOf({ operations }: History, catalog: Catalog): readonly NewIndex[] {
  return operations.flatMap((operation) => {
    if (operation.kind !== 'ddl' || operation.outcome !== 'ok') return [];
    const statement = statementOf(operation, catalog);
    const table = statement.type === 'create-index' ? catalog.find(statement.table.name) : undefined;
    if (statement.type !== 'create-index' || table === undefined) return [];
    return [{ operation, table, columns: columnsUsed({ ...statement, primary: false }) }];
  });
}

/**
 * H2 at SNAPSHOT and SERIALIZABLE: CREATE INDEX waits for transactions that have written to the table, and then reads the table as it was before them. What
 * they wrote is not in the index; what they removed is. So an index was made while another transaction was open that had written to the table, and
 * then shows a row the finding can be about, at any time after.
 */
export function leavesRowsOut(shown: Shown): boolean {
  const { history, catalog, named } = shown;
  const writes = rowWritesOf(history.operations, catalog);
  const last = Math.max(...named.map(endOf));
  return newIndexesOf(history, catalog).some(
    ({ operation: index, table }) =>
      index.start <= last &&
      writes.some(
        (write) =>
          write.table === table &&
          write.operation.transaction !== index.transaction &&
          write.operation.start < endOf(index) &&
          endOfTransaction(history, write.operation) > index.start &&
          mayNameRowOf([write], shown),
      ),
  );
}
