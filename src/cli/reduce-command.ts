/** `isolde reduce FILE`: from a history or a case with a finding to the smallest case that shows it. */
import type { Command } from 'commander';
import { countStatements, printCaseFile } from '../cases/index.js';
import { IsoldeError } from '../errors.js';
import {
  type Candidate,
  candidateOf,
  compareStrategies,
  DatabaseOracle,
  type FindingOptions,
  type FindingOutcome,
  firstDivergence,
  type NoSubject,
  type ReductionProgress,
  type ReductionResult,
  reduceSubject,
  renderComparison,
  renderProgress,
  renderReduced,
  renderSummary,
  type StrategyName,
  type Subject,
  strategies,
  subjectOfCase,
  subjectOfHistory,
} from '../reduce/index.js';
import { openTarget } from '../targets/index.js';
import { type CliContext, type ExitCode, exitCodes } from './context.js';
import {
  type AskedOfCase,
  askedOf,
  explainUndecided,
  type JudgedCaseFlags,
  judgedCaseOptions,
  positive,
  writeText,
} from './flags.js';
import { shrinkTogether } from './reduce-interactive.js';
import { isHistoryFile, readReplayable } from './replayable-history.js';
import { readAdmitted } from './run-command.js';

interface ReduceFlags extends JudgedCaseFlags {
  readonly strategy: string;
  readonly jobs: string;
  readonly runs: string;
  readonly json?: boolean;
  readonly state?: string;
  readonly out?: string;
  readonly against?: string;
  readonly interactive?: boolean;
}

const strategyNames = Object.keys(strategies) as StrategyName[];

export function reduceCommand(program: Command, context: CliContext, exit: (code: ExitCode) => void): void {
  const command = program
    .command('reduce')
    .argument('<file>', 'a history with a finding, or a case (script or *.case.json) that shows one')
    .description('shrink a case to the few statements that show its finding');
  judgedCaseOptions(command, 'any that finds something')
    .option('-s, --strategy <name>', strategyNames.join(', '), 'witness')
    .option('-j, --jobs <count>', 'trials that run at once, each in a namespace of its own', '1')
    .option('-n, --runs <count>', 'runs of the result that must show the finding', '5')
    .option('--state <file>', 'keep the progress there, and go on from it')
    .option('-o, --out <file>', 'write the reduced case: *.case.json, or a script')
    .option('--against <file>', 'run all strategies and print how they compare, with the case in this file')
    .option(
      '--interactive',
      'shrink it by hand and automatically in turns: list, drop, edit, undo, try, auto, save',
    )
    .option('--json', 'print the result as JSON')
    .addHelpText(
      'after',
      '\nExit code: 0 nothing is wrong, so there is nothing to reduce; 1 reduced; 2 the finding does not reproduce, there is none and not everything could be judged, or interrupted; 3 error.',
    )
    .action(async (file: string, flags: ReduceFlags) => exit(await reduce(file, flags, context)));
}

async function reduce(file: string, flags: ReduceFlags, context: CliContext): Promise<ExitCode> {
  const strategy = strategyOf(flags.strategy);
  const jobs = positive(flags.jobs, '--jobs');
  const confirmRuns = positive(flags.runs, '--runs');
  const asked = askedOf(flags);
  const { signal } = context;
  const oracle = await DatabaseOracle.open({
    open: () => openTarget(flags.target ?? context.defaultTarget),
    lanes: jobs,
    signal,
    ...asked,
  });
  try {
    const subject = await readSubject(file, oracle, asked, context);
    if ('valid' in subject) return explainNothing(subject, context);
    const options: FindingOptions = {
      oracle,
      strategy,
      confirmRuns,
      signal,
      onProgress: liveView(context),
      ...(flags.state !== undefined && { stateFile: flags.state }),
    };
    if (flags.interactive === true) return await shrinkTogether(subject, oracle, asked.trust, context);
    if (flags.against !== undefined) {
      const seen = subject.raw === undefined ? {} : { seen: subject.raw };
      const candidate = candidateOf(await readAdmitted(flags.against, oracle.target, asked.trust));
      const against = { name: flags.against, candidate };
      const compared = { ...options, ...seen, against };
      return await compare(subject.candidate, compared, { context, json: flags.json });
    }
    const outcome = await reduceSubject(subject, options);
    context.eraseLines(1);
    if (outcome.kind !== 'reduced') return explainFailure(outcome, subject, context);
    if (outcome.seen !== undefined) {
      context.err(
        `note: the history shows ${outcome.seen.kind}; in order, the same write shows as ${outcome.finding.kind}, and that is reduced`,
      );
    }
    return await show(outcome.result, subject, flags, context);
  } finally {
    await oracle.close();
  }
}

