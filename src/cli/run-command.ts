/** `isolde run FILE`: runs a case by its schedule and draws what happened. */
import { readFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { parseCaseFile, parseScript, type ScheduledCase, serialOrder } from '../cases/index.js';
import { type CheckResult, explainOrdered, type OracleName, oraclesFor } from '../check/index.js';
import type { Contract, Level } from '../contracts/index.js';
import { errorText, IsoldeError } from '../errors.js';
import { runFree, runScheduled, SessionPool } from '../execute/index.js';
import { type History, type Operation, renderInterleaving, writeWholeHistory } from '../histories/index.js';
import { runAndJudge, vendorContractAt } from '../judge/index.js';
import { type Dialect, showValue } from '../sql/index.js';
import { admit, openTarget, sqlOfCase, type Target } from '../targets/index.js';
import { type CliContext, type ExitCode, exitCodes, trustCaseHelp } from './context.js';
import { contractNamed, explainUndecided, levelOf, oracleOf, positive, runOracles } from './flags.js';

interface RunFlags {
  readonly target?: string;
  readonly level?: string;
  readonly runs: string;
  readonly free?: boolean;
  readonly check?: boolean;
  readonly contract?: string;
  readonly oracle?: string;
  readonly out?: string;
  readonly json?: boolean;
  readonly trustCase?: boolean;
  readonly statementTimeout: string;
  readonly lockTimeout: string;
}

export function runCommand(program: Command, context: CliContext, exit: (code: ExitCode) => void): void {
  program
    .command('run')
    .argument('<file>', 'a script, a *.case.json, or a pasted bug report; - reads standard input')
    .description('run a case by its schedule and draw the interleaving with its results')
    .option('-t, --target <url>', 'the database (default: ISOLDE_TARGET, or duckdb:)')
    .option('-l, --level <level>', 'isolation level where the case names none')
    .option('-n, --runs <count>', 'run it so often and list each distinct outcome with its count', '1')
    .option('--free', 'let the sessions run without a schedule, as fast as the database answers')
    .option('--check', 'judge what happened; the exit code says what came of it')
    .option('-c, --contract <contract>', 'what is promised (default: the vendor’s contract at that level)')
    .option('--oracle <name>', `who judges: ${runOracles.join(', ')} (default: the first that can)`)
    .option('-o, --out <file>', 'write the (last) history: *.history.jsonl or *.history.jsonl.gz')
    .option('--json', 'print the history as JSON')
    .option('--trust-case', trustCaseHelp)
    .option('--statement-timeout <ms>', 'limit for one statement', '10000')
    .option('--lock-timeout <ms>', 'limit for waiting on a lock', '5000')
    .addHelpText(
      'after',
      '\nExit code: 0 it ran, 3 error; with --check: 0 it keeps its contract, 1 it does not, 2 undecided.',
    )
    .action(async (file: string, flags: RunFlags) => exit(await run(file, flags, context)));
}

async function run(file: string, flags: RunFlags, context: CliContext): Promise<ExitCode> {
  const runs = positive(flags.runs, '--runs');
  const limits = {
    statementTimeoutMs: positive(flags.statementTimeout, '--statement-timeout'),
    lockTimeoutMs: positive(flags.lockTimeout, '--lock-timeout'),
  };
  const level = flags.level === undefined ? undefined : levelOf(flags.level);
  const target = await openTarget(flags.target ?? context.defaultTarget);
  try {
    const read = await readAdmitted(file, target, flags.trustCase);
    const scheduled: ScheduledCase = flags.free === true ? { case: read.case } : inOrder(read);
    const judge = flags.check === true ? judgeOf(scheduled, target, flags) : undefined;
    const done = await runOften({ target, scheduled, level, runs, limits, judge, context });
    const last = done.at(-1);
    if (last === undefined) return exitCodes.undecided;
    if (flags.out !== undefined) await writeWholeHistory(flags.out, last.history);
    if (flags.json === true) context.out(JSON.stringify(last.result ?? last.history));
    else {
      const histories = done.map(({ history }) => history);
      show(last.history, { all: histories, scheduled: read, numbered: judge !== undefined }, context);
    }
    return judge === undefined ? exitCodes.nothingFound : conclude(done, flags, context);
  } finally {
    await target.close();
  }
}

/** A script runs in the order of its lines; a case without an order, session by session. */
function inOrder({ case: program, schedule }: ScheduledCase): ScheduledCase {
  return { case: program, schedule: schedule ?? serialOrder(program) };
}

/** Who judges, and by what. */
interface RunJudge {
  readonly oracle: OracleName;
  readonly contract: Contract;
}

function judgeOf({ case: program }: ScheduledCase, target: Target, flags: RunFlags): RunJudge {
  const level = program.level ?? (flags.level === undefined ? target.defaultLevel : levelOf(flags.level));
  const contract =
    flags.contract === undefined ? vendorContractAt(target, level) : contractNamed(flags.contract);
  const oracle = flags.oracle === undefined ? oraclesFor(contract)[0]!.name : oracleOf(flags.oracle);
  return { oracle, contract };
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
    for (const finding of broken[0]?.findings ?? []) {
      const clause = finding.clause === undefined ? '' : ` (${finding.clause})`;
      context.out(
        `\n${context.colors.bold(finding.kind)} breaks ${finding.contract ?? 'its contract'}${clause}`,
      );
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
  const leftOut = scheduled.case.sessions.flatMap((session, s) =>
    session.statements.flatMap((sql, p) =>
      last.operations.some((op) => op.statement?.[0] === s && op.statement[1] === p)
        ? []
        : [`${session.name}: ${sql}`],
    ),
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
  let text: string;
  try {
    text = await readFile(file === '-' ? '/dev/stdin' : file, 'utf8');
  } catch (error) {
    throw new IsoldeError('file-system', `cannot read ${file}: ${errorText(error)}`, { cause: error });
  }
  if (/^\s*\{/.test(text)) return parseCaseFile(text, file);
  return parseScript(text, { file, ...(dialect === undefined ? undefined : { dialect }) });
}
