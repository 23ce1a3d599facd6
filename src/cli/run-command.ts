/** `isolde run FILE`: runs a case by its schedule and draws what happened. */
import { readFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { parseCaseFile, parseScript, type ScheduledCase } from '../cases/index.js';
import { type Level, parseLevel } from '../contracts/index.js';
import { errorText, IsoldeError } from '../errors.js';
import { runFree, runScheduled, SessionPool } from '../execute/index.js';
import { type History, type Operation, renderInterleaving, writeWholeHistory } from '../histories/index.js';
import type { Dialect } from '../sql/index.js';
import { openTarget, type Target } from '../targets/index.js';
import { type CliContext, type ExitCode, exitCodes } from './context.js';

interface RunFlags {
  readonly target?: string;
  readonly level?: string;
  readonly runs: string;
  readonly free?: boolean;
  readonly out?: string;
  readonly json?: boolean;
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
    .option('-n, --runs <count>', 'run it so often and say whether the results are the same', '1')
    .option('--free', 'let the sessions run without a schedule, as fast as the database answers')
    .option('-o, --out <file>', 'write the (last) history: *.history.jsonl or *.history.jsonl.gz')
    .option('--json', 'print the history as JSON')
    .option('--statement-timeout <ms>', 'limit for one statement', '10000')
    .option('--lock-timeout <ms>', 'limit for waiting on a lock', '5000')
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
    const scheduled = await readCase(file, target.dialect);
    const histories = await runOften({
      target,
      scheduled,
      level,
      runs,
      limits,
      free: flags.free === true,
      context,
    });
    const last = histories.at(-1);
    if (last === undefined) return exitCodes.undecided;
    if (flags.out !== undefined) await writeWholeHistory(flags.out, last);
    if (flags.json === true) context.out(JSON.stringify(last));
    else show(last, histories, scheduled, context);
    return exitCodes.nothingFound;
  } finally {
    await target.close();
  }
}

async function runOften(job: {
  readonly target: Target;
  readonly scheduled: ScheduledCase;
  readonly level: Level | undefined;
  readonly runs: number;
  readonly limits: { readonly statementTimeoutMs: number; readonly lockTimeoutMs: number };
  readonly free: boolean;
  readonly context: CliContext;
}): Promise<History[]> {
  const { target, scheduled, context } = job;
  const scratch = await target.createScratch();
  const sessions = new SessionPool(scratch, job.limits);
  const histories: History[] = [];
  try {
    for (let i = 0; i < job.runs && !context.signal.aborted; i++) {
      const level = job.level === undefined ? {} : { level: job.level };
      const options = { target, sessions, signal: context.signal, ...level };
      histories.push(
        job.free
          ? await runFree(scratch, scheduled.case, options)
          : await runScheduled(scratch, scheduled, options),
      );
    }
  } finally {
    await sessions.close();
    // A server that died under the run cannot be cleaned up; what ran is still worth showing.
    await scratch.drop().catch((error: unknown) => context.err(`isolde: ${errorText(error)}`));
  }
  return histories;
}

function show(last: History, all: readonly History[], scheduled: ScheduledCase, context: CliContext): void {
  const { colors } = context;
  const { target, level } = last.header;
  const fault = target?.settings?.fault === undefined ? '' : ` with the fault ${target.settings.fault}`;
  context.out(colors.bold(`${scheduled.case.name} on ${target?.name} ${target?.version}${fault}, ${level}`));
  context.out('');
  const style = { heading: colors.bold, result: colors.cyan, error: colors.red };
  context.out(renderInterleaving(last, { width: context.width, style }));
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
    const kinds = new Map<string, number>();
    for (const history of all) kinds.set(outcomeKey(history), (kinds.get(outcomeKey(history)) ?? 0) + 1);
    const same = kinds.get(outcomeKey(last))!;
    context.out(`\n${same} of ${all.length} runs gave these results`);
  }
}

/** Text that is equal when two runs sent the same statements and got the same answers. */
function outcomeKey(history: History): string {
  const told = (op: Operation) => [
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
  return JSON.stringify(sorted.map(told));
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

function positive(text: string, flag: string): number {
  const number = Number(text);
  if (Number.isInteger(number) && number > 0) return number;
  throw new IsoldeError('usage', `${flag} takes a whole number above 0, not "${text}"`);
}

export function levelOf(text: string): Level {
  const level = parseLevel(text);
  if (level !== undefined) return level;
  throw new IsoldeError(
    'usage',
    `"${text}" is no isolation level; say read uncommitted, read committed, repeatable read, snapshot or serializable (RU, RC, RR, SI, SER)`,
  );
}
