/** `isolde reproduce FILE`: how often a finding comes back when its history is replayed in the inferred order. */
import type { Command } from 'commander';
import { printCaseFile, type ScheduledCase } from '../cases/index.js';
import { check, type Finding, type OracleName } from '../check/index.js';
import type { Contract } from '../contracts/index.js';
import { IsoldeError } from '../errors.js';
import type { History } from '../histories/index.js';
import { type Asked, Database, lookAtCase, type RunRequest } from '../judge/index.js';
import {
  type Difference,
  type InferredOrder,
  namedBefore,
  type ReplayMode,
  type Reproduction,
  replayModes,
  reproduce,
} from '../reproduce/index.js';
import { openTarget } from '../targets/index.js';
import { counted } from '../words.js';
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
  writeText,
} from './flags.js';
import { isHistoryFile, readReplayable } from './replayable-history.js';
import { readAdmitted } from './run-command.js';

interface ReproduceFlags extends JudgedCaseFlags, LimitFlags {
  readonly runs: string;
  readonly mode: string;
  readonly out?: string;
  readonly json?: boolean;
}

export function reproduceCommand(
  program: Command,
  context: CliContext,
  exit: (code: ExitCode) => void,
): void {
  const command = program
    .command('reproduce')
    .argument('<file>', 'a history with a finding, or a case (script or *.case.json) that shows one')
    .description('replay a finding in the order inferred from its history and say how often it comes back');
  limitOptions(judgedCaseOptions(command, 'any that finds something'))
    .option('-n, --runs <count>', 'how often to replay', '20')
    .option('-m, --mode <mode>', `${replayModes.join(', ')}: how statements are sent again`, 'batch')
    .option('-o, --out <file>', 'write the program with its schedule and reasons: *.case.json')
    .option('--json', 'print the result as JSON')
    .addHelpText(
      'after',
      '\nExit code: 0 nothing is wrong, so there is nothing to reproduce; 1 the finding came back; 2 it did not, or there is none and not everything could be judged; 3 error.',
    )
    .action(async (file: string, flags: ReproduceFlags) => exit(await run(file, flags, context)));
}

async function run(file: string, flags: ReproduceFlags, context: CliContext): Promise<ExitCode> {
  const runs = positive(flags.runs, '--runs');
  const mode = modeOf(flags.mode);
  const limits = limitsOf(flags);
  const asked = askedOf(flags);
  const { signal } = context;
  const database = await Database.open({
    open: () => openTarget(flags.target ?? context.defaultTarget),
    limits,
    signal,
  });
  try {
    const subject = await readSubject(file, database, asked, context);
    if ('unknownReasons' in subject) return explainNothing(subject.unknownReasons, context);
    const { history, finding, contract, oracle, order } = subject;
    const result = await reproduce(history, finding, order, {
      ...{ runs, mode, signal },
      observe: (program) => observe(database, program, oracle, { ...asked, contract }),
      onRun: progress(context, runs),
    });
    context.eraseLines(1);
    if (flags.out !== undefined) await writeText(flags.out, printCaseFile(result.inferred));
    context.out(
      flags.json === true ? JSON.stringify(jsonOf(result)) : render(result, history, runs, context),
    );
    return result.reproduced > 0 ? exitCodes.found : exitCodes.undecided;
  } finally {
    await database.close();
  }
}

/** A finding to be reproduced, and who judges whether it was. */
interface Subject {
  readonly history: History;
  readonly finding: Finding;
  readonly contract: Contract;
  readonly oracle: OracleName;
  /** The contract that says how the engine orders things. */
  readonly order: Contract;
}

/** There is none; what could not be judged may hide one. */
interface NoSubject {
  readonly unknownReasons: readonly string[];
}

async function readSubject(
  file: string,
  database: Database,
  asked: AskedOfCase,
  context: CliContext,
): Promise<Subject | NoSubject> {
  const { target } = database;
  if (!(await isHistoryFile(file)))
    return subjectOfCase(await readAdmitted(file, target, asked.trust), database, asked, context.signal);
  const { history, contract } = await readReplayable(file, target, asked, context);
  const { findings, oracle, unknownReasons } = check(history, contract);
  const finding = findings[0];
  return finding === undefined ? { unknownReasons } : { history, finding, contract, oracle, order: contract };
}

