/**
 * The versions of a table's rows by the time of the COMMITs that published them, so that what lies around a moment is found without a
 * look at all others: sorted by when the COMMITs were sent, with a tree above that knows the last answer of each part. One COMMIT that was
 * never answered overlaps everything after it, and must not make a search go through all of that.
 *
 * For finished chains: what is published later is not in it.
 */
import type { OrderStepId, RowId } from '../ids.js';
import { type Interval, lastStarted } from '../rows/index.js';
import type { Evidence } from './evidence.js';
import { Ints } from './ints.js';
import type { Steps } from './steps.js';

/** What changed in each table that is read as a whole, by its object. */
export function changesOf({ objects, steps, scans, queries }: Evidence): ReadonlyMap<number, TableChanges> {
  const tables = new Set([...scans.map(({ table }) => table), ...queries.flatMap((query) => query.tables)]);
  const rows = new Map<number, RowId[]>([...tables].map((table) => [table, []]));
  objects.tableOf.forEach((table, row) => {
    rows.get(table)?.push(row);
  });
  const versionsOf = (row: RowId) => objects.chains[row]?.versions ?? [];
  return new Map([...rows].map(([table, list]) => [table, new TableChanges(list, versionsOf, steps)]));
}

export class TableChanges {
  /** The versions, by when their COMMITs were sent. */
  readonly #row: Int32Array;
  readonly #publish: Int32Array;
  readonly #settled: Float64Array;
  /** The last answer in a part of the list; node i has the parts of nodes 2i and 2i + 1, and the leaves are the versions. */
  readonly #latest: Float64Array;
  readonly #leaves: number;
  /** For each version of a row the first moment at which it or a newer one was sent. */
  readonly #sent = new Map<RowId, Float64Array>();

  constructor(
    readonly rows: readonly RowId[],
    versionsOf: (row: RowId) => readonly OrderStepId[],
    private readonly steps: Steps,
  ) {
    const { start, end } = steps;
    const [row, publish, settled] = [new Ints(), new Ints(), [] as number[]];
    for (const each of rows) {
      const versions = versionsOf(each);
      if (versions.length === 0) continue;
      for (const first of firstFrom(versions, end)) settled.push(first);
      for (const version of versions) {
        row.push(each);
        publish.push(version);
      }
      this.#sent.set(each, firstFrom(versions, start));
    }
    const order = Array.from(publish.view(), (_, i) => i).sort(
      (a, b) => start[publish.at(a)]! - start[publish.at(b)]!,
    );
    this.#row = Int32Array.from(order, (i) => row.at(i));
    this.#publish = Int32Array.from(order, (i) => publish.at(i));
    this.#settled = Float64Array.from(order, (i) => settled[i]!);
    this.#leaves = 2 ** Math.ceil(Math.log2(Math.max(1, order.length)));
    this.#latest = new Float64Array(2 * this.#leaves).fill(Number.NEGATIVE_INFINITY);
    this.#publish.forEach((step, i) => {
      this.#latest[this.#leaves + i] = end[step]!;
    });
    for (let node = this.#leaves - 1; node > 0; node--)
      this.#latest[node] = Math.max(this.#latest[2 * node]!, this.#latest[2 * node + 1]!);
  }

  /**
   * Shows the versions whose COMMITs overlap a span, those first that were sent last: the row, the step that published it, and the first
   * answer to a step that published this version of the row or a newer one.
   */
  around({ start, end }: Interval, show: (row: RowId, publish: OrderStepId, settled: number) => void): void {
    const last = lastStarted(this.#publish, this.steps.spans, end);
    const visit = (node: number, low: number, count: number): void => {
      if (low > last || this.#latest[node]! < start) return;
      if (count === 1) {
        show(this.#row[low]!, this.#publish[low]!, this.#settled[low]!);
        return;
      }
      visit(2 * node + 1, low + count / 2, count / 2);
      visit(2 * node, low, count / 2);
    };
    visit(1, 0, this.#leaves);
  }

  /** Position of the newest version of a row that was sent by a moment; −1: none. */
  newestSent(row: RowId, time: number): number {
    return lastStarted(this.#sent.get(row) ?? noTimes, itself, time);
  }
}

const noTimes = new Float64Array();
const itself = { earliest: (time: number) => time, latest: (time: number) => time };

/** For each of these steps the least of its time and those of all after it. */
function firstFrom(versions: readonly OrderStepId[], times: ArrayLike<number>): Float64Array {
  const first = new Float64Array(versions.length);
  let least = Number.POSITIVE_INFINITY;
  for (let i = versions.length - 1; i >= 0; i--) {
    least = Math.min(least, times[versions[i]!]!);
    first[i] = least;
  }
  return first;
}
