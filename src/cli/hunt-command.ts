/** `isolde hunt [URL]`: from a database to bugs that are ready to be filed, unattended. */

import { readFile } from 'node:fs/promises';
import { type Command, Option } from 'commander';
import type { ScheduledCase } from '../cases/index.js';
import { isServerFailure } from '../check/index.js';
import {
  contracts,
  type FindingLabel,
  findContract,
  findingLabels,
  type Level,
  labelOf,
} from '../contracts/index.js';
import { describeEnvironment } from '../environment.js';
import { errorText, IsoldeError } from '../errors.js';
import { type Profile, parseProfile, profiles } from '../generate/index.js';
import {
  CrashedEngines,
  EngineOpener,
  type FoundTemplates,
  type HuntName,
  type HuntOptions,
  type HuntResult,
  type HuntState,
  HuntStateFile,
  hunt,
  noRoundDecided,
  notesFolder,
  type OpenShelf,
  openShelf,
  readTemplates,
  renderCounters,
  renderUndecided,
  replayLine,
  type Shelved,
  type ShelvedBurst,
  templatesOfStore,
} from '../hunt/index.js';
import { usualChoice } from '../judge/index.js';
import { hideSecrets, publicUrl } from '../secrets.js';
import { isSharedUrl } from '../store/index.js';
import {
  admit,
  defaultTargetUrl,
  inOwnProcess,
  otherVersionUrl,
  sqlOfCase,
  type Target,
} from '../targets/index.js';
import { counted } from '../words.js';
import { type CliContext, type ExitCode, exitCodes, trustCaseHelp } from './context.js';
import { appendText, levelOf, oracleOf, positive, runOracles, timeOf, writeText } from './flags.js';
import { printHuntJunit, printHuntSummary } from './hunt-summary.js';
import { LiveView } from './hunt-view.js';
import { checkIgnorableIn } from './ignorable.js';
import { identifyBy, knownFolder, knownFolderHelp, openAllKnown } from './known-command.js';
import { readCase } from './run-command.js';

interface HuntFlags {
  readonly for?: string;
  readonly rounds?: string;
  readonly bugs?: string;
  readonly level?: readonly string[];
  readonly contract: string;
  readonly profile?: string;
  readonly oracle?: readonly string[];
  readonly bursts?: string;
  readonly template?: readonly string[];
  /** A set by name; false: none. */
  readonly reuse?: string | false;
  readonly seed: string;
  readonly jobs: string;
  readonly runs: string;
  readonly ignore?: readonly string[];
  readonly store: string;
  readonly keepUnconfirmed?: boolean;
  readonly restart?: boolean;
  readonly json?: boolean;
  readonly trustCase?: boolean;
  readonly failOn: FindingLabel;
  readonly known: string;
  readonly onlyNew?: boolean;
  readonly junit?: string;
  readonly summary?: string;
  readonly sibling?: string;
}

const defaultStore = '.isolde';
const contractChoices = ['reported', 'vendor', 'adya', 'ansi'];

const collect = (value: string, all: readonly string[] = []) => [...all, value];

