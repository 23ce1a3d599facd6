/** What hunts of releases gave, as data that runs add to and as the tables of `docs/stages/hunt-releases.md`. */
import { describeLabel, labelOf } from '../contracts/index.js';
import { counted } from '../words.js';

/** A hunt that is made: one row of the table. */
export interface ReleaseHunt {
  /** The table it belongs to. */
  readonly group: string;
  readonly url: string;
  /** Default: the engine's. */
  readonly level?: string;
  readonly profile?: string;
}

/** What `isolde hunt --json` prints, as far as the tables need it. */
export interface HuntOutput {
  readonly target: { readonly name: string; readonly version: string };
  readonly levels: readonly string[];
  readonly counters: {
    readonly rounds: number;
    readonly roundsNotRun: number;
    readonly transactions: number;
    readonly raw: number;
    readonly confirmed: number;
    readonly unconfirmed: number;
    readonly seconds: number;
  };
  readonly bugs: readonly {
    readonly title: string;
    readonly signature: string;
    readonly contract?: string;
    readonly clause: string;
    readonly notIsolation: boolean;
    readonly known?: { readonly verdict: string; readonly reports: readonly { readonly name: string }[] };
    readonly secondLook: readonly { readonly by: string; readonly says: string; readonly note: string }[];
  }[];
  /** Absent in results that are older than this. */
  readonly bursts?: readonly BrokenBurst[];
}

/** A burst that broke a fact: in how many runs, and in how many of one session alone. */
export interface BrokenBurst {
  readonly id: string;
  readonly program: string;
  readonly form: string;
  readonly fact: string;
  readonly verdict: string;
  readonly rate: BurstRuns;
  readonly serial: BurstRuns;
}

interface BurstRuns {
  readonly runs: number;
  readonly broken: number;
}

export interface ReleaseResult extends ReleaseHunt, HuntOutput {
  readonly seed: string;
  readonly minutes: number;
  /** The day of the hunt, ISO 8601. */
  readonly date: string;
  /** The code that hunted. */
  readonly commit: string;
}

/** Two hunts with the same key are the same row; the later one counts. */
export function keyOf({ url, level = '', profile = '' }: ReleaseHunt): string {
  return `${url} ${level} ${profile}`;
}

/** Whether a hunt has been made with this seed and length. */
export function isSameHunt(
  made: ReleaseResult,
  asked: Pick<ReleaseResult, keyof ReleaseHunt | 'seed' | 'minutes'>,
): boolean {
  return keyOf(made) === keyOf(asked) && made.seed === asked.seed && made.minutes === asked.minutes;
}

export function parseResults(text: string): readonly ReleaseResult[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as ReleaseResult);
}

/** The results with one more, in the order of the list of hunts. */
export function withResult(
  results: readonly ReleaseResult[],
  added: ReleaseResult,
  order: readonly ReleaseHunt[],
): readonly ReleaseResult[] {
  const places = new Map(order.map((hunt, place) => [keyOf(hunt), place]));
  const placeOf = (each: ReleaseHunt) => places.get(keyOf(each)) ?? order.length;
  return [...results.filter((each) => keyOf(each) !== keyOf(added)), added].sort(
    (a, b) => placeOf(a) - placeOf(b),
  );
}

/** All tables, one after another: for each group the hunts, then the bugs they found. */
export function renderResults(results: readonly ReleaseResult[]): string {
  const groups = [...new Set(results.map(({ group }) => group))];
  return groups.map((group) => renderGroup(results.filter((each) => each.group === group))).join('\n\n');
}

const huntColumns = [
  ...['hunt', 'version', 'level', 'minutes, seed, day, commit', 'rounds', 'a minute', 'not run'],
  ...['raw findings', 'confirmed', 'unconfirmed', 'bugs after grouping', 'of these not isolation'],
  'broken bursts',
];
const bugColumns = ['bug', 'hunt', 'signature', 'claim', 'known as', 'second look'];

function renderGroup(results: readonly ReleaseResult[]): string {
  const bugs = results.flatMap((result) => [
    ...result.bugs.map((bug) => bugRow(result, bug)),
    ...(result.bursts ?? []).map((burst) => burstRow(result, burst)),
  ]);
  const tables = [table(huntColumns, results.map(huntRow))];
  if (bugs.length > 0) tables.push(table(bugColumns, bugs));
  return [`## ${results[0]!.group}`, ...tables].join('\n\n');
}

function huntRow(result: ReleaseResult): string[] {
  const { counters, bugs, bursts, target, levels, minutes, seed, date, commit } = result;
  const { rounds, roundsNotRun, raw, confirmed, unconfirmed, seconds } = counters;
  return [
    huntName(result),
    `${target.name} ${target.version}`,
    levels.join(', '),
    `${minutes}, ${seed}, ${date}, ${commit}`,
    ...[rounds, (rounds / seconds) * 60, roundsNotRun, raw, confirmed, unconfirmed].map((n) => n.toFixed(0)),
    String(bugs.length),
    String(bugs.filter(({ notIsolation }) => notIsolation).length),
    bursts === undefined ? 'not kept' : String(bursts.length),
  ];
}

function huntName({ url, profile }: ReleaseHunt): string {
  return `\`${url}\`${profile === undefined ? '' : ` \`--profile ${profile}\``}`;
}

function bugRow(result: ReleaseResult, bug: HuntOutput['bugs'][number]): string[] {
  const { title, signature, known, secondLook, notIsolation } = bug;
  const names = known?.reports.map(({ name }) => name).join(', ') ?? '';
  return [
    title,
    `${huntName(result)}, ${result.levels.join(', ')}`,
    signature.slice(0, 12),
    notIsolation ? 'not isolation' : describeLabel(labelOf(bug)),
    known === undefined
      ? 'not asked'
      : known.verdict === 'undecided'
        ? `perhaps ${names}`
        : names || 'not known',
    secondLook.map(({ by, says, note }) => `${by}: ${says}, ${note}`).join('; '),
  ];
}

function burstRow(result: ReleaseResult, burst: BrokenBurst): string[] {
  const { id, program, form, fact, verdict, rate, serial } = burst;
  return [
    `burst \`${program}\` (${form}): not so that ${fact}`,
    `${huntName(result)}, ${result.levels.join(', ')}`,
    id.slice(0, 12),
    verdict === 'not isolation' ? verdict : 'breaks the manual',
    'not asked',
    `${rate.broken} of ${counted(rate.runs, 'burst')}, one session alone ${serial.broken} of ${serial.runs}`,
  ];
}

function table(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`;
  return [line(columns), line(columns.map(() => '---')), ...rows.map(line)].join('\n');
}

export function summarise({ counters, bugs }: HuntOutput): string {
  const { rounds, raw, confirmed, unconfirmed } = counters;
  return `${counted(rounds, 'round')}, ${raw} raw, ${confirmed} confirmed, ${unconfirmed} not, ${counted(bugs.length, 'bug')}`;
}
