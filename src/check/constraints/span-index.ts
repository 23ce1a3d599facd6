/**
 * Spans of time, each somebody's, and whether one of them meets another span: of those that start before it ends, the one that ends last
 * decides. A question may leave out the spans of one owner, so the last end of anybody else is kept beside. Questions cost a binary search;
 * the order is made at the first one after spans were added.
 */
import { type Interval, lastStarted } from '../../rows/index.js';

interface Owned<Owner> {
  readonly span: Interval;
  readonly owner: Owner;
}

/** What ends last among the spans up to one of them. */
interface Latest<Owner> {
  readonly end: number;
  readonly owner: Owner;
  /** The last end of anybody else's. */
  readonly others: number;
}

const byStart = {
  earliest: (at: Owned<unknown>) => at.span.start,
  latest: (at: Owned<unknown>) => at.span.end,
};

export class SpanIndex<Owner> {
  readonly #spans: Owned<Owner>[] = [];
  #latest: Latest<Owner>[] = [];

  add(span: Interval, owner: Owner): void {
    this.#spans.push({ span, owner });
    this.#latest = [];
  }

  /** Whether one of the spans, but for those of an owner, has a moment in common with this one. */
  meets({ start, end }: Interval, but?: Owner): boolean {
    if (this.#latest.length < this.#spans.length) this.#order();
    const latest = this.#latest[lastStarted(this.#spans, byStart, end)];
    if (latest === undefined) return false;
    return (latest.owner === but ? latest.others : latest.end) >= start;
  }

  #order(): void {
    this.#spans.sort((a, b) => a.span.start - b.span.start);
    let latest: Latest<Owner> | undefined;
    this.#latest = this.#spans.map(({ span: { end }, owner }) => {
      latest = latestWith(latest, end, owner);
      return latest;
    });
  }
}

function latestWith<Owner>(known: Latest<Owner> | undefined, end: number, owner: Owner): Latest<Owner> {
  if (known === undefined) return { end, owner, others: Number.NEGATIVE_INFINITY };
  if (known.owner === owner) return end > known.end ? { ...known, end } : known;
  if (end > known.end) return { end, owner, others: known.end };
  return end > known.others ? { ...known, others: end } : known;
}