export function huntCommand(program: Command, context: CliContext, exit: (code: ExitCode) => void): void {
  program
    .command('hunt')
    .argument('[url]', 'the database (default: ISOLDE_TARGET, or duckdb:)')
    .description('find isolation bugs: generate, run, check, confirm, reduce, group and report until stopped')
    .option('--for <time>', 'stop after this time: 90s, 10m, 2h')
    .option(
      '--rounds <rounds>',
      'stop after so many rounds; 120.. starts at round 120, 120..127 ends after 127',
    )
    .option('--bugs <count>', 'stop after so many bugs that the store did not have')
    .option(
      '-l, --level <level>',
      'isolation level (may be repeated; default: the database’s default)',
      collect,
    )
    .option(
      '-c, --contract <contract>',
      'what is promised: vendor (the manual), reported (with what was reported beyond it), adya, ansi, or a contract’s id',
      usualChoice,
    )
    .option(
      '-p, --profile <profile>',
      `only this kind of workload: ${profiles.map(({ name }) => name).join(', ')}, or a file`,
    )
    .option('--oracle <name>', `only these judges (may be repeated): ${runOracles.join(', ')}`, collect)
    .option('--bursts <percent>', 'of the time (default 4; 0 with --profile or --oracle): isolde burst')
    .option('--template <file>', 'a case to vary besides the built-in ones (may be repeated)', collect)
    .option(
      '--reuse <set>',
      'vary the stored bugs of this set, as a replay line names it (default: all of the store)',
    )
    .option('--no-reuse', 'do not vary stored bugs')
    .option('-s, --seed <seed>', 'the same seed gives the same rounds', '1')
    .option('-j, --jobs <count>', 'rounds that run at once, each in a namespace of its own', '1')
    .option('-n, --runs <count>', 'replays that must all show a finding', '3')
    .option(
      '--sibling <url>',
      'another engine or version: each bug’s case runs there as well, as a second look, and broken bursts as a control (default: another version that is on this machine, for the first bug of each kind; none: nowhere)',
    )
    .option('--ignore <bug>', 'a known bug, by id or signature (may be repeated)', collect)
    .option('--store <place>', 'where bugs are kept: a folder, or the postgres://… of several', defaultStore)
    .option('--keep-unconfirmed', 'keep the histories of findings that did not reproduce, for study')
    .option('--restart', 'start at round 0 again instead of going on behind the last one')
    .option('--known <folder>', knownFolderHelp, knownFolder)
    .option('--only-new', 'exit code 1 only for bugs that are neither known nor in the store yet')
    .option('--trust-case', trustCaseHelp)
    .addOption(
      new Option(
        '--fail-on <label>',
        'the weakest claim that gives exit code 1: a bug that breaks the manual, one that was reported where the manual leaves room, or theory only',
      )
        .choices([...findingLabels])
        .default(findingLabels[0]),
    )
    .option('--json', 'print the result as JSON')
    .option('--junit <file>', 'write the outcome as JUnit XML')
    .option('--summary <file>', 'add a summary in Markdown to the file')
    .addHelpText(
      'after',
      '\nExit code: 0 nothing found that --fail-on asks for, 1 found, 2 nothing found and no round could be judged to the end, 3 error. Ctrl-C stops and keeps what was found.',
    )
    .action(async (url: string | undefined, flags: HuntFlags) =>
      exit(await runHunt(url ?? context.defaultTarget, flags, context)),
    );
}

/** What the flags say, read before anything is opened. */
interface HuntPlan {
  readonly levels: readonly Level[] | undefined;
  readonly oracles: HuntOptions['oracles'];
  readonly profile: Profile | string | undefined;
  readonly templates: readonly ScheduledCase[];
  readonly rounds: ReturnType<typeof roundsOf> | undefined;
  readonly limits: Pick<HuntOptions, 'jobs' | 'confirmRuns' | 'forMs' | 'bugs' | 'bursts'>;
}

async function planOf(flags: HuntFlags): Promise<HuntPlan> {
  checkContract(flags.contract);
  const forMs = flags.for === undefined ? undefined : timeOf(flags.for, '--for');
  const bugs = flags.bugs === undefined ? undefined : positive(flags.bugs, '--bugs');
  return {
    levels: flags.level?.map(levelOf),
    oracles: flags.oracle?.map(oracleOf),
    profile: flags.profile === undefined ? undefined : await profileOf(flags.profile),
    templates: await Promise.all((flags.template ?? []).map((file) => readCase(file))),
    rounds: flags.rounds === undefined ? undefined : roundsOf(flags.rounds),
    limits: {
      jobs: positive(flags.jobs, '--jobs'),
      confirmRuns: positive(flags.runs, '--runs'),
      ...(forMs !== undefined && { forMs }),
      ...(bugs !== undefined && { bugs }),
      ...(flags.bursts !== undefined && { bursts: { share: percentOf(flags.bursts) } }),
    },
  };
}

async function runHunt(url: string | undefined, flags: HuntFlags, context: CliContext): Promise<ExitCode> {
  const plan = await planOf(flags);
  if (flags.ignore !== undefined) await checkIgnorableIn(flags.store, flags.ignore, context);
  const crashed = new CrashedEngines(notesFolder(flags.store));
  const shelf = await openShelf(flags.store, {
    ignore: flags.ignore ?? [],
    keepUnconfirmed: flags.keepUnconfirmed === true,
  });
  try {
    return await huntInto(shelf, crashed, { url, flags, context, plan });
  } finally {
    crashed.end();
    await shelf.close();
  }
}

interface HuntCommand {
  readonly url: string | undefined;
  readonly flags: HuntFlags;
  readonly context: CliContext;
  readonly plan: HuntPlan;
}

