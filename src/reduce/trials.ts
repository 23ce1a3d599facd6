/**
 * The desk every trial goes over: asks the oracle, remembers answers by content, counts, saves, stops.
 *
 * Order decides everything. `first` means "the first of these candidates, in their order, that shows the finding", whatever
 * number of lanes works on it: with several, later candidates run ahead of time (speculation), and their answers are used
 * only if the order reaches them. So the number of lanes changes the time a reduction takes, never its result, and
 * not the number of trials it counts; speculative runs nobody asked for are counted apart.
 *
 * Stopping: when the signal is raised (or a limit is reached) the next question throws `Stopped`. What was accepted last is
 * the best so far. A resumed reduction is the same reduction again with the answers already known (`state-file.ts`).
 */
import { type Candidate, contentKey } from './candidate.js';
import type { TrialOracle, TrialResult, Verdict } from './trial.js';

/** Thrown by a question asked after the reduction was told to stop. */
export class Stopped extends Error {
  override readonly name = 'Stopped';
}

export function unlessStopped<T>(work: Promise<T>): Promise<T | 'stopped'> {
  return work.catch((error: unknown) => {
    if (error instanceof Stopped) return 'stopped';
    throw error;
  });
}

export interface TrialCounts {
  /** Candidates the reduction asked about, each once. */
  readonly trials: number;
  readonly accepted: number;
  /** The others: what paid for nothing. */
  readonly redundant: number;
  /** Of the redundant ones: no finding, another finding, a schedule that cannot run, runs that disagree. */
  readonly none: number;
  readonly another: number;
  readonly infeasible: number;
  readonly flaky: number;
  /** Questions answered from memory. */
  readonly cached: number;
  /** Trials that ran ahead of the order and were not needed in the end. */
  readonly speculative: number;
}

export interface TrialsOptions {
  readonly oracle: TrialOracle;
  readonly signal?: AbortSignal;
  /** Ends the reduction after so many trials. */
  readonly mostTrials?: number;
  /** Answers known from an interrupted reduction. */
  readonly known?: ReadonlyMap<string, Verdict>;
  /** Called for every answer the order has reached. */
  readonly onTrial?: (candidate: Candidate, result: TrialResult) => void;
  /** Called, and awaited, when a candidate becomes the best so far. */
  readonly onAccepted?: (candidate: Candidate) => void | Promise<void>;
}

export class Trials {
  readonly #options: TrialsOptions;
  readonly #answers = new Map<string, Promise<TrialResult>>();
  readonly #settled = new Map<string, Verdict>();
  readonly #asked = new Set<string>();
  readonly #freeLanes: number[];
  readonly #queue: ((lane: number) => void)[] = [];
  readonly #running = new Set<Promise<unknown>>();
  readonly #counts = { accepted: 0, none: 0, another: 0, infeasible: 0, flaky: 0, cached: 0 };
  #runs = 0;
  #best: Candidate;
  #stopped = false;

