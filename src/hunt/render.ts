/** A hunt for people: the lines that are drawn over while it runs, and what each bug says when it is found. */
import { countStatements } from '../cases/index.js';
import { findOracle } from '../check/index.js';
import { describeClaim, type FindingLabel, findContract, labelOf, reportsOf } from '../contracts/index.js';
import { contractTitle, knownLine } from '../report/index.js';
import type { HuntCounters } from './counters.js';
import type { Shelved } from './hunt-options.js';
import type { Round } from './round.js';

/** Two lines: what was done and how fast, what was found. */
export function renderCounters(counters: HuntCounters, distinct: number): string {
  const { rounds, seconds, transactions, statements, aborted, failed, conflicts, firstBugSeconds } = counters;
  const perSecond = (count: number) => `${Math.round(count / Math.max(seconds, 0.001))}/s`;
  const share = (part: number, whole: number) => `${whole === 0 ? 0 : ((100 * part) / whole).toFixed(1)} %`;
  const done = [
    `${rounds} rounds in ${duration(seconds)} (${Math.round((rounds * 60) / Math.max(seconds, 0.001))}/min)`,
    `${perSecond(transactions)} transactions`,
    `${perSecond(statements)} statements`,
    `${share(aborted, transactions)} aborted`,
    `${share(failed, statements)} failed`,
    `conflicts on rows in ${share(conflicts, rounds)} of rounds`,
    ...(counters.undecided === 0 ? [] : [`${share(counters.undecided, rounds)} of rounds undecided`]),
  ];
  const found = [
    `${counters.raw} raw`,
    `${counters.confirmed} confirmed`,
    `${counters.unconfirmed} unconfirmed`,
    `${counters.reduced} reduced`,
    `${distinct} distinct`,
    ...(counters.ignored === 0 ? [] : [`${counters.ignored} ignored`]),
  ];
  const first = firstBugSeconds === null ? '' : `; first after ${duration(firstBugSeconds)}`;
  return `${done.join(', ')}\nfindings: ${found.join(', ')}${first}`;
}

/** How parts of it look on a terminal; each leaves the text as it is where there are no colours. */
export interface HuntStyle {
  readonly title: (text: string) => string;
  readonly claim: (text: string, label: FindingLabel) => string;
  readonly known: (text: string) => string;
  readonly quiet: (text: string) => string;
}

const noStyle: HuntStyle = { title: String, claim: String, known: String, quiet: String };

/** What is printed when a bug is found. */
export function renderBug(
  { bug, isNew, files }: Shelved,
  round: Round,
  seconds: number,
  style: HuntStyle = noStyle,
): string {
  const { shown, runs } = bug.reproduced;
  const label = labelOf(bug);
  const size = `${countStatements(bug.case)} statements of ${bug.raw?.operations ?? '?'}`;
  return [
    `${isNew ? 'bug' : 'bug of the store'} ${bug.id} after ${duration(seconds)}`,
    `  ${style.title(bug.title)}`,
    `  ${style.claim(describeClaim(bug), label)}: ${contractTitle(bug)}`,
    ...reportedAs(bug),
    ...(bug.known === undefined ? [] : [`  ${style.known(knownLine(bug.known))}`]),
    ...(bug.secondLook ?? []).map(({ by, says, note }) => style.quiet(`  ${by}: ${says}, ${note}`)),
    style.quiet(
      `  ${size}, shown in ${shown} of ${runs} replays; round ${round.number}, ${round.source}, ${findOracle(round.oracle)?.needs.run ?? round.oracle}`,
    ),
    ...files.map((file) => `  ${file}`),
    `  again: ${bug.replay}`,
  ].join('\n');
}

/** A clause that no manual has says who does. */
function reportedAs({ contract: id, clause }: Shelved['bug']): string[] {
  const contract = id === undefined ? undefined : findContract(id);
  const reports = contract === undefined ? [] : reportsOf(contract, clause);
  const [first] = reports;
  if (first === undefined) return [];
  const more = reports.length === 1 ? '' : ` and ${reports.length - 1} more`;
  return [`  the manual allows this (${contract?.extends}); reported as ${first.title}${more}`];
}

export function duration(seconds: number): string {
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  return `${Math.floor(whole / 60)} min ${String(whole % 60).padStart(2, '0')} s`;
}
