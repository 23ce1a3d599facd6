/** `isolde reproduce FILE`: how often a finding comes back when its history is replayed in the inferred order. */

import { writeFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { printCaseFile, type ScheduledCase } from '../cases/index.js';
import { findingIdentity } from '../check/index.js';
import { type Contract, contracts, findContract, type Level } from '../contracts/index.js';
import { errorText, IsoldeError } from '../errors.js';
import { runFree, runScheduled, SessionPool } from '../execute/index.js';
import type { History } from '../histories/index.js';
import { contractOf, mechanismJudge } from '../reduce/index.js';
import {
  type Checker,
  type Difference,
  type ReplayMode,
  type Reproduction,
  replayModes,
  reproduce,
} from '../reproduce/index.js';
import { openTarget, type Scratch, type Target } from '../targets/index.js';
import { counted } from '../words.js';
import { type CliContext, type ExitCode, exitCodes } from './context.js';
import { isHistoryFile, readReplayable } from './replayable-history.js';
import { levelOf, readCase } from './run-command.js';

interface ReproduceFlags {
  readonly target?: string;
  readonly runs: string;
  readonly mode: string;
  readonly level?: string;
  readonly contract?: string;
  readonly out?: string;
  readonly json?: boolean;
  readonly statementTimeout: string;
  readonly lockTimeout: string;
}

export function reproduceCommand(
  program: Command,
  context: CliContext,
  exit: (code: ExitCode) => void,
): void {
  program
    .command('reproduce')
    .argument('<file>', 'a history with a finding, or a case (script or *.case.json) that shows one')
    .description('replay a finding in the order inferred from its history and say how often it comes back')
    .option('-t, --target <url>', 'the database (default: ISOLDE_TARGET, or duckdb:)')
    .option('-n, --runs <count>', 'how often to replay', '20')
    .option('-m, --mode <mode>', `${replayModes.join(', ')}: how statements are sent again`, 'batch')
    .option('-l, --level <level>', 'isolation level where the file names none')
    .option('-c, --contract <contract>', 'what is promised (default: the vendor’s contract at that level)')
    .option('-o, --out <file>', 'write the program with its schedule and reasons: *.case.json')
    .option('--json', 'print the result as JSON')
    .option('--statement-timeout <ms>', 'limit for one statement', '10000')
    .option('--lock-timeout <ms>', 'limit for waiting on a lock', '5000')
    .addHelpText('after', '\nExit code: 1 the finding came back, 2 it did not or there is none, 3 error.')
    .action(async (file: string, flags: ReproduceFlags) => exit(await run(file, flags, context)));
}

async function run(file: string, flags: ReproduceFlags, context: CliContext): Promise<ExitCode> {
  const runs = positive(flags.runs, '--runs');
  const mode = modeOf(flags.mode);
  const limits = {
    statementTimeoutMs: positive(flags.statementTimeout, '--statement-timeout'),
    lockTimeoutMs: positive(flags.lockTimeout, '--lock-timeout'),
  };
  const level = flags.level === undefined ? undefined : levelOf(flags.level);
  const contract = flags.contract === undefined ? undefined : contractNamed(flags.contract);
  const target = await openTarget(flags.target ?? context.defaultTarget);
  try {
    // A history is held to the contract of the engine it comes from, which only its file tells.
    let held = contract;
    const checker: Checker = {
      findings: (history) => mechanismJudge(held).findings(history, target),
      identity: findingIdentity,
    };
    const scratch = await target.createScratch();
    const sessions = new SessionPool(scratch, limits);
    try {
      const job: Job = { target, scratch, sessions, level, context, checker };
      const replayable = (await isHistoryFile(file))
        ? await readReplayable(file, target, { contract, level }, context)
        : undefined;
      held = replayable?.contract ?? contract;
      const history = replayable?.history ?? (await runUntilFound(await readCase(file, target.dialect), job));
      if (history === undefined) {
        context.err('isolde: nothing in it breaks its contract; there is no finding to reproduce');
        return exitCodes.undecided;
      }
      const result = await reproduce(scratch, history, held ?? contractOf(history, target), {
        ...{ target, sessions, runs, mode, checker, signal: context.signal },
        ...(level !== undefined && { level }),
        onRun: progress(context, runs),
      });
      context.eraseLines(1);
      if (result === undefined) {
        context.err('isolde: the history keeps its contract; there is no finding to reproduce');
        return exitCodes.undecided;
      }
      if (flags.out !== undefined) await write(flags.out, printCaseFile(result.inferred));
      context.out(
        flags.json === true ? JSON.stringify(jsonOf(result)) : render(result, history, runs, context),
      );
      return result.reproduced > 0 ? exitCodes.found : exitCodes.undecided;
    } finally {
      await sessions.close();
      await scratch.drop().catch((error: unknown) => context.err(`isolde: ${errorText(error)}`));
    }
  } finally {
    await target.close();
  }
}

interface Job {
  readonly target: Target;
  readonly scratch: Scratch;
  readonly sessions: SessionPool;
  readonly level: Level | undefined;
  readonly context: CliContext;
  readonly checker: Checker;
}

/** How often a case without a schedule is run freely before we say that it shows nothing. */
const freeRuns = 20;

/** A run of the case that shows a finding; undefined: none does. */
async function runUntilFound(scheduled: ScheduledCase, job: Job): Promise<History | undefined> {
  const { target, scratch, sessions, level, context, checker } = job;
  const options = { target, sessions, signal: context.signal, ...(level !== undefined && { level }) };
  const tries = scheduled.schedule === undefined ? freeRuns : 1;
  for (let i = 0; i < tries && !context.signal.aborted; i++) {
    const history =
      scheduled.schedule === undefined
        ? await runFree(scratch, scheduled.case, options)
        : await runScheduled(scratch, scheduled, options);
    if (checker.findings(history).length > 0) return history;
  }
  return undefined;
}

function render(result: Reproduction, history: History, asked: number, context: CliContext): string {
  const { colors } = context;
  const { finding, inferred, runs, reproduced, interval, mode, divergences } = result;
  const [low, high] = interval.map((bound) => `${(bound * 100).toFixed(0)} %`);
  const mean = (inferred.statementCount / Math.max(1, inferred.batchCount)).toFixed(1);
  const clause = finding.clause === undefined ? '' : `, against ${finding.clause}`;
  const lines = [
    colors.bold(`${finding.kind}${clause}${finding.contract === undefined ? '' : ` of ${finding.contract}`}`),
    `${history.operations.length} operations in ${history.header.sessions.length} sessions; ${inferred.batchCount} batches, ${mean} statements each on average, ${inferred.largestBatch} at most`,
    ...inferred.notes.map((note) => `note: ${note}`),
    '',
  ];
  if (runs < asked) lines.push(`interrupted after ${runs} of ${counted(asked, 'replay')}`);
  if (runs === 0) return lines.join('\n');
  lines.push(
    `${reproduced} of ${runs} replays (${mode}) show the finding; the true ratio lies between ${low} and ${high} (95 % confidence)`,
  );
  for (const { kind, runs: count } of result.sharper)
    lines.push(`${count} of ${runs} show it as ${kind}: in order, that is wrong with the same write`);
  if (reproduced === 0) lines.push(colors.red('the finding does not reproduce'));
  for (const { kind, runs: count } of result.others)
    lines.push(`${count} of ${runs} replays show another finding: ${kind}`);
  if (result.infeasible !== undefined) lines.push(`the schedule cannot run as it is: ${result.infeasible}`);
  if (divergences.length === 0) lines.push('every operation saw what it saw in the history, in every replay');
  else
    lines.push(
      `${result.identical} of ${runs} replays were identical to the history; the others parted from it first at`,
    );
  for (const { count, first } of divergences.slice(0, 5)) lines.push(divergenceText(count, first));
  return lines.join('\n');
}

function divergenceText(count: number, { operation, session, sql, was, is, why }: Difference): string {
  const times = count === 1 ? 'once' : `${count} times`;
  return `  operation ${operation} (${times})  ${session}: ${sql}\n    was ${was}\n    is  ${is}\n    ${why}`;
}

function jsonOf(result: Reproduction): unknown {
  const { finding, inferred, ...counts } = result;
  const { schedule, case: program, notes, batchCount, largestBatch, statementCount, unexplained } = inferred;
  return {
    format: 'isolde-reproduction/1',
    ...counts,
    finding,
    ...{ batchCount, largestBatch, statementCount, notes, unexplained },
    ...{ case: program, schedule },
  };
}

function progress(context: CliContext, runs: number): (done: number, reproduced: number) => void {
  if (!context.errIsTerminal) return () => undefined;
  return (done, reproduced) => {
    if (done > 1) context.eraseLines(1);
    context.err(`${done} of ${runs} replays, ${reproduced} show the finding`);
  };
}

async function write(file: string, text: string): Promise<void> {
  try {
    await writeFile(file, text);
  } catch (error) {
    throw new IsoldeError('file-system', `cannot write ${file}: ${errorText(error)}`, { cause: error });
  }
}

function modeOf(text: string): ReplayMode {
  const mode = replayModes.find((one) => one === text);
  if (mode !== undefined) return mode;
  throw new IsoldeError('usage', `"${text}" is no way to replay; say ${replayModes.join(', ')}`);
}

function contractNamed(id: string): Contract {
  const contract = findContract(id);
  if (contract !== undefined) return contract;
  const known = contracts.filter(({ mechanism }) => mechanism !== undefined).map((one) => one.id);
  throw new IsoldeError('usage', `there is no contract "${id}"; there are ${known.join(', ')}`);
}

function positive(text: string, flag: string): number {
  const number = Number(text);
  if (Number.isInteger(number) && number > 0) return number;
  throw new IsoldeError('usage', `${flag} takes a whole number above 0, not "${text}"`);
}
