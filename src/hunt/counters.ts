/** What a hunt has done so far, in the numbers people ask for. Plain data: it is kept on disk and shown live. */
import type { History } from '../histories/index.js';

export interface HuntCounters {
  rounds: number;
  /** Rounds whose set-up the database refused, or that were cut by a lost server. */
  roundsNotRun: number;
  transactions: number;
  aborted: number;
  statements: number;
  /** Statements the database refused as wrong or unsupported: the generator's mistakes. */
  invalid: number;
  /** Statements that failed for any reason, conflicts included. */
  failed: number;
  /** Clashes, and rounds in which overlapping transactions wrote and saw rows of one table. */
  conflicts: number;
  /** Rounds in which one waited for another, or was refused because of it. */
  clashes: number;
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
    transactions: 0,
    aborted: 0,
    statements: 0,
    invalid: 0,
    failed: 0,
    conflicts: 0,
    clashes: 0,
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

const conflictClasses: ReadonlySet<string> = new Set(['deadlock', 'serialization', 'lock-timeout', 'busy']);
const invalidClasses: ReadonlySet<string> = new Set(['syntax', 'unsupported', 'other']);

/** Adds what one round did. */
export function countRound(counters: HuntCounters, { operations }: History): void {
  counters.rounds++;
  const transactions = new Set<number>();
  for (const { transaction, outcome, error, ends } of operations) {
    transactions.add(transaction);
    counters.statements++;
    if (ends === 'rollback') counters.aborted++;
    if (outcome !== 'ok') counters.failed++;
    if (error !== undefined && invalidClasses.has(error.class)) counters.invalid++;
  }
  counters.transactions += transactions.size;
  const clash = clashes(operations);
  if (clash) counters.clashes++;
  if (clash || sharedRows(operations)) counters.conflicts++;
}

function clashes(operations: History['operations']): boolean {
  return operations.some(
    ({ blocked, error }) => blocked === true || (error !== undefined && conflictClasses.has(error.class)),
  );
}

interface Touched {
  start: number;
  end: number;
  readonly reads: Set<string>;
  readonly writes: Set<string>;
}

const writeKinds: ReadonlySet<string> = new Set(['insert', 'update', 'delete', 'replace', 'merge']);

/** Overlapping transactions of which one changed rows in a table where the other saw or changed some. */
function sharedRows(operations: History['operations']): boolean {
  const touched = new Map<number, Touched>();
  for (const { transaction, kind, sql, rows, matched, changed, start, end } of operations) {
    const entry = touched.get(transaction) ?? { start, end: start, reads: new Set(), writes: new Set() };
    touched.set(transaction, entry);
    entry.end = Math.max(entry.end, end ?? Number.POSITIVE_INFINITY);
    if (sql === undefined) continue;
    const tables = tablesIn(sql);
    if (writeKinds.has(kind) && (matched ?? changed ?? 0) > 0)
      for (const name of tables) entry.writes.add(name);
    if (kind === 'select' && (rows?.length ?? 0) > 0) for (const name of tables) entry.reads.add(name);
  }
  const all = [...touched.values()];
  return all.some((one, i) =>
    all.some((other, j) => {
      if (i === j || one.start >= other.end || other.start >= one.end) return false;
      return [...one.writes].some((name) => other.reads.has(name) || other.writes.has(name));
    }),
  );
}

/** The tables a statement names, roughly: for a statistic, not for a verdict. */
function tablesIn(sql: string): string[] {
  const names = [...sql.matchAll(/\b(?:FROM|JOIN|INTO|UPDATE)\s+["`]?([A-Za-z_]\w*)/gi)];
  return names.map(([, name]) => name!.toLowerCase());
}
