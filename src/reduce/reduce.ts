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
  const { strategy = 'witness', operationsOnly = false, stateFile, about = null } = options;
  const identity = JSON.stringify([strategy, operationsOnly, contentKey(start), about]);
  const saved = stateFile === undefined ? undefined : await readState(stateFile);
  const known = saved?.start === identity ? saved.answers : undefined;
  return new Reduction(start, options, identity, known).run();
}

/** How far the reduction came. */
interface Reached {
  readonly afterStrategy?: NonNullable<ReductionResult['afterStrategy']>;
  readonly removalsTried: number;
  readonly whyNotMinimal?: string;
}

class Reduction {
  readonly #strategy: StrategyName;
  readonly #trials: Trials;
  readonly #now: () => number;
  readonly #began: number;
  #stage = 'start';
  #shown: { readonly candidate: Candidate; readonly size: CaseSize } | undefined;

  constructor(
    private readonly start: Candidate,
    private readonly options: ReductionOptions,
    private readonly identity: string,
    known: Trials['answers'] | undefined,
  ) {
    const { oracle, signal, mostTrials } = options;
    this.#strategy = options.strategy ?? 'witness';
    this.#now = options.now ?? (() => performance.now());
    this.#began = this.#now();
    this.#trials = new Trials(start, {
      oracle,
      ...(signal !== undefined && { signal }),
      ...(mostTrials !== undefined && { mostTrials }),
      ...(known !== undefined && { known }),
      onTrial: (_, result) => {
        if (result.verdict !== 'same') this.#progress(result);
      },
      onAccepted: (candidate) => {
        this.#progress({ verdict: 'same' });
        return this.#save(candidate);
      },
    });
  }

  async run(): Promise<ReductionResult | NotReproduced> {
    const { signal, startShows, oracle, confirmRuns = 1 } = this.options;
    const trials = this.#trials;
    let reached: Reached | StartFails;
    try {
      reached = await this.#shrink();
    } finally {
      await this.#save(trials.best);
      await trials.drain();
    }
    if (reached instanceof StartFails) return { notReproduced: reached.trial };
    this.#stage = 'confirming';
    const result = withoutDescription(trials.best);
    const tried = trials.counts.accepted > 0 || startShows === true;
    const confirmation = await confirm(oracle, result, tried, signal?.aborted === true ? 0 : confirmRuns);
    this.#progress();
    return {
      strategy: this.#strategy,
      result,
      ...sizeOf(result.case),
      counts: trials.counts,
      seconds: this.#seconds(),
      minimal: reached.whyNotMinimal === undefined,
      ...reached,
      ...confirmation,
    };
  }

  /** Strategy, passes, single removals; stopped in between, it says where and why. */
  async #shrink(): Promise<Reached | StartFails> {
    let afterStrategy: Reached['afterStrategy'];
    try {
      await this.#runStrategy();
      afterStrategy = {
        counts: this.#trials.counts,
        seconds: this.#seconds(),
        ...sizeOf(this.#trials.best.case),
      };
      if (this.options.operationsOnly !== true) {
        await runPasses(passes, this.#trials, this.options.context, (pass) => this.#enter(pass.name));
      }
      return { afterStrategy, ...(await this.#tryRemovals()) };
    } catch (error) {
      if (error instanceof StartFails) return error;
      if (!(error instanceof Stopped)) throw error;
      const interrupted = this.options.signal?.aborted === true;
      return {
        ...(afterStrategy !== undefined && { afterStrategy }),
        removalsTried: 0,
        whyNotMinimal: interrupted ? 'interrupted' : 'the limit of trials was reached',
      };
    }
  }

  async #runStrategy(): Promise<void> {
    const { witness = [], dependencies, startShows, oracle } = this.options;
    this.#enter(this.#strategy);
    const model = modelOf(this.start);
    await strategies[this.#strategy].reduce({
      ...surroundingsOf(model, witness, dependencies),
      trials: subsetTrials(model, this.#trials),
      checkStart: async () => {
        if (startShows === true || (await this.#trials.test(this.start))) return;
        throw new StartFails(await oracle.run(this.start, 0));
      },
    });
  }

  async #tryRemovals(): Promise<Reached> {
    this.#stage = 'single removals';
    const { best } = this.#trials;
    const removals = this.options.operationsOnly === true ? operationRemovals(best) : singleRemovals(best);
    const removable = await this.#trials.find(removals.length, (i) => removals[i]!());
    return removable === undefined
      ? { removalsTried: removals.length }
      : { removalsTried: removable.number + 1, whyNotMinimal: 'an operation can still go' };
  }

  #enter(stage: string): void {
    this.#stage = stage;
    this.#progress();
  }

  #seconds(): number {
    return (this.#now() - this.#began) / 1000;
  }

  #progress(last?: TrialResult): void {
    if (this.options.onProgress === undefined) return;
    const { best, counts } = this.#trials;
    if (this.#shown?.candidate !== best) this.#shown = { candidate: best, size: sizeOf(best.case) };
    this.options.onProgress({
      stage: this.#stage,
      counts,
      seconds: this.#seconds(),
      ...this.#shown.size,
      ...(last !== undefined && { last }),
    });
  }

  async #save(best: Candidate): Promise<void> {
    const { stateFile } = this.options;
    if (stateFile !== undefined)
      await writeState(stateFile, { start: this.identity, answers: this.#trials.answers, best });
  }
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
