/** What a hunt has done so far, in the numbers people ask for. Plain data: it is kept on disk and shown live. */
import { conflictErrors, type History, type Operation } from '../histories/index.js';
import { findRowConflict } from './row-conflict.js';
import type { KnownPrograms } from './row-mirror.js';

export interface UndecidedReason {
  readonly reason: string;
  /** Rounds in which it was given. */
  readonly rounds: number;
}

export interface HuntCounters {
  rounds: number;
  /** Rounds whose set-up the database refused, or that were cut by a lost server. */
  roundsNotRun: number;
  /** Bursts that ran; what they did is not in the other figures. */
  bursts: number;
  transactions: number;
  aborted: number;
  statements: number;
  /** Statements the database refused as wrong or unsupported: the generator's mistakes. */
  invalid: number;
  /** Statements that failed for any reason, conflicts included. */
  failed: number;
  /** Rounds in which two concurrent transactions accessed the same row, one of them writing (`row-conflict.ts`). */
  conflicts: number;
  /** Rounds in which one waited for another, or was refused because of it. */
  clashes: number;
  /** Rounds that show no finding and could not be judged to the end. */
  undecided: number;
  /** Why, the most frequent reason first; bounded (`undecided.ts`). */
  undecidedReasons: readonly UndecidedReason[];
  raw: number;
  /** Raw findings like one that was reduced before. */
  repeats: number;
  confirmed: number;
  unconfirmed: number;
  reduced: number;
  ignored: number;
  reopened: number;
  seconds: number;
  firstBugSeconds: number | null;
}

export function newCounters(): HuntCounters {
  return {
    rounds: 0,
    roundsNotRun: 0,
    bursts: 0,
    transactions: 0,
    aborted: 0,
    statements: 0,
    invalid: 0,
    failed: 0,
    conflicts: 0,
    clashes: 0,
    undecided: 0,
    undecidedReasons: [],
    raw: 0,
    repeats: 0,
    confirmed: 0,
    unconfirmed: 0,
    reduced: 0,
    ignored: 0,
    reopened: 0,
    seconds: 0,
    firstBugSeconds: null,
  };
}

const invalidClasses: ReadonlySet<string> = new Set(['syntax', 'unsupported', 'other']);

/** Adds what one round did. `programs`: what is known of set-ups and statements, kept from round to round. */
export function countRound(counters: HuntCounters, history: History, programs?: KnownPrograms): void {
  const { operations } = history;
  counters.rounds++;
  const transactions = new Set<number>();
  for (const { transaction, kind, outcome, error, ends } of operations) {
    counters.statements++;
    // The ROLLBACK after a transaction that the database has rolled back: some engines call it an error.
    if (kind === 'rollback' && !transactions.has(transaction)) continue;
    transactions.add(transaction);
    if (ends === 'rollback') counters.aborted++;
    if (outcome !== 'ok') counters.failed++;
    if (error !== undefined && invalidClasses.has(error.class)) counters.invalid++;
  }
  counters.transactions += transactions.size;
  if (operations.some(isClash)) counters.clashes++;
  if (findRowConflict(history, programs) !== undefined) counters.conflicts++;
}

function isClash({ blocked, error }: Operation): boolean {
  return blocked === true || (error !== undefined && conflictErrors.has(error.class));
}
