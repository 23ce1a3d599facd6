/**
 * From a raw finding to a bug worth a report:
 *
 * 1. A free run gets an order first (`reproduce`): what cannot be scheduled cannot be shown to anybody.
 * 2. Confirm: the scheduled case must show the same finding k times of k. What does not is not reported.
 * 3. A lock or a conflict that was passed over says little by itself: if an instrumented run of the same case shows what came
 *    of it (a committed write that is gone), that is followed instead.
 * 4. Reduce to the fewest statements that show it.
 * 5. A finding of an instrumented run is tried again without instrumentation, now that its case is small: when the plain
 *    run shows something too, that is what is told. It needs no added columns, and the same bug found either way gets one
 *    signature.
 */
import type { Schedule } from '../cases/index.js';
import { type Finding, findingIdentity, focusFinding } from '../check/index.js';
import type { Contract } from '../contracts/index.js';
import type { History } from '../histories/index.js';
import {
  type Candidate,
  type ReductionResult,
  rawFinding,
  reduceCase,
  repeatFor,
  settleVerdict,
  sqlAccesses,
  type TrialOracle,
  type TrialResult,
  witnessOf,
} from '../reduce/index.js';
import type { Database, Trial } from './database.js';
import type { Mode } from './round.js';

/** A finding with the run that shows it; the history's operations name statements of the trial's case. */
export interface Raw {
  readonly trial: Trial;
  readonly finding: Finding;
  readonly history: History;
}

/** A confirmed, reduced finding. */
export interface Pursued {
  readonly mode: Mode;
  readonly result: ReductionResult;
  readonly finding: Finding;
  readonly history: History;
  readonly contract: Contract;
}

export type Outcome =
  | { readonly kind: 'bug'; readonly bug: Pursued }
  | { readonly kind: 'unconfirmed'; readonly why: string }
  | { readonly kind: 'cut' };

export interface PursueOptions {
  readonly database: Database;
  readonly lane: number;
  /** Replays that must all show the finding. */
  readonly confirmRuns: number;
  /** The contract that says how the engine orders things, for order inference. */
  readonly vendor: Contract;
  readonly mostTrials?: number;
  readonly signal?: AbortSignal;
  readonly onConfirmed?: () => void;
}

export async function pursue(raw: Raw, options: PursueOptions): Promise<Outcome> {
  if (raw.finding.oracle !== 'server') return follow(raw, options, false);
  return options.database.alone(() => follow(raw, options, true));
}

async function follow(raw: Raw, options: PursueOptions, alone: boolean): Promise<Outcome> {
  const start = candidateOfRaw(raw, options);
  const { signal } = options;
  const { trial, finding, history } = start;
  const identity = findingIdentity(finding, history);
  const oracle = trialOracle(trial, identity, options, alone);
  for (let run = 1; run <= options.confirmRuns; run++) {
    const { verdict, note } = await oracle.runOnce(start.candidate);
    if (signal?.aborted === true) return { kind: 'cut' };
    if (verdict === 'same') continue;
    const why = `replay ${run} of ${options.confirmRuns}: ${verdict}${note === undefined ? '' : `, ${note}`}`;
    return { kind: 'unconfirmed', why };
  }
  options.onConfirmed?.();
  const consequence = await consequenceOf(start, options);
  if (consequence !== undefined) return { kind: 'bug', bug: consequence };
  const reduced = await reduceRaw(start, oracle, options);
  if (reduced === undefined)
    return { kind: 'unconfirmed', why: 'the reduced case does not show it every time' };
  if (trial.mode === 'plain' || trial.contract.mechanism === undefined || signal?.aborted === true)
    return { kind: 'bug', bug: reduced };
  return { kind: 'bug', bug: (await withoutInstrumentation(reduced, trial, options)) ?? reduced };
}

/** Findings that say how a rule was broken, not what came of it. */
const mereMeans: ReadonlySet<string> = new Set(['lock-violated', 'update-of-changed-row']);

/** What an instrumented run shows of a broken rule's consequences, reduced; undefined: nothing that reproduces. */
async function consequenceOf(
  { trial, finding, candidate }: Start,
  options: PursueOptions,
): Promise<Pursued | undefined> {
  if (!mereMeans.has(finding.kind)) return undefined;
  const traced: Trial = { ...trial, ...candidate, mode: 'instrumented' };
  const observed = await options.database.observe(traced, options.lane);
  if (observed.kind !== 'ran' || observed.findings.length === 0) return undefined;
  const { history, findings } = observed;
  const start = { trial: traced, finding: findings[0]!, history, candidate };
  return reduceRaw(
    start,
    trialOracle(traced, findingIdentity(start.finding, history), options, false),
    options,
  );
}

