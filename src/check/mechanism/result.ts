/** What a verification gives back. */
import type { Finding } from '../finding.js';

export interface MechanismResult {
  /** The contract verified, by id. */
  readonly contract: string;
  readonly findings: readonly Finding[];
  readonly checked: Checked;
  /** What was not judged, and how often: a reason, then a count. Never a finding. */
  readonly skipped: readonly SkippedReason[];
  /** Things a reader of the verdict should know: unknown initial states, statements that could not be followed. */
  readonly notes: readonly string[];
  /** With `compareWith`: what would change under the other contract. */
  readonly comparison?: ContractComparison;
}

export interface Checked {
  readonly transactions: number;
  /** Reads whose every row was compared, missing rows included. */
  readonly reads: number;
  /** Rows returned by reads and compared. */
  readonly rows: number;
  /** Reads with at least one row that several versions, or an unknown one, could explain. */
  readonly ambiguousReads: number;
  readonly writes: number;
  readonly locks: number;
  /** Dependencies given to the certifier. */
  readonly dependencies: number;
  /** The most row versions held at once. */
  readonly peakVersions: number;
}

export interface SkippedReason {
  readonly what: 'read' | 'write' | 'row' | 'transaction';
  readonly reason: string;
  readonly count: number;
}

export interface ContractComparison {
  readonly contract: string;
  readonly findings: number;
  /** Findings only the other contract has, and only this one. */
  readonly appear: readonly Finding[];
  readonly vanish: readonly Finding[];
}

/** Counts as it goes. */
export class Tally {
  reads = 0;
  rows = 0;
  ambiguousReads = 0;
  writes = 0;
  locks = 0;
  dependencies = 0;
  peakVersions = 0;
  readonly #skipped = new Map<string, { what: SkippedReason['what']; reason: string; count: number }>();
  readonly #notes = new Set<string>();

  constructor(private readonly onSkip?: (reason: string) => void) {}

  skip(what: SkippedReason['what'], reason: string, count = 1): void {
    this.onSkip?.(reason);
    const key = `${what}: ${reason}`;
    const entry = this.#skipped.get(key);
    if (entry === undefined) this.#skipped.set(key, { what, reason, count });
    else entry.count += count;
  }

  note(text: string): void {
    this.#notes.add(text);
  }

  get notes(): readonly string[] {
    return [...this.#notes];
  }

  get skipped(): readonly SkippedReason[] {
    return [...this.#skipped.values()].sort((a, b) => b.count - a.count || (a.reason < b.reason ? -1 : 1));
  }

  checked(transactions: number): Checked {
    const { reads, rows, ambiguousReads, writes, locks, dependencies, peakVersions } = this;
    return { transactions, reads, rows, ambiguousReads, writes, locks, dependencies, peakVersions };
  }
}