/** A run of the case that shows a finding. */
async function subjectOfCase(
  scheduled: ScheduledCase,
  { target, observe }: Database,
  asked: Asked,
  signal: AbortSignal,
): Promise<Subject | NoSubject> {
  const place = { target, signal, observe: (request: RunRequest) => observe(request, 0) };
  const look = await lookAtCase(scheduled, asked, place);
  if (look.kind === 'nothing') return look;
  const { history, findings, contract, oracle, order } = look;
  return { history, finding: findings[0], contract, oracle, order };
}

/** One run of a program; what was cut short shows nothing. */
async function observe(
  database: Database,
  { case: program, schedule }: ScheduledCase,
  oracle: OracleName,
  { contract, level }: Asked,
): Promise<{
  readonly history: History;
  readonly findings: readonly Finding[];
  readonly unknownReasons: readonly string[];
}> {
  const observed = await database.observe(
    {
      case: program,
      oracle,
      ...(schedule !== undefined && { schedule }),
      ...(contract !== undefined && { contract }),
      ...(level !== undefined && { level }),
    },
    0,
  );
  if (observed.kind === 'ran') return observed;
  if (observed.kind === 'bad-setup') throw new IsoldeError('target', observed.message);
  const header = { sessions: program.sessions.map(({ name }) => name) };
  return {
    history: { header, operations: [] },
    findings: [],
    unknownReasons: ['the run was cut short'],
  };
}

function explainNothing(unknownReasons: readonly string[], context: CliContext): ExitCode {
  explainUndecided(unknownReasons, context);
  if (unknownReasons.length === 0) {
    context.err('isolde: nothing in it breaks its contract; there is no finding to reproduce');
    return exitCodes.nothingFound;
  }
  context.err(
    'isolde: nothing was found, though not everything could be judged; there is no finding to reproduce',
  );
  return exitCodes.undecided;
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
      `${result.identical} of ${runs} replays were identical to the history; the others diverged from it first at`,
    );
  for (const { count, first } of divergences.slice(0, 5))
    lines.push(divergenceText(count, first), ...openText(inferred, first));
  return lines.join('\n');
}

function divergenceText(count: number, { operation, session, sql, was, is, why }: Difference): string {
  const times = count === 1 ? 'once' : `${count} times`;
  return `  operation ${operation} (${times})  ${session}: ${sql}\n    was ${was}\n    is  ${is}\n    ${why}`;
}

/** What the inference says of a statement before anything is replayed, for people. */
const openWords = {
  version: 'several versions have the values it read',
  opponent: 'it may have lost to one of several transactions',
  turn: 'others had its rows before it was sent, or while it waited',
  moment: 'it chose its rows while others changed them',
  order: 'only the order of answers tells who came first',
  unexplained: 'no version or lock explains it',
  'left out': 'its transaction overlapped a statement that is not sent again',
} as const;

function openText(inferred: InferredOrder, { operation }: Difference): readonly string[] {
  const open = namedBefore(inferred, operation).map((what) => openWords[what]);
  return open.length === 0 ? [] : [`    known to be open: ${open.join('; ')}`];
}

function jsonOf(result: Reproduction): unknown {
  const { finding, inferred, ...counts } = result;
  const { schedule, case: program, notes, batchCount, largestBatch, statementCount } = inferred;
  const { ambiguous, unexplained } = inferred;
  return {
    format: 'isolde-reproduction/1',
    ...counts,
    finding,
    ...{ batchCount, largestBatch, statementCount, notes, ambiguous, unexplained },
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

function modeOf(text: string): ReplayMode {
  const mode = replayModes.find((one) => one === text);
  if (mode !== undefined) return mode;
  throw new IsoldeError('usage', `"${text}" is no way to replay; say ${replayModes.join(', ')}`);
}
