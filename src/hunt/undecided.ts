/**
 * Rounds whose verdict is open, and why: a hunt that finds nothing says little if few rounds could be judged to the end.
 *
 * Reasons name tables, rows and counts, which differ from round to round, and an engine's own words may be among them. So they are told apart by
 * what stays (numbers and quoted texts taken out, at most 120 characters), a round names at most eight, and no more than fifty are kept; what comes
 * after is counted as others.
 */
import type { HuntCounters, UndecidedReason } from './counters.js';

const mostChars = 120;
const mostPerRound = 8;
const mostKept = 50;
const others = 'other reasons';

/** Counts a round that nobody could decide. */
export function countUndecided(counters: HuntCounters, reasons: readonly string[]): void {
  counters.undecided++;
  const given = new Set(reasons.slice(0, 10 * mostPerRound).map(whatStays));
  addReasons(
    counters,
    [...given].slice(0, mostPerRound).map((reason) => ({ reason, rounds: 1 })),
  );
}

/** Adds reasons counted elsewhere: in this round, or by another job of a fleet. */
export function addReasons(counters: HuntCounters, more: readonly UndecidedReason[]): void {
  const sums = new Map(counters.undecidedReasons.map(({ reason, rounds }) => [reason, rounds]));
  for (const { reason, rounds } of more) {
    const short = reason.slice(0, mostChars);
    const name = sums.has(short) || sums.size < mostKept ? short : others;
    sums.set(name, (sums.get(name) ?? 0) + rounds);
  }
  counters.undecidedReasons = [...sums]
    .map(([reason, rounds]) => ({ reason, rounds }))
    .sort((a, b) => b.rounds - a.rounds);
}

function whatStays(reason: string): string {
  return reason
    .slice(0, 4 * mostChars)
    .replace(/^\d+ (\w+?)s? not judged/, '$1s not judged')
    .replace(/"[^"]*"|'[^']*'/g, '…')
    .replace(/\d+/g, 'N')
    .slice(0, mostChars);
}

/** Whether rounds were judged and none of them to the end: then that nothing was found says nothing. */
export function noRoundDecided({ rounds, undecided }: HuntCounters): boolean {
  return rounds > 0 && undecided === rounds;
}

const mostShown = 3;

/** The most frequent reasons, a line each; none where everything was decided. */
export function renderUndecided({ undecided, undecidedReasons }: HuntCounters): readonly string[] {
  return undecidedReasons
    .slice(0, mostShown)
    .map(({ reason, rounds }) => `not decided: ${reason} (${rounds} of ${undecided} undecided rounds)`);
}
