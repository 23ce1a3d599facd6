/**
 * What reads reveal about the instant of their snapshot. A row that shows T's version puts the snapshot after T's commit;
 * one that shows an older version, although T certainly wrote the row, puts it before. All reads from one snapshot must
 * agree. If they do not, no instant explains them, although each of them alone may be fine: a fractured snapshot.
 */
import type { Interval, Tx } from '../../rows/index.js';

/** What showed that a transaction is, or is not, in the snapshot. */
export interface SnapshotHint {
  readonly tx: Tx;
  readonly operation: number;
  readonly object: string;
  /** Known before the snapshot was taken: its node had shown or committed the transaction then (`node-lag.ts`). */
  readonly earlier?: 'shown' | 'committed';
}

export interface Fracture {
  readonly seen: SnapshotHint;
  readonly missed: SnapshotHint;
}

export class SnapshotBounds {
  #seen: SnapshotHint | undefined;
  #missed: SnapshotHint | undefined;
  readonly #seenBy = new Map<Tx, SnapshotHint>();
  readonly #missedBy = new Map<Tx, SnapshotHint>();
  #takenBy = Number.POSITIVE_INFINITY;

  constructor(known: readonly SnapshotHint[] = []) {
    for (const hint of known) this.seen(hint);
  }

  /** Records that `hint.tx` is in the snapshot; returns what contradicts it. */
  seen(hint: SnapshotHint): Fracture | undefined {
    if (this.#seenBy.has(hint.tx)) return undefined;
    this.#seenBy.set(hint.tx, hint);
    const same = this.#missedBy.get(hint.tx);
    if (same !== undefined) return { seen: hint, missed: same };
    if (this.#seen === undefined || hint.tx.commit.start > this.#seen.tx.commit.start) this.#seen = hint;
    return this.#contradiction();
  }

  /** Records that `hint.tx` is not in the snapshot. */
  missed(hint: SnapshotHint): Fracture | undefined {
    if (this.#missedBy.has(hint.tx)) return undefined;
    this.#missedBy.set(hint.tx, hint);
    const same = this.#seenBy.get(hint.tx);
    if (same !== undefined) return { seen: same, missed: hint };
    if (this.#missed === undefined || hint.tx.commit.end < this.#missed.tx.commit.end) this.#missed = hint;
    return this.#contradiction();
  }

  /** Something has been read from the snapshot by then. */
  takenBy(moment: number): void {
    this.#takenBy = Math.min(this.#takenBy, moment);
  }

  #contradiction(): Fracture | undefined {
    const seen = this.#seen;
    const missed = this.#missed;
    if (seen === undefined || missed === undefined || seen.tx.commit.start <= missed.tx.commit.end)
      return undefined;
    return { seen, missed };
  }

  /** The part of `span` in which the snapshot can lie. */
  narrow(span: Interval): Interval {
    const start = Math.max(span.start, this.#seen?.tx.commit.start ?? span.start);
    const end = Math.min(span.end, this.#takenBy, this.#missed?.tx.commit.end ?? span.end);
    return start <= end ? { start, end } : span;
  }
}
