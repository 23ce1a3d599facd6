/** `isolde run FILE`: runs a case by its schedule and draws what happened. */
import { readFile } from 'node:fs/promises';
import type { Command } from 'commander';
import {
  type Permutation,
  parseCaseFile,
  parsePermutations,
  parseScript,
  type ScheduledCase,
} from '../cases/index.js';
import {
  type CheckResult,
  explainOrdered,
  nothingRan,
  type OracleName,
  usualOracle,
} from '../check/index.js';
import { type Contract, describeClaim, type Level } from '../contracts/index.js';
import { errorText, IsoldeError } from '../errors.js';
import { runFree, runScheduled, SessionPool } from '../execute/index.js';
import { type History, type Operation, renderInterleaving, writeWholeHistory } from '../histories/index.js';
import { mostFreeRuns, runAndJudge, vendorContractAt } from '../judge/index.js';
import { contractTitle, nameFinding } from '../report/index.js';
import { type Dialect, showValue } from '../sql/index.js';
import { admit, openTarget, sqlOfCase, type Target } from '../targets/index.js';
import { type CliContext, type ExitCode, exitCodes } from './context.js';
import {
  type AskedOfCase,
  askedOf,
  explainUndecided,
  type JudgedCaseFlags,
  judgedCaseOptions,
  type LimitFlags,
  limitOptions,
  limitsOf,
  positive,
} from './flags.js';
import { otherKind } from './other-kind.js';

interface RunFlags extends JudgedCaseFlags, LimitFlags {
  readonly runs?: string;
  readonly free?: boolean;
  readonly check?: boolean;
  readonly out?: string;
  readonly json?: boolean;
}

export function runCommand(program: Command, context: CliContext, exit: (code: ExitCode) => void): void {
  const command = program
    .command('run')
    .argument(
      '<file>',
      'a script, a *.case.json, a *.spec in all its permutations, or a pasted bug report; - reads standard input',
    )
    .description('run a case by its schedule and draw the interleaving with its results');
  limitOptions(judgedCaseOptions(command, 'the first that can'))
    .option(
      '-n, --runs <count>',
      `run it so often and list each distinct outcome with its count (default: 1; with --check, a case without a schedule: until a run breaks its contract, ${mostFreeRuns} at most)`,
    )
    .option('--free', 'let the sessions run without a schedule, as fast as the database answers')
    .option('--check', 'judge what happened; the exit code says what came of it')
    .option('-o, --out <file>', 'write the (last) history: *.history.jsonl or *.history.jsonl.gz')
    .option('--json', 'print the history as JSON')
    .addHelpText(
      'after',
      '\nExit code: 0 it ran, 3 error, or none of its statements could be run; with --check: 0 it keeps its contract, 1 it does not, 2 undecided.',
    )
    .action(async (file: string, flags: RunFlags) => exit(await run(file, flags, context)));
}

async function run(file: string, flags: RunFlags, context: CliContext): Promise<ExitCode> {
  const target = await openTarget(flags.target ?? context.defaultTarget);
  try {
    const { trust } = askedOf(flags);
    const permutations = flags.free === true ? undefined : await readPermutations(file, target, trust);
    if (permutations === undefined)
      return await runOne(await readAdmitted(file, target, trust), target, flags, context);
    let code: ExitCode = exitCodes.nothingFound;
    for (const { steps, ...read } of permutations) {
      if (context.signal.aborted) return worse(code, exitCodes.undecided);
      if (flags.json !== true && permutations.length > 1)
        context.out(`${code === exitCodes.nothingFound ? '' : '\n'}permutation ${steps.join(' ')}`);
      code = worse(code, await runOne(read, target, flags, context));
    }
    return code;
  } finally {
    await target.close();
  }
}

/** Of two orders of one case: an error, then a finding, then what is open. */
function worse(one: ExitCode, other: ExitCode): ExitCode {
  const ranks: readonly ExitCode[] = [
    exitCodes.nothingFound,
    exitCodes.undecided,
    exitCodes.found,
    exitCodes.error,
  ];
  return ranks.indexOf(one) >= ranks.indexOf(other) ? one : other;
}

async function runOne(
  read: ScheduledCase,
  target: Target,
  flags: RunFlags,
  context: CliContext,
): Promise<ExitCode> {
  const limits = limitsOf(flags);
  const asked = askedOf(flags);
  const scheduled: ScheduledCase = flags.free === true ? { case: read.case } : read;
  const judge = flags.check === true ? judgeOf(scheduled, target, asked) : undefined;
  const times = timesOf(read, flags);
  if (read.schedule === undefined && flags.free !== true)
    context.err(
      `the case has no schedule: its sessions run freely${times.untilBroken ? `, ${times.runs} times at most` : ''}`,
    );
  const done = await runOften({ target, scheduled, level: asked.level, ...times, limits, judge, context });
  const last = done.at(-1);
  if (last === undefined) return exitCodes.undecided;
  if (flags.out !== undefined) await writeWholeHistory(flags.out, last.history);
  if (flags.json === true) context.out(JSON.stringify(last.result ?? last.history));
  else {
    // Of a search for a run that breaks the contract, what came before it is of no interest.
    const histories = times.untilBroken ? [last.history] : done.map(({ history }) => history);
    show(last.history, { all: histories, scheduled: read, numbered: judge !== undefined }, context);
  }
  if (judge !== undefined) return conclude(done, flags, context);
  if (!done.every(({ history }) => nothingRan(history))) return exitCodes.nothingFound;
  context.err('isolde: no statement of the case could be run');
  return exitCodes.error;
}