async function huntInto(shelf: OpenShelf, crashed: CrashedEngines, command: HuntCommand): Promise<ExitCode> {
  const { url, flags, context, plan } = command;
  const { levels, oracles, profile, templates, rounds: asked } = plan;
  const state = new HuntStateFile(notesFolder(flags.store), nameOf(url, flags, levels));
  const before = flags.restart === true ? undefined : await state.read();
  const from = asked?.from ?? before?.finished ?? 0;
  const to = asked?.from === undefined && asked?.to !== undefined ? from + asked.to : asked?.to;
  if (asked?.from === undefined && from > 0) {
    context.err(
      `going on at round ${from}, behind the last hunt with seed ${flags.seed} (--restart starts anew)`,
    );
  }
  const reused = await reusedTemplates(flags, asked?.from !== undefined, context.err);
  const view = new LiveView(context, flags.json === true, (event) => {
    if (asked?.from !== undefined) return;
    // The folder may fill up or vanish under a long hunt; bugs then fail loudly, this counter need not.
    state.write(stateAfter(before, event)).catch(() => undefined);
  });
  const opener = new EngineOpener(url, crashed, context.err);
  const siblings = siblingsOf(url, flags.sibling, crashed, context.err);
  const result = await hunt({
    open: () => openFor(opener, templates, flags),
    ...{ shelf, from, templates, seed: flags.seed, contract: flags.contract, ...plan.limits },
    signal: context.signal,
    replayLine: replayOf(url, flags, levels, reused?.hash),
    environment: describeEnvironment(),
    onEvent: (event) => view.show(event),
    identify: identifyBy(await openAllKnown(flags.known, context), flags.trustCase === true),
    ...siblings((opener) => openFor(opener, templates, flags)),
    ...(reused !== undefined && { found: reused.templates }),
    ...(to !== undefined && { to }),
    ...(levels !== undefined && { levels }),
    ...(profile !== undefined && { profile }),
    ...(oracles !== undefined && { oracles }),
  });
  if (asked?.from === undefined) await state.write(stateAfter(before, result));
  if (result.bugs.some(({ bug }) => isServerFailure(bug.finding))) await opener.hasCrashed();
  finish(result, flags, context, view);
  await summarise(result, url, flags);
  return codeOf(result, flags);
}

/** The sibling that was named; else another version that is here, in a process of its own: what is old may crash. */
function siblingsOf(
  url: string | undefined,
  named: string | undefined,
  crashed: CrashedEngines,
  say: (line: string) => void,
): (
  open: (opener: EngineOpener) => Promise<Target>,
) => Pick<HuntOptions, 'openSibling' | 'openUsualSibling'> {
  if (named === 'none') return () => ({});
  if (named !== undefined) {
    const opener = new EngineOpener(named, crashed, say);
    return (open) => ({ openSibling: () => open(opener) });
  }
  return (open) => ({
    openUsualSibling: async ({ version }) => {
      const other = await otherVersionUrl(url, version);
      if (other === undefined) return undefined;
      return open(new EngineOpener(inOwnProcess(other) ?? other, crashed, say));
    },
  });
}

function nameOf(
  url: string | undefined,
  { contract, profile = '', oracle = [], seed }: HuntFlags,
  levels: readonly Level[] = [],
): HuntName {
  return {
    target: hideSecrets(url ?? defaultTargetUrl),
    levels: levels.join(','),
    contract,
    profile,
    oracles: oracle.join(','),
    seed,
  };
}

/** Whether a bug is one that the exit code speaks of. */
function counts({ bug, isNew }: Shelved, { failOn, onlyNew }: HuntFlags): boolean {
  if (findingLabels.indexOf(labelOf(bug)) > findingLabels.indexOf(failOn)) return false;
  return onlyNew !== true || (isNew && bug.known?.verdict !== 'duplicate');
}

/** The same for a broken burst. */
function countsBurst({ finding, isNew }: ShelvedBurst, { failOn, onlyNew }: HuntFlags): boolean {
  if (findingLabels.indexOf(labelOf(finding)) > findingLabels.indexOf(failOn)) return false;
  return onlyNew !== true || isNew;
}

function codeOf({ bugs, bursts, counters }: HuntResult, flags: HuntFlags): ExitCode {
  const found = bugs.some((each) => counts(each, flags)) || bursts.some((each) => countsBurst(each, flags));
  if (found) return exitCodes.found;
  return bugs.length + bursts.length === 0 && noRoundDecided(counters)
    ? exitCodes.undecided
    : exitCodes.nothingFound;
}

async function summarise(result: HuntResult, url: string | undefined, flags: HuntFlags): Promise<void> {
  const target = hideSecrets(url ?? defaultTargetUrl);
  const summarised = {
    ...{ result, target },
    counts: (shelved: Shelved) => counts(shelved, flags),
    countsBurst: (shelved: ShelvedBurst) => countsBurst(shelved, flags),
  };
  if (flags.junit !== undefined) await writeText(flags.junit, printHuntJunit(summarised));
  if (flags.summary !== undefined) await appendText(flags.summary, printHuntSummary(summarised));
}

/** How far all hunts of this name came together. */
function stateAfter(
  before: HuntState | undefined,
  { finished, counters }: Pick<HuntResult, 'finished' | 'counters'>,
): Pick<HuntState, 'finished' | 'seconds' | 'raw'> {
  const { seconds = 0, raw = 0 } = before ?? {};
  return { finished, seconds: seconds + counters.seconds, raw: raw + counters.raw };
}

