/**
 * A reduction from beginning to end:
 *
 * 1. A strategy removes operations (`strategies/`). Before it relies on the start to show the finding, the start is
 *    tried; if it does not show it, nothing is reduced.
 * 2. Passes simplify what is left, to a fixed point (`passes/`).
 * 3. Every single removal is asked about once more. Nearly all of these answers are known; if all say that the finding is
 *    gone, the result is 1-minimal, and says so.
 * 4. The result runs `confirmRuns` times more, so that what is handed over was seen to show the finding.
 *
 * Stopped at any point, it returns the best case so far and says why it is not minimal.
 */
import type { Finding } from '../check/index.js';
import type { History } from '../histories/index.js';
import { type Candidate, type CaseSize, contentKey, sizeOf } from './candidate.js';
import { modelOf, type Subset } from './case-model.js';
import type { DependencySource } from './dependencies.js';
import { operationRemovals, type PassContext, passes, runPasses, singleRemovals } from './passes/index.js';
import { readState, writeState } from './state-file.js';
import { type StrategyName, strategies, subsetTrials } from './strategies/index.js';
import { surroundingsOf } from './surroundings.js';
import type { TrialOracle, TrialResult } from './trial.js';
import { Stopped, type TrialCounts, Trials } from './trials.js';

export interface ReductionOptions {
  readonly oracle: TrialOracle;
  /** Default `witness`. */
  readonly strategy?: StrategyName;
  /** Operations the finding names, by their number in `modelOf(start)`. */
  readonly witness?: Subset;
  /** The start was seen to show the finding and need not be tried again. */
  readonly startShows?: boolean;
  readonly dependencies: (model: ReturnType<typeof modelOf>) => DependencySource;
  readonly context: PassContext;
  /** Only remove operations; leave statements, rows and names as they are. */
  readonly operationsOnly?: boolean;
  /** Default 1. */
  readonly confirmRuns?: number;
  readonly mostTrials?: number;
  /** Where the state is kept; a state of the same reduction found there is resumed. */
  readonly stateFile?: string;
  /** What the answers depend on besides the case: the finding, the database. Another one makes it another reduction. */
  readonly about?: string;
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: ReductionProgress) => void;
  /** Milliseconds; default: the process's clock. */
  readonly now?: () => number;
}

export interface ReductionProgress extends CaseSize {
  readonly stage: string;
  readonly counts: TrialCounts;
  readonly seconds: number;
  /** The trial that was just decided, if one was. */
  readonly last?: TrialResult;
}

export interface ReductionResult extends CaseSize {
  readonly strategy: StrategyName;
  readonly result: Candidate;
  readonly counts: TrialCounts;
  readonly seconds: number;
  /** Trials and operations when the strategy was done, before passes. */
  readonly afterStrategy?: { readonly counts: TrialCounts; readonly seconds: number } & CaseSize;
  /** Every single removal of an operation was tried, and none shows the finding. */
  readonly minimal: boolean;
  /** How many removals that were. */
  readonly removalsTried: number;
  readonly whyNotMinimal?: string;
  /** The result was run again and shows the finding it started from. */
  readonly sameFinding: boolean;
  /** In how many of how many of those runs. */
  readonly confirmed: { readonly shown: number; readonly runs: number };
  readonly finding?: Finding;
  readonly history?: History;
}

/** The start does not show the finding: there is nothing to reduce. */
export interface NotReproduced {
  readonly notReproduced: TrialResult;
}