  constructor(start: Candidate, options: TrialsOptions) {
    this.#best = start;
    this.#options = options;
    this.#freeLanes = Array.from(
      { length: options.oracle.lanes },
      (_, lane) => options.oracle.lanes - 1 - lane,
    );
    for (const [key, verdict] of options.known ?? []) {
      this.#settled.set(key, verdict);
      this.#answers.set(key, Promise.resolve({ verdict }));
    }
  }

  /** What was accepted last. */
  get best(): Candidate {
    return this.#best;
  }

  /** Every answer so far, by content. */
  get answers(): ReadonlyMap<string, Verdict> {
    return this.#settled;
  }

  get lanes(): number {
    return this.#options.oracle.lanes;
  }

  get counts(): TrialCounts {
    const { accepted, none, another, infeasible, flaky, cached } = this.#counts;
    const redundant = none + another + infeasible + flaky;
    return {
      trials: accepted + redundant,
      accepted,
      redundant,
      none,
      another,
      infeasible,
      flaky,
      cached,
      speculative: Math.max(0, this.#runs - this.#asked.size),
    };
  }

  /**
   * Whether a candidate shows the finding; if so it is the best so far. `ahead`: what will be asked next if it does not,
   * for lanes that have nothing better to do.
   */
  async test(candidate: Candidate, ahead: readonly (() => Candidate)[] = []): Promise<boolean> {
    const count = 1 + Math.min(ahead.length, this.lanes - 1);
    if (count > 1) for (let i = 1; i < count; i++) this.#speculate(ahead[i - 1]!);
    return (await this.first(1, () => candidate)) === 0;
  }

  /**
   * The number of the first candidate, in order, that shows the finding, and becomes the best so far; −1: none does.
   * `make` returns undefined for a number not worth a trial.
   */
  async first(count: number, make: (i: number) => Candidate | undefined): Promise<number> {
    const found = await this.find(count, make);
    if (found === undefined) return -1;
    this.#best = found.candidate;
    await this.#options.onAccepted?.(found.candidate);
    return found.number;
  }

  /** The same, but what is found does not become the best so far. */
  async find(
    count: number,
    make: (i: number) => Candidate | undefined,
  ): Promise<{ readonly number: number; readonly candidate: Candidate } | undefined> {
    const window: ({ readonly candidate: Candidate; readonly key: string } | undefined)[] = [];
    for (let i = 0; i < count; i++) {
      this.#checkStop();
      // Keep every lane busy with the candidates that come next.
      while (window.length <= i || (window.length < count && window.length - i < this.lanes)) {
        const candidate = make(window.length);
        const entry = candidate === undefined ? undefined : { candidate, key: contentKey(candidate) };
        window.push(entry);
        if (entry !== undefined) void this.#answer(entry.candidate, entry.key).catch(() => undefined);
      }
      const entry = window[i];
      if (entry === undefined) continue;
      const { candidate, key } = entry;
      const result = await this.#untilStopped(this.#answer(candidate, key));
      this.#count(candidate, key, result);
      if (result.verdict === 'same') return { number: i, candidate };
    }
    return undefined;
  }

  /** Waits until no trial runs any more. */
  async drain(): Promise<void> {
    this.#stopped = true;
    await Promise.allSettled(this.#running);
  }

  #speculate(make: () => Candidate): void {
    const candidate = make();
    void this.#answer(candidate, contentKey(candidate)).catch(() => undefined);
  }

  #checkStop(): void {
    const { signal, mostTrials = Number.POSITIVE_INFINITY } = this.#options;
    if (this.#stopped || signal?.aborted === true || this.counts.trials >= mostTrials) throw new Stopped();
  }

  /** An answer, unless the reduction is stopped first: then the run in flight is left behind. */
  #untilStopped(answer: Promise<TrialResult>): Promise<TrialResult> {
    const { signal } = this.#options;
    if (signal === undefined) return answer;
    return new Promise((resolve, reject) => {
      const stop = () => reject(new Stopped());
      if (signal.aborted) stop();
      signal.addEventListener('abort', stop, { once: true });
      answer.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
    });
  }

  #count(candidate: Candidate, key: string, result: TrialResult): void {
    if (this.#asked.has(key)) {
      this.#counts.cached++;
      return;
    }
    this.#asked.add(key);
    this.#counts[result.verdict === 'same' ? 'accepted' : result.verdict]++;
    this.#options.onTrial?.(candidate, result);
  }

  #answer(candidate: Candidate, key: string): Promise<TrialResult> {
    const known = this.#answers.get(key);
    if (known !== undefined) return known;
    const answer = this.#run(candidate).then(
      (result) => {
        this.#settled.set(key, result.verdict);
        return result;
      },
      (error: unknown) => {
        this.#answers.delete(key);
        throw error;
      },
    );
    this.#answers.set(key, answer);
    this.#running.add(answer);
    answer.catch(() => undefined).finally(() => this.#running.delete(answer));
    return answer;
  }

  async #run(candidate: Candidate): Promise<TrialResult> {
    const lane = this.#freeLanes.pop() ?? (await new Promise<number>((take) => this.#queue.push(take)));
    try {
      if (this.#stopped || this.#options.signal?.aborted === true) throw new Stopped();
      this.#runs++;
      // Results are kept for the whole reduction; histories would fill the memory.
      const { verdict, note } = await this.#options.oracle.run(candidate, lane);
      return note === undefined ? { verdict } : { verdict, note };
    } finally {
      const next = this.#queue.shift();
      if (next === undefined) this.#freeLanes.push(lane);
      else next(lane);
    }
  }
}
