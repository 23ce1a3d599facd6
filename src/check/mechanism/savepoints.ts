/** Savepoints: what a transaction wrote after one is taken back by ROLLBACK TO. */

import type { Operation } from '../../histories/index.js';
import { intervalOf } from '../../rows/index.js';
import { parseStatement } from '../../sql/index.js';
import type { RowChain } from './row-chain.js';
import type { Tx } from './transactions.js';

interface Mark {
  readonly name: string;
  readonly operation: number;
}

export class Savepoints {
  readonly #marks = new Map<Tx, Mark[]>();
  readonly #touched = new Map<Tx, Set<RowChain>>();

  /** Remembers that a transaction wrote a row. */
  touch(tx: Tx, row: RowChain): void {
    let rows = this.#touched.get(tx);
    if (rows === undefined) {
      rows = new Set();
      this.#touched.set(tx, rows);
    }
    rows.add(row);
  }

  /** Follows a savepoint statement; false: it is something else. */
  follow(tx: Tx, operation: Operation): boolean {
    const { kind } = operation;
    if (kind !== 'savepoint' && kind !== 'release' && kind !== 'rollback-to') return false;
    const statement = parseStatement(operation.sql ?? '');
    const name =
      statement.type === kind && 'name' in statement ? (statement.name as string).toLowerCase() : '';
    const marks = this.#marks.get(tx) ?? [];
    this.#marks.set(tx, marks);
    if (kind === 'savepoint') {
      marks.push({ name, operation: operation.index });
      return true;
    }
    // The newest of that name. MySQL drops older ones of the same name and PostgreSQL hides them: both mean the newest.
    const at = marks.findLastIndex((mark) => mark.name === name);
    const rows = this.#touched.get(tx) ?? [];
    if (at < 0) {
      // The engine knew the savepoint and we do not: nothing it wrote is certain any more.
      if (kind === 'rollback-to') for (const row of rows) forgetValues(row, tx);
      return true;
    }
    if (kind === 'release') marks.length = at;
    else {
      for (const row of rows) row.undo(tx, marks[at]!.operation, intervalOf(operation).end);
      marks.length = at + 1;
    }
    return true;
  }

  /** The transaction is over. */
  forget(tx: Tx): void {
    this.#marks.delete(tx);
    this.#touched.delete(tx);
  }
}

function forgetValues(row: RowChain, tx: Tx): void {
  const own = row.own(tx);
  if (own === undefined) return;
  own.certain = false;
  own.states.at(-1)!.images = ['unknown'];
}
