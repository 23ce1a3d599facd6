/** What each open transaction wrote, and what of it ROLLBACK TO takes back. */
import type { Operation } from '../../histories/index.js';
import { intervalOf, Savepoints, savepointOf, type Tx } from '../../rows/index.js';
import type { Arithmetic } from '../../sql/index.js';
import type { RowChain } from './row-chain.js';

interface OpenWrites {
  readonly rows: Set<RowChain>;
  /** Each with the operation that set it. */
  readonly savepoints: Savepoints<number>;
  /** A name of one is written in quotes, and whether that is another name is the engine's own. */
  doubtful: boolean;
}

export class WrittenRows {
  readonly #open = new Map<Tx, OpenWrites>();
  #touched = 0;

  /** Its engine may fold names in another way than the dialect does. */
  constructor(private readonly engine: Pick<Arithmetic, 'dialect' | 'borrowed'>) {}

  #of(tx: Tx): OpenWrites {
    let writes = this.#open.get(tx);
    if (writes === undefined) {
      writes = { rows: new Set(), savepoints: new Savepoints(), doubtful: false };
      this.#open.set(tx, writes);
    }
    return writes;
  }

  /** Remembers that a transaction wrote a row. */
  touch(tx: Tx, row: RowChain): void {
    const { rows } = this.#of(tx);
    if (!rows.has(row)) this.#touched++;
    rows.add(row);
  }

  /** To how many rows transactions have added a version so far. */
  get touched(): number {
    return this.#touched;
  }

  /** Follows a savepoint statement; false: it is something else. */
  follow(tx: Tx, operation: Operation): boolean {
    const statement = savepointOf(operation, this.engine.dialect);
    if (statement === undefined) return false;
    const writes = this.#of(tx);
    const { rows, savepoints } = writes;
    if (this.engine.borrowed && operation.sql?.includes('"')) writes.doubtful = true;
    const undone = savepoints.follow(statement, operation.index);
    if (undone === undefined) return true;
    for (const row of rows) {
      if (undone.backTo !== undefined && !writes.doubtful)
        row.undo(tx, undone.backTo, intervalOf(operation).end);
      // The engine knew the savepoint and we do not: nothing it wrote is certain any more.
      else forgetValues(row, tx);
    }
    return true;
  }

  /** The transaction is over. */
  forget(tx: Tx): void {
    for (const row of this.#open.get(tx)?.rows ?? []) row.dropIdle(tx);
    this.#open.delete(tx);
  }
}

function forgetValues(row: RowChain, tx: Tx): void {
  const own = row.own(tx);
  if (own === undefined) return;
  Object.assign(own, { certain: false, met: false });
  own.states.at(-1)!.images = ['unknown'];
}
