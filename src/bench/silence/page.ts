/**
 * The false-alarm runs, one by one, and the page that adds it up.
 *
 * A free run is not the same twice, so a run that reported an alarm is never forgotten: repeating it until it reports none would make any engine
 * look right. The place and seed are run again only by code of another commit and with a word on what was fixed; both runs stay in the file,
 * and the page shows both. An alarm that nothing has fixed counts.
 */
import { IsoldeError } from '../../errors.js';
import { counted } from '../../words.js';
import type { SilenceCounts } from './listen.js';
import type { SilentPlace } from './targets.js';

export interface SilenceRun extends SilentPlace, SilenceCounts {
  readonly seed: string;
  /** The engine that answered. */
  readonly version: string;
  readonly alarms: number;
  /** The kinds of findings that were alarms, with the round of each. */
  readonly raised?: readonly string[];
  /** The code that ran. */
  readonly commit: string;
  /** What was fixed since the run of this place and seed that reported alarms. */
  readonly fixed?: string;
}

export function parseRuns(text: string): readonly SilenceRun[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as SilenceRun);
}

/** The runs with one more. A silent one gives way to a later one of its place and seed; one with alarms stays. */
export function withRun(runs: readonly SilenceRun[], added: SilenceRun): readonly SilenceRun[] {
  const before = latestOf(runs, added);
  if (before !== undefined && before.alarms > 0) {
    if (added.fixed === undefined || added.commit === before.commit)
      throw new IsoldeError('usage', whyNotAgain(before));
    return [...runs, added];
  }
  return [...runs.filter((run) => run !== before), added];
}

/** Why a place with alarms is not run again, and what would allow it. */
export function whyNotAgain(run: SilenceRun): string {
  return `${placeOf(run)}, seed ${run.seed}, reported ${counted(run.alarms, 'alarm')} at ${run.commit}; --fixed TEXT, of a later commit, runs it again`;
}

/** The run that counts for a place and seed. */
export function latestOf(
  runs: readonly SilenceRun[],
  asked: SilentPlace & Pick<SilenceRun, 'seed'>,
): SilenceRun | undefined {
  return runs.findLast(
    ({ url, level, seed }) => url === asked.url && level === asked.level && seed === asked.seed,
  );
}

const placeOf = ({ url, level }: SilentPlace): string => `${url} ${level}`;

const columns = [
  ...['database', 'level', 'seeds', 'transactions', 'rounds', 'statements', 'reads judged', 'not judged'],
  ...['false alarms', 'known bugs met'],
];

/** The table, one row for each place, and the sums. */
export function renderRuns(all: readonly SilenceRun[]): string {
  const runs = all.filter((run) => latestOf(all, run) === run);
  const places = [...new Set(runs.map(placeOf))];
  const rows = places.map((place) => row(runs.filter((run) => placeOf(run) === place)));
  return table(columns, [...rows, totals(runs)]);
}

const alarmColumns = [
  'database',
  'level',
  'seed',
  'at commit',
  'alarms',
  'fixed',
  'run again at',
  'alarms then',
];

/** Every run that reported alarms, with what came of it. */
export function renderAlarmed(runs: readonly SilenceRun[]): string {
  const alarmed = runs.filter(({ alarms }) => alarms > 0);
  if (alarmed.length === 0) return 'No run has reported an alarm.';
  const rows = alarmed.map((run) => {
    const { url, level, seed, commit, alarms, raised = [] } = run;
    const next = latestOf(runs.slice(runs.indexOf(run) + 1), run);
    return [
      ...[
        `\`${url}\``,
        level,
        seed,
        commit,
        raised.length === 0 ? String(alarms) : `${alarms}: ${raised.join(', ')}`,
      ],
      ...(next === undefined
        ? ['**nothing yet**', '', '']
        : [next.fixed ?? '', next.commit, String(next.alarms)]),
    ];
  });
  return table(alarmColumns, rows);
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

function row(runs: readonly SilenceRun[]): readonly string[] {
  const { url, level } = runs[0]!;
  const versions = [...new Set(runs.map(({ version }) => version))].join(', ');
  const seeds = runs.map(({ seed }) => seed).join(', ');
  return [`\`${url}\` (${versions})`, level, seeds, ...sums(runs), knownText(runs)];
}

function totals(runs: readonly SilenceRun[]): readonly string[] {
  return ['all', '', '', ...sums(runs).map((each) => `**${each}**`), ''];
}

function sums(runs: readonly SilenceRun[]): readonly string[] {
  const sum = (of: (run: SilenceRun) => number) => runs.reduce((all, run) => all + of(run), 0);
  return [
    sum(({ transactions }) => transactions),
    sum(({ rounds }) => rounds),
    sum(({ statements }) => statements),
    sum(({ readsJudged }) => readsJudged),
    sum(({ readsSkipped }) => readsSkipped),
    sum(({ alarms }) => alarms),
  ].map((each) => each.toLocaleString('en'));
}

function knownText(runs: readonly SilenceRun[]): string {
  return countsText(addUp(runs.map(({ known }) => known)), '; ');
}

/** How many transactions came from which kind of program. */
export function renderSources(all: readonly SilenceRun[]): string {
  const runs = all.filter((run) => latestOf(all, run) === run);
  return countsText(addUp(runs.map(({ bySource }) => bySource)), ', ');
}

function addUp(all: readonly Readonly<Record<string, number>>[]): ReadonlyMap<string, number> {
  const sum = new Map<string, number>();
  for (const each of all)
    for (const [name, count] of Object.entries(each)) sum.set(name, (sum.get(name) ?? 0) + count);
  return sum;
}

function countsText(counts: ReadonlyMap<string, number>, between: string): string {
  const sorted = [...counts].sort(([, a], [, b]) => b - a);
  return sorted.map(([name, count]) => `${count.toLocaleString('en')} × ${name}`).join(between);
}