interface Times {
  readonly runs: number;
  readonly untilBroken: boolean;
}

/** A case without a schedule is judged as every command judges it (`judge/look-at-case.ts`), unless the user counts the runs. */
function timesOf({ schedule }: ScheduledCase, { runs, check, free }: RunFlags): Times {
  const untilBroken = schedule === undefined && check === true && runs === undefined && free !== true;
  return { runs: untilBroken ? mostFreeRuns : positive(runs ?? '1', '--runs'), untilBroken };
}

/** Who judges, and by what. */
interface RunJudge {
  readonly oracle: OracleName;
  readonly contract: Contract;
}

function judgeOf({ case: program }: ScheduledCase, target: Target, asked: AskedOfCase): RunJudge {
  const contract =
    asked.contract ?? vendorContractAt(target, program.level ?? asked.level ?? target.defaultLevel);
  return { oracle: asked.oracle ?? usualOracle(contract).name, contract };
}

interface Done {
  readonly history: History;
  readonly result?: CheckResult;
}

async function runOften(job: {
  readonly target: Target;
  readonly scheduled: ScheduledCase;
  readonly level: Level | undefined;
  readonly runs: number;
  readonly untilBroken: boolean;
  readonly limits: { readonly statementTimeoutMs: number; readonly lockTimeoutMs: number };
  readonly judge: RunJudge | undefined;
  readonly context: CliContext;
}): Promise<Done[]> {
  const { target, scheduled, context, judge } = job;
  const { case: program, schedule } = scheduled;
  const { signal } = context;
  const scratch = await target.createScratch();
  const sessions = new SessionPool(scratch, job.limits);
  const done: Done[] = [];
  try {
    for (let i = 0; i < job.runs && !signal.aborted; i++) {
      const level = job.level === undefined ? {} : { level: job.level };
      const options = { target, sessions, signal, ...level };
      if (judge !== undefined) {
        const result = await runAndJudge(
          { ...scheduled, ...level, ...judge },
          { target, scratch, sessions, signal },
        );
        done.push({ history: result.history, result });
        if (job.untilBroken && result.valid === false) break;
      } else if (schedule === undefined) done.push({ history: await runFree(scratch, program, options) });
      else done.push({ history: await runScheduled(scratch, { case: program, schedule }, options) });
    }
  } finally {
    await sessions.close();
    // A server that died under the run cannot be cleaned up; what ran is still worth showing.
    await scratch.drop().catch((error: unknown) => context.err(`isolde: ${errorText(error)}`));
  }
  return done;
}

/** The verdict over all runs: one finding decides, then one open question. */
function conclude(done: readonly Done[], flags: RunFlags, context: CliContext): ExitCode {
  const results = done.flatMap(({ result }) => result ?? []);
  const broken = results.filter(({ valid }) => valid === false);
  const open = results.filter(({ valid }) => valid === 'unknown');
  if (flags.json !== true) {
    const { target } = done[0]!.history.header;
    for (const finding of broken[0]?.findings ?? []) {
      context.out(`\n${context.colors.bold(nameFinding(finding.kind))} (${finding.kind})`);
      context.out(`${describeClaim({ ...finding, target })}: ${contractTitle(finding)}`);
      for (const line of explainOrdered(finding).split('\n')) context.out(`  ${line}`);
    }
    if (broken.length === 0) explainUndecided(open[0]?.unknownReasons ?? [], context);
    const times = results.length > 1 ? ` in ${broken.length} of ${results.length} runs` : '';
    const { contract } = results[0]!;
    if (broken.length > 0) context.out(`\n${contract}: broken${times}`);
    else context.out(`\n${contract}: ${open.length > 0 ? 'undecided' : 'kept'}`);
  }
  if (broken.length > 0) return exitCodes.found;
  return open.length > 0 ? exitCodes.undecided : exitCodes.nothingFound;
}

interface Shown {
  /** The histories of all runs. */
  readonly all: readonly History[];
  readonly scheduled: ScheduledCase;
  /** Whether operations have their numbers, for findings to refer to. */
  readonly numbered: boolean;
}