async function readSubject(
  file: string,
  oracle: DatabaseOracle,
  asked: AskedOfCase,
  context: CliContext,
): Promise<Subject | NoSubject> {
  const { target } = oracle;
  return (await isHistoryFile(file))
    ? subjectOfHistory(await readReplayable(file, target, asked, context), oracle)
    : subjectOfCase(await readAdmitted(file, target, asked.trust), oracle, asked);
}

function explainNothing({ valid, unknownReasons }: NoSubject, context: CliContext): ExitCode {
  explainUndecided(unknownReasons, context);
  if (valid !== 'unknown') {
    context.err('isolde: nothing in it breaks its contract; there is no finding to reduce');
    return exitCodes.nothingFound;
  }
  context.err(
    'isolde: nothing was found, though not everything could be judged; there is no finding to reduce',
  );
  return exitCodes.undecided;
}

function explainFailure(
  outcome: Exclude<FindingOutcome, { kind: 'reduced' }>,
  { raw }: Subject,
  context: CliContext,
): ExitCode {
  if (outcome.kind === 'no-finding')
    return explainNothing({ valid: 'unknown', unknownReasons: ['another run shows nothing'] }, context);
  if (outcome.kind === 'stopped') {
    context.err('isolde: interrupted before anything was known');
    return exitCodes.undecided;
  }
  const { verdict, note, finding, history } = outcome.trial;
  const instead = {
    same: 'it shows now',
    none: 'nothing was wrong',
    another: `something else was wrong${finding === undefined ? '' : `: ${finding.kind}`}`,
    infeasible: 'the schedule could not run',
    flaky: 'runs disagreed',
  }[verdict];
  context.err(`isolde: the finding does not reproduce: ${instead}${note === undefined ? '' : ` (${note})`}`);
  if (raw === undefined || history === undefined) return exitCodes.undecided;
  const diverged = firstDivergence(raw.history, history);
  context.err(
    diverged === undefined
      ? 'every statement was answered as in the history'
      : `first divergence: ${diverged}`,
  );
  return exitCodes.undecided;
}

async function show(
  result: ReductionResult,
  { candidate }: Subject,
  flags: ReduceFlags,
  context: CliContext,
): Promise<ExitCode> {
  const reduced = result.result;
  const script = `${renderReduced(reduced, result.history, result.finding)}\n`;
  if (flags.out !== undefined) {
    await writeText(flags.out, flags.out.endsWith('.json') ? printCaseFile(reduced) : script);
  }
  if (flags.json === true) {
    const { trials, ...counts } = result.counts;
    const { strategy, seconds, operations, transactions, rows, minimal, sameFinding, confirmed } = result;
    context.out(
      JSON.stringify({
        ...{ strategy, trials, ...counts, seconds, operations, transactions, rows, minimal },
        ...{
          removalsTried: result.removalsTried,
          whyNotMinimal: result.whyNotMinimal,
          sameFinding,
          confirmed,
        },
        ...{ schedule: reduced.schedule, case: reduced.case, finding: result.finding },
      }),
    );
  } else context.file(script.trimEnd());
  context.err(renderSummary(result, countStatements(candidate.case)));
  return result.whyNotMinimal === 'interrupted' || !result.sameFinding
    ? exitCodes.undecided
    : exitCodes.found;
}

async function compare(
  candidate: Candidate,
  options: FindingOptions & { readonly against: { readonly name: string; readonly candidate: Candidate } },
  { context, json = false }: { readonly context: CliContext; readonly json: boolean | undefined },
): Promise<ExitCode> {
  const { stateFile: _, ...stateless } = options;
  const rows = await compareStrategies(candidate, stateless);
  context.eraseLines(1);
  if (rows.every(({ trials }) => trials === undefined)) {
    context.err('isolde: the case does not show a finding that reproduces; there is nothing to compare');
    return exitCodes.undecided;
  }
  context.out(json ? JSON.stringify(rows) : renderComparison(rows));
  return exitCodes.found;
}

const redrawMs = 100;

/** One line written over on a terminal; elsewhere a line for each accepted step. */
function liveView(context: CliContext): (progress: ReductionProgress) => void {
  let drawnAt = Number.NEGATIVE_INFINITY;
  return (progress) => {
    if (context.errIsTerminal) {
      if (performance.now() - drawnAt < redrawMs) return;
      if (drawnAt >= 0) context.eraseLines(1);
      context.err(renderProgress(progress));
      drawnAt = performance.now();
      return;
    }
    if (progress.last?.verdict === 'same') context.err(renderProgress(progress));
  };
}

function strategyOf(name: string): StrategyName {
  const found = strategyNames.find((each) => each === name);
  if (found !== undefined) return found;
  throw new IsoldeError('usage', `there is no strategy "${name}"; there are ${strategyNames.join(', ')}`);
}