export async function reduceCase(
  start: Candidate,
  options: ReductionOptions,
): Promise<ReductionResult | NotReproduced> {
  const { oracle, strategy = 'witness', signal, confirmRuns = 1, stateFile } = options;
  const now = options.now ?? (() => performance.now());
  const began = now();
  const seconds = () => (now() - began) / 1000;
  const identity = JSON.stringify([
    strategy,
    options.operationsOnly === true,
    contentKey(start),
    options.about ?? null,
  ]);
  const saved = stateFile === undefined ? undefined : await readState(stateFile);
  const known = saved?.start === identity ? saved.answers : undefined;

  let stage = 'start';
  let shown: { readonly candidate: Candidate; readonly size: CaseSize } | undefined;
  const progress = (last?: TrialResult) => {
    if (options.onProgress === undefined) return;
    if (shown?.candidate !== trials.best) shown = { candidate: trials.best, size: sizeOf(trials.best.case) };
    options.onProgress({
      stage,
      counts: trials.counts,
      seconds: seconds(),
      ...shown.size,
      ...(last !== undefined && { last }),
    });
  };
  const save = async (best: Candidate) => {
    if (stateFile !== undefined)
      await writeState(stateFile, { start: identity, answers: trials.answers, best });
  };
  const trials: Trials = new Trials(start, {
    oracle,
    ...(signal !== undefined && { signal }),
    ...(options.mostTrials !== undefined && { mostTrials: options.mostTrials }),
    ...(known !== undefined && { known }),
    onTrial: (_, result) => {
      if (result.verdict !== 'same') progress(result);
    },
    onAccepted: (candidate) => {
      progress({ verdict: 'same' });
      return save(candidate);
    },
  });

  let whyNotMinimal: string | undefined;
  let afterStrategy: ReductionResult['afterStrategy'];
  let removalsTried = 0;
  const checkStart = async () => {
    if (options.startShows === true || (await trials.test(start))) return;
    throw new StartFails(await oracle.run(start, 0));
  };
  try {
    stage = strategy;
    progress();
    const model = modelOf(start);
    await strategies[strategy].reduce({
      ...surroundingsOf(model, options.witness ?? [], options.dependencies),
      trials: subsetTrials(model, trials),
      checkStart,
    });
    afterStrategy = { counts: trials.counts, seconds: seconds(), ...sizeOf(trials.best.case) };
    if (options.operationsOnly !== true) {
      await runPasses(passes, trials, options.context, (pass) => {
        stage = pass.name;
        progress();
      });
    }
    stage = 'single removals';
    const removals =
      options.operationsOnly === true ? operationRemovals(trials.best) : singleRemovals(trials.best);
    const removable = await trials.find(removals.length, (i) => removals[i]!());
    removalsTried = removable === undefined ? removals.length : removable.number + 1;
    if (removable !== undefined) whyNotMinimal = 'an operation can still go';
  } catch (error) {
    if (error instanceof StartFails) return { notReproduced: error.trial };
    if (!(error instanceof Stopped)) throw error;
    whyNotMinimal = signal?.aborted === true ? 'interrupted' : 'the limit of trials was reached';
  } finally {
    await save(trials.best);
    await trials.drain();
  }
  stage = 'confirming';
  const result = withoutDescription(trials.best);
  const tried = trials.counts.accepted > 0 || options.startShows === true;
  const confirmation = await confirm(oracle, result, tried, signal?.aborted === true ? 0 : confirmRuns);
  progress();
  return {
    strategy,
    result,
    ...sizeOf(result.case),
    counts: trials.counts,
    seconds: seconds(),
    ...(afterStrategy !== undefined && { afterStrategy }),
    minimal: whyNotMinimal === undefined,
    removalsTried,
    ...(whyNotMinimal !== undefined && { whyNotMinimal }),
    ...confirmation,
  };
}

/** A description of the original speaks of sessions, tables and values that are not there any more. */
function withoutDescription({ case: { description: _, ...program }, schedule }: Candidate): Candidate {
  return { case: program, schedule };
}

class StartFails extends Error {
  constructor(readonly trial: TrialResult) {
    super('the start does not show the finding');
  }
}

type Confirmation = Pick<ReductionResult, 'sameFinding' | 'confirmed' | 'finding' | 'history'>;

async function confirm(
  oracle: TrialOracle,
  result: Candidate,
  /** Some trial has shown that the result shows the finding. */
  tried: boolean,
  runs: number,
): Promise<Confirmation> {
  let shown = 0;
  let last: TrialResult | undefined;
  for (let run = 0; run < runs; run++) {
    const answer = await (oracle.runOnce?.(result, 0) ?? oracle.run(result, 0));
    if (answer.verdict === 'same') shown++;
    if (last === undefined || answer.verdict === 'same') last = answer;
  }
  return {
    sameFinding: tried && shown === runs,
    confirmed: { shown, runs },
    ...(last?.finding !== undefined && { finding: last.finding }),
    ...(last?.history !== undefined && { history: last.history }),
  };
}