interface Start extends Raw {
  readonly candidate: Candidate;
}

/** The raw finding with a schedule: its own, or the one that explains what a free run saw. */
function candidateOfRaw(raw: Raw, { database, vendor }: PursueOptions): Start {
  const { trial, finding, history } = raw;
  const { schedule } = trial;
  if (schedule !== undefined) return { ...raw, candidate: { case: trial.case, schedule } };
  const judge = { findings: () => [finding], identity: findingIdentity };
  const ordered = rawFinding(history, vendor, judge, database.target)!;
  return {
    trial: { ...trial, ...ordered.candidate, observe: [] },
    finding,
    history: ordered.history,
    candidate: ordered.candidate,
  };
}

/** Trials of a reduction in one lane: does the finding with this identity still happen? */
function trialOracle(
  trial: Trial,
  identity: string,
  { database, lane }: PursueOptions,
  alone: boolean,
): Required<TrialOracle> & { runOnce(candidate: Candidate): Promise<TrialResult> } {
  const { mode, level, contract } = trial;
  return {
    lanes: 1,
    run(candidate) {
      return settleVerdict(() => this.runOnce(candidate), repeatFor(candidate));
    },
    async runOnce(candidate: Candidate): Promise<TrialResult> {
      if (candidate.case.sessions.length === 0) return { verdict: 'none' };
      const observed = await database.observe({ ...candidate, mode, level, contract }, lane, alone);
      if (observed.kind === 'bad-setup') return { verdict: 'infeasible', note: observed.message };
      if (observed.kind === 'cut') return { verdict: 'infeasible', note: 'the run was cut short' };
      const { history, findings } = observed;
      const same = findings.find((finding) => findingIdentity(finding, history) === identity);
      if (same !== undefined) return { verdict: 'same', finding: same, history };
      const stuck = history.operations.find(
        ({ error }) => error !== undefined && waitErrors.has(error.class),
      );
      if (stuck !== undefined) return { verdict: 'infeasible', history, note: stuck.error!.message };
      const finding = findings[0];
      return finding === undefined ? { verdict: 'none', history } : { verdict: 'another', finding, history };
    },
  };
}

/** Statements that waited for their time-out: the schedule does not fit the case any more. */
const waitErrors: ReadonlySet<string> = new Set(['lock-timeout', 'statement-timeout', 'cancelled']);

async function reduceRaw(
  { trial, candidate, finding, history }: Start,
  oracle: TrialOracle,
  { database, confirmRuns, mostTrials = 600, signal }: PursueOptions,
): Promise<Pursued | undefined> {
  const { dialect } = database.target;
  const result = await reduceCase(candidate, {
    oracle,
    startShows: true,
    witness: witnessOf(focusFinding(finding), history, candidate),
    dependencies: (model) => sqlAccesses(model, dialect, history),
    // At another level another contract would hold.
    context: { dialect, levels: [trial.level], level: trial.level },
    confirmRuns,
    mostTrials,
    ...(signal && { signal }),
  });
  if ('notReproduced' in result) return undefined;
  const { mode, contract } = trial;
  if (!result.sameFinding && signal?.aborted !== true) return undefined;
  if (result.finding !== undefined && result.history !== undefined)
    return { mode, contract, result, finding: result.finding, history: result.history };
  // Stopped in the middle: finding and history are those of the start, so the case must be, too.
  return { mode, contract, result: { ...result, result: candidate }, finding, history };
}

/** The same bug in a plain run, if it shows in one. */
async function withoutInstrumentation(
  { result }: Pursued,
  trial: Trial,
  options: PursueOptions,
): Promise<Pursued | undefined> {
  const { database, lane } = options;
  const plain: Trial & { readonly schedule: Schedule } = { ...trial, ...result.result, mode: 'plain' };
  const observed = await database.observe(plain, lane);
  if (observed.kind !== 'ran') return undefined;
  const finding = observed.findings.find(({ kind }) => !mereMeans.has(kind));
  if (finding === undefined) return undefined;
  const { history } = observed;
  const oracle = trialOracle(plain, findingIdentity(finding, history), options, false);
  return reduceRaw({ trial: plain, finding, history, candidate: result.result }, oracle, options);
}
