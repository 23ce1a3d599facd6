/**
 * What writes read, as their rows tell: INSERT … SELECT names rows after those it made them from, and other writes
 * leave notes in the rows they write (`marks.ts`). Seen wherever such a row is seen: by the observer, and by whoever
 * deletes it.
 */
import type { Value } from '../../sql/index.js';
import type { Instrumented } from './instrumented.js';
import { parseNotes, sourcesOf } from './marks.js';
import type { ObservedState, RowRead, ScanRun, WriteRun } from './row-event-types.js';

export class NotedReads {
  readonly reads: RowRead[] = [];
  readonly scans: ScanRun[] = [];
  /** Lists that the database cut off. */
  cut = 0;
  /** Statements whose notes were seen. */
  readonly tokens = new Set<string>();
  readonly #known = new Set<string>();
  readonly #locking: boolean;

  constructor(
    private readonly writes: ReadonlyMap<string, WriteRun>,
    { dialect }: Instrumented,
  ) {
    this.#locking = dialect === 'mysql';
  }

  /** The notes of one row. Many rows hold the same ones: each is added once. */
  addNotes(value: Value | undefined): void {
    for (const { token, planned, lists } of parseNotes(value)) {
      const run = this.writes.get(token);
      if (run === undefined || run.effect === 'undone') continue;
      this.tokens.add(token);
      for (const [i, { entries, cut }] of lists.entries()) {
        if (cut) this.cut++;
        for (const { rid, list } of entries) this.#add(run, rid, list);
        if (!planned || cut || lists.length !== run.plan.write.noted) continue;
        const search = run.plan.write.notedScans.find((each) => each.list === i);
        if (search === undefined || this.#seen(`${token} ${i}`)) continue;
        const { operation, transaction } = run;
        const found = new Set(entries.map(({ rid }) => rid));
        this.scans.push({ scan: search.scan, operation, transaction, locking: this.#locking, found });
      }
    }
  }

  /** What the ids of rows tell of the rows they were made from, which may have been made from others themselves. */
  addSources(reads: readonly RowRead[], states: readonly (ObservedState | undefined)[]): void {
    const rids = new Set([...reads, ...this.reads].map(({ rid }) => rid));
    for (const state of states) {
      for (const rows of state?.tables.values() ?? []) for (const rid of rows.keys()) rids.add(rid);
    }
    // A set grows while it is walked, and each id is walked once.
    for (const rid of rids) {
      const made = sourcesOf(rid);
      const run = made === undefined ? undefined : this.writes.get(made.token);
      if (made === undefined || run === undefined) continue;
      for (const { rid: source, list } of made.rows) {
        rids.add(source);
        this.#add(run, source, list);
      }
    }
  }

  #add({ operation, transaction }: WriteRun, rid: string, list: Value): void {
    if (this.#seen(`${operation} ${rid} ${String(list)}`)) return;
    this.reads.push({ rid, list, operation, transaction, what: 'read', locking: this.#locking });
  }

  #seen(key: string): boolean {
    if (this.#known.has(key)) return true;
    this.#known.add(key);
    return false;
  }
}
