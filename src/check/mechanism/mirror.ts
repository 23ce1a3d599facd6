/**
 * The mirror: our own copy of every table, row by row and version by version, kept from what the history shows.
 *
 * A row is named by its table's identity (`rows/identity.ts`), where there is one; otherwise by a number we give it, because a row that we saw inserted stays the same row however often it is updated. A table whose
 * initial rows are known is *closed*: a row that is not in the mirror does not exist.
 */
import { IdentityEnded, type Image, rowKey, type Table, type Tx } from '../../rows/index.js';
import type { EvaluatedRow } from '../../sql/index.js';
import { RowChain, type Version } from './row-chain.js';

/** How many rows that are gone are remembered, the latest ones. */
const goneKept = 10_000;

export class MirrorTable {
  readonly rows = new Map<string, RowChain>();
  /** Rows that are gone, kept to say who had written and deleted what a read shows of them all the same. */
  readonly #gone = new Map<string, RowChain>();
  readonly closed: boolean;
  /** From here on the table's rows are not known any more, and why. */
  unknownFrom = Number.POSITIVE_INFINITY;
  unknownWhy = '';
  /** Transactions that wrote to it in a way we could not follow, each with the first reason. */
  readonly lostTo = new Map<Tx, string>();
  /** Positions of columns by the names a trace uses. */
  readonly columnPositions = new Map<string, number>();
  #named = 0;
  /** The table was lost to everybody, and its rows are forgotten. */
  #forgotten = false;
  /** Rows that were put in and that somebody may still see, where only their values show what names them. */
  readonly #put = new Set<string>();

  constructor(readonly info: Table) {
    const { initial, unfollowed } = info;
    this.closed = initial !== undefined;
    if (unfollowed !== undefined) this.lose(unfollowed, Number.NEGATIVE_INFINITY);
    for (const row of initial ?? []) {
      const key = this.keyOf(row);
      if (this.rows.has(key)) this.lose('two initial rows have the same identity', Number.NEGATIVE_INFINITY);
      this.rows.set(key, new RowChain(info.name, key, row));
      if (info.basis === 'shown') this.#put.add(key);
    }
  }

  /** The name of a row with these values; a new one where rows have no identity. */
  keyOf(row: EvaluatedRow): string {
    return rowKey(row, this.info.identity) ?? `#${++this.#named}`;
  }

  /** The row's chain; one that was never seen is absent if the table is closed. */
  row(key: string): RowChain {
    let chain = this.rows.get(key);
    if (chain === undefined) {
      const initial: Image = this.closed && !this.#forgotten ? 'absent' : 'unknown';
      chain = this.#gone.get(key) ?? new RowChain(this.info.name, key, initial);
      this.rows.set(key, chain);
    }
    return chain;
  }

  /**
   * The chain of a row that is put in. Where nothing but the values so far say that rows have names, a value that is there
   * already, or none at all, says that they have not.
   */
  insertedRow(values: EvaluatedRow): RowChain {
    const row = this.row(this.keyOf(values));
    if (this.info.basis !== 'shown') return row;
    if (row.key.startsWith('#') || this.#put.has(row.key)) this.endIdentity();
    this.#put.add(row.key);
    return row;
  }

  endIdentity(): never {
    throw new IdentityEnded(this.info);
  }

  /** Nothing about this table can be said from `time` on, and to the transaction from now on. */
  lose(why: string, time: number, tx?: Tx): void {
    if (tx !== undefined && !this.lostTo.has(tx)) this.lostTo.set(tx, why);
    if (time < this.unknownFrom) {
      this.unknownFrom = time;
      this.unknownWhy = why;
    }
  }

  /** Why a reader whose view ends at `end` cannot be judged; undefined if it can. */
  blindSpot(tx: Tx, end: number): string | undefined {
    return this.lostTo.get(tx) ?? (this.unknownFrom <= end ? this.unknownWhy : undefined);
  }

  prune(
    watermark: number,
    { exclusive, traced }: { readonly exclusive: boolean; readonly traced: boolean },
    onDrop?: (row: RowChain, dropped: Version, next: Version) => void,
  ): void {
    // Nobody who still looks can be judged, unless by rows that a trace names; and each write would add what it may have done to every row.
    if (this.unknownFrom <= watermark && !traced) {
      this.#forgotten = true;
      this.rows.clear();
      this.#gone.clear();
      return;
    }
    for (const [key, row] of this.rows) {
      row.prune(watermark, exclusive, onDrop?.bind(undefined, row));
      if (this.closed && row.isGone) this.#forget(key, row);
    }
  }

  #forget(key: string, row: RowChain): void {
    this.rows.delete(key);
    this.#put.delete(key);
    // A row that never was has nothing to tell.
    if (row.retired.length === 0) return;
    this.#gone.delete(key);
    this.#gone.set(key, row);
    if (this.#gone.size > goneKept) this.#gone.delete(this.#gone.keys().next().value!);
  }
}