/** Templates are SQL from files, whatever is made of them. */
async function openFor(
  opener: EngineOpener,
  templates: readonly ScheduledCase[],
  flags: HuntFlags,
): Promise<Target> {
  const target = await opener.open();
  try {
    for (const { case: program } of templates) {
      await admit(target, sqlOfCase(program), { trust: flags.trustCase === true, source: program.name });
    }
    return target;
  } catch (error) {
    await target.close();
    throw error;
  }
}

/**
 * The stored bugs to vary. Rounds asked for by number are rounds of an earlier hunt: they are the same only with the
 * set that hunt used, which its replay line names, or with none.
 */
async function reusedTemplates(
  { reuse, store, profile }: HuntFlags,
  again: boolean,
  err: (text: string) => void,
): Promise<FoundTemplates | undefined> {
  if (typeof reuse === 'string') return readTemplates(store, reuse);
  return reuse === false || again || profile !== undefined
    ? undefined
    : templatesOfStore(store, (why) => err(`isolde: ${why}`));
}

/** Before a database is opened: a slip of the pen must not start a server. */
export function checkContract(choice: string): void {
  if (contractChoices.includes(choice) || findContract(choice) !== undefined) return;
  const known = contracts.map(({ id }) => id).join(', ');
  throw new IsoldeError(
    'usage',
    `no contract is called "${choice}"; there are ${contractChoices.join(', ')}, ${known}`,
  );
}

function finish(result: HuntResult, flags: HuntFlags, context: CliContext, view: LiveView): void {
  view.erase();
  const { counters, bugs, bursts, finished, stopped, levels } = result;
  if (flags.json === true) {
    const listed = bugs.map(({ bug, isNew, files }) => {
      const { id, title, signature, contract, clause, reproduced, replay } = bug;
      const { secondLook = [], notIsolation = false, known } = bug;
      const facts = { id, title, signature, contract, clause, reproduced, replay, known };
      return { ...facts, label: labelOf(bug), isNew, secondLook, notIsolation, files };
    });
    const target = { name: result.target.name, version: result.target.version };
    context.out(JSON.stringify({ target, levels, stopped, finished, counters, bugs: listed, bursts }));
    return;
  }
  context.err(renderCounters(counters, bugs.length + bursts.length));
  for (const line of renderUndecided(counters)) context.err(line);
  if (bugs.length + bursts.length === 0)
    context.out(
      noRoundDecided(counters) ? 'nothing found, and no round could be judged to the end' : 'nothing found',
    );
  const place = isSharedUrl(flags.store) ? publicUrl(flags.store) : `${flags.store}/bugs`;
  if (bugs.length > 0) context.out(`${counted(bugs.length, 'bug')} in ${place}`);
  if (bursts.length > 0) context.out(`${counted(bursts.length, 'broken burst')} in ${flags.store}/bursts`);
}

function replayOf(
  url: string | undefined,
  flags: HuntFlags,
  levels: readonly Level[] | undefined,
  reused: string | undefined,
): (round: number) => string {
  const store = flags.store === defaultStore ? undefined : flags.store;
  return replayLine({
    ...{ target: url, levels, reused, store, contract: flags.contract, profile: flags.profile },
    ...{ oracles: flags.oracle, templates: flags.template, seed: flags.seed },
  });
}

async function profileOf(name: string): Promise<Profile | string> {
  if (profiles.some((profile) => profile.name === name)) return name;
  let text: string;
  try {
    text = await readFile(name, 'utf8');
  } catch (error) {
    const known = profiles.map((profile) => profile.name).join(', ');
    throw new IsoldeError(
      'usage',
      `"${name}" is no profile (${known}) and cannot be read as a file: ${errorText(error)}`,
    );
  }
  return parseProfile(text, name);
}

function percentOf(text: string): number {
  const percent = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
  if (percent <= 100) return percent / 100;
  throw new IsoldeError('usage', `--bursts takes a number from 0 to 100, not "${text}"`);
}

/** `500`: so many; `120..`: from there; `120..127`: both ends. */
export function roundsOf(text: string): { readonly from?: number; readonly to?: number } {
  const range = /^(\d+)\.\.(\d*)$/.exec(text);
  if (range !== null) {
    const from = Number(range[1]);
    if (range[2] === '') return { from };
    const to = Number(range[2]) + 1;
    if (to > from) return { from, to };
  } else if (/^[1-9]\d*$/.test(text)) return { to: Number(text) };
  throw new IsoldeError('usage', `--rounds takes a number (500), 120.. or 120..127, not "${text}"`);
}
