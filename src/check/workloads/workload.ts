/**
 * A workload: operations whose meaning is known from how a test was made, such as transfers between accounts or
 * additions to a set. Each is one file with a checker behind this interface, and one line in `registry.ts`.
 *
 * A checker is sound for the meaning its header states: a finding follows from the operations alone. What it cannot judge
 * it counts in `unknownReasons`.
 */

import type { BaseKind } from '../../contracts/index.js';
import type { KvHistory, PlainOperation } from '../../histories/index.js';
import type { CheckLevel } from '../levels.js';

export const workloadNames = [
  'bank',
  'set',
  'set-full',
  'counter',
  'long-fork',
  'sequential',
  'comments',
  'register',
  'cas-register',
  'mutex',
] as const;
export type WorkloadName = (typeof workloadNames)[number];

/** What a history was made with, as far as it does not say so itself. */
export interface WorkloadOptions {
  /** Bank: the sum of all balances; by default the one that most reads have. */
  readonly total?: number;
  /** Bank: balances may go below 0. */
  readonly negativeBalances?: boolean;
  /** Set-full: an element must be seen by every read that begins after its addition ended. */
  readonly linearizable?: boolean;
}

export interface WorkloadHistory {
  readonly operations: readonly PlainOperation[];
  /** The transactions of the same file. */
  readonly transactions: KvHistory;
}

/** Something that is wrong, by positions in `operations` (or in `transactions`, for workloads of transactions). */
export interface WorkloadFinding {
  readonly kind: BaseKind;
  /** The operations that show it, the judged one first. */
  readonly witnesses: readonly number[];
  readonly rulesOut: readonly CheckLevel[];
  /** What was seen and what it contradicts, in sentences. */
  readonly because: string;
}

export interface WorkloadResult {
  readonly findings: readonly WorkloadFinding[];
  readonly unknownReasons: readonly string[];
  readonly notes: readonly string[];
}

export interface Workload {
  readonly name: WorkloadName;
  readonly title: string;
  /** The functions it knows. */
  readonly functions: readonly string[];
  /** Its operations are transactions of reads and writes. */
  readonly ofTransactions?: true;
  /** Whether operations, all of functions it knows, can be of no other workload. */
  fits(operations: readonly PlainOperation[]): boolean;
  check(history: WorkloadHistory, options: WorkloadOptions): WorkloadResult;
}

/** Findings of one kind that are reported; the rest is counted in a note. */
const mostPerKind = 20;

/** Collects what a checker finds. */
export class Collected {
  readonly #findings: WorkloadFinding[] = [];
  readonly #counts = new Map<BaseKind, number>();
  readonly unknownReasons: string[] = [];
  readonly notes: string[] = [];

  add(finding: WorkloadFinding): void {
    const count = (this.#counts.get(finding.kind) ?? 0) + 1;
    this.#counts.set(finding.kind, count);
    if (count <= mostPerKind) this.#findings.push(finding);
  }

  result(): WorkloadResult {
    const cut = [...this.#counts].filter(([, count]) => count > mostPerKind);
    return {
      findings: this.#findings,
      unknownReasons: this.unknownReasons,
      notes: [
        ...this.notes,
        ...cut.map(([kind, count]) => `${count} times ${kind}; the first ${mostPerKind} are reported`),
      ],
    };
  }
}