function show(last: History, { all, scheduled, numbered }: Shown, context: CliContext): void {
  const { colors } = context;
  const { target, level } = last.header;
  const fault = target?.settings?.fault === undefined ? '' : ` with the fault ${target.settings.fault}`;
  context.out(colors.bold(`${scheduled.case.name} on ${target?.name} ${target?.version}${fault}, ${level}`));
  context.out('');
  const style = { heading: colors.bold, result: colors.cyan, error: colors.red };
  context.out(renderInterleaving(last, { width: context.width, style, numbered }));
  const sent = new Set(last.operations.map(({ statement }) => statement?.join()));
  const leftOut = scheduled.case.sessions.flatMap((session, s) =>
    session.statements.flatMap((sql, p) => (sent.has(`${s},${p}`) ? [] : [`${session.name}: ${sql}`])),
  );
  if (leftOut.length > 0) {
    context.out(`\nnot sent, because the transaction had failed or the session was lost:`);
    for (const line of leftOut) context.out(`  ${line}`);
  }
  if (all.length > 1) {
    const outcomes = distinctOutcomes(all);
    const same = outcomes.find(({ key }) => key === outcomeKey(last))!;
    context.out(`\n${same.count} of ${all.length} runs gave these results`);
    for (const { count, history, key } of outcomes) {
      if (key === same.key) continue;
      context.out(`\n${colors.bold(`${count} of ${all.length} runs:`)}`);
      for (const line of differences(last, history)) context.out(`  ${line}`);
    }
  }
}

interface DistinctOutcome {
  readonly key: string;
  readonly count: number;
  /** The first run that gave it. */
  readonly history: History;
}

/** What several runs gave, each once with how often, the most frequent first. */
export function distinctOutcomes(histories: readonly History[]): DistinctOutcome[] {
  const found = new Map<string, { count: number; readonly history: History }>();
  for (const history of histories) {
    const key = outcomeKey(history);
    const known = found.get(key);
    if (known === undefined) found.set(key, { count: 1, history });
    else known.count++;
  }
  return [...found].map(([key, rest]) => ({ key, ...rest })).sort((a, b) => b.count - a.count);
}

/** The statements that another run answered otherwise, or that only one of the two sent. */
function differences(one: History, other: History): string[] {
  const answers = (history: History) =>
    new Map(history.operations.map((op) => [JSON.stringify(op.statement ?? op.sql), op]));
  const [before, after] = [answers(one), answers(other)];
  return [...new Set([...before.keys(), ...after.keys()])].flatMap((place) => {
    const [was, is] = [before.get(place), after.get(place)];
    const op = (is ?? was)!;
    const shown = is === undefined ? 'not sent' : answerText(is);
    if (was !== undefined && is !== undefined && answerText(was) === shown) return [];
    return [`${other.header.sessions[op.session]}: ${op.sql ?? op.kind} → ${shown}`];
  });
}

function answerText({ error, rows, matched, changed, outcome }: Operation): string {
  if (error !== undefined) return error.class;
  if (rows !== undefined)
    return rows.map((row) => `(${row.map(showValue).join(', ')})`).join(' ') || 'no rows';
  return matched === undefined && changed === undefined ? outcome : `${matched ?? changed} rows`;
}

/** Text that is equal when two runs sent the same statements and got the same answers. */
function outcomeKey(history: History): string {
  const answerOf = (op: Operation) => [
    op.session,
    op.sql,
    op.outcome,
    op.error?.class,
    op.rows,
    op.matched,
    op.changed,
    op.ends,
  ];
  const sorted = history.operations.toSorted((a, b) => a.session - b.session || a.start - b.start);
  return JSON.stringify(sorted.map(answerOf));
}

/** A case from a file that may run on this target, because it can do no harm there or the user vouches for it. */
export async function readAdmitted(file: string, target: Target, trust = false): Promise<ScheduledCase> {
  const scheduled = await readCase(file, target.dialect);
  await admit(target, sqlOfCase(scheduled.case), { trust, source: file });
  return scheduled;
}

/** A case from a file, whichever of our forms it has. */
export async function readCase(file: string, dialect?: Dialect): Promise<ScheduledCase> {
  const text = await textOf(file);
  const other = file === '-' ? undefined : otherKind(file, text);
  if (other !== undefined) throw new IsoldeError('usage', other);
  if (/^\s*\{/.test(text)) return parseCaseFile(text, file);
  return parseScript(text, { file, ...(dialect === undefined ? undefined : { dialect }) });
}

/** Every order of an isolationtester spec; undefined: the file is none. */
async function readPermutations(
  file: string,
  target: Target,
  trust = false,
): Promise<readonly Permutation[] | undefined> {
  // Standard input can be read only once.
  if (file === '-' || !/\.spec$/i.test(file)) return undefined;
  const permutations = parsePermutations(await textOf(file), { file, dialect: target.dialect });
  for (const { case: program } of permutations ?? [])
    await admit(target, sqlOfCase(program), { trust, source: file });
  return permutations;
}

async function textOf(file: string): Promise<string> {
  try {
    return await readFile(file === '-' ? '/dev/stdin' : file, 'utf8');
  } catch (error) {
    const other = otherKind(file, '');
    if (other !== undefined) throw new IsoldeError('usage', other);
    throw new IsoldeError('file-system', `cannot read ${file}: ${errorText(error)}`, { cause: error });
  }
}
