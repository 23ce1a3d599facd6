/**
 * Trials on a real database: run the candidate by its schedule, let an oracle judge the history, compare the findings with
 * the one that is being reduced.
 *
 * Lanes keep their connections from trial to trial, and between trials only data is put back. When the database goes away
 * under a trial, it is opened again and the trial is run again; a candidate under which it goes away every time is a bug of another kind.
 */
import { type Finding, identityOf, isServerFailure, type OracleName, usualOracle } from '../check/index.js';
import { type Contract, describeKind, type Level } from '../contracts/index.js';
import { IsoldeError } from '../errors.js';
import type { DatabaseLanesOptions } from '../execute/index.js';
import { type ErrorClass, endedWaits, goneErrors, type History, type Operation } from '../histories/index.js';
import { Database, type Observe, type Observed, type RunRequest } from '../judge/index.js';
import type { Target } from '../targets/index.js';
import type { Candidate } from './candidate.js';
import { type RepeatOptions, repeatFor, settleVerdict } from './sequential-test.js';
import type { FindingOracle, ObservedRun, TrialResult } from './trial.js';
import { Stopped } from './trials.js';

/** Who judges trials, and by what. */
export interface TrialSetting {
  /** Default: the mechanism verifier. */
  readonly oracle?: OracleName;
  /** Default: what the vendor promises at the level. */
  readonly contract?: Contract;
  /** For sessions whose case names no level. */
  readonly level?: Level;
}

export interface TrialOptions extends TrialSetting {
  /** How many trials run at once, each in a namespace of its own. Default 1. */
  readonly lanes?: number;
  /** `free`: sessions run without regard to each other, as in a baseline of Pisco's evaluation. Default: by schedule. */
  readonly order?: 'schedule' | 'free';
  /** How often trials are repeated; default: `repeatFor`. */
  readonly repeat?: RepeatOptions;
  readonly signal?: AbortSignal;
}

export interface DatabaseOracleOptions extends TrialOptions, Omit<DatabaseLanesOptions, 'onReopen'> {}

/** A database for trials: an open one, or one that belongs to whoever observes in it. */
interface TrialPlace {
  readonly target: () => Target;
  readonly observe: Observe;
  readonly close: () => Promise<void>;
}

const mostDeaths = 3;
/** What a statement fails with that says nothing: a name that is gone, a word that is missing. */
const meaningless: ReadonlySet<ErrorClass> = new Set(['syntax', 'unsupported', 'other']);

export class DatabaseOracle implements FindingOracle {
  readonly lanes: number;
  #wanted: string | undefined;
  /** Statements of the case trials began with that did not run there; in smaller cases no others may fail so. */
  #broken: readonly string[] | undefined;
  #setting: TrialSetting;

  private constructor(
    private readonly place: TrialPlace,
    private readonly options: TrialOptions,
  ) {
    this.lanes = options.lanes ?? 1;
    this.#setting = options;
  }

  static async open(options: DatabaseOracleOptions): Promise<DatabaseOracle> {
    const database = await Database.open(options);
    const { observe } = database;
    const place = { target: () => database.target, observe, close: () => database.close() };
    return new DatabaseOracle(place, options);
  }

  /** Trials in one lane of a database that is open already, and stays so. */
  static inLane(
    place: { readonly database: Pick<Database, 'target'>; readonly observe: Observe; readonly lane: number },
    options: Omit<TrialOptions, 'lanes'>,
  ): DatabaseOracle {
    const { database, observe, lane } = place;
    const own: TrialPlace = {
      target: () => database.target,
      observe: (request) => observe(request, lane),
      close: () => Promise.resolve(),
    };
    return new DatabaseOracle(own, options);
  }

  get target(): Target {
    return this.place.target();
  }

  get subject(): FindingOracle['subject'] {
    const { dialect, levels, stamp } = this.target;
    return { name: `${stamp.name} ${stamp.version}`, dialect, levels: levels.map(({ level }) => level) };
  }

  get setting(): TrialSetting {
    return this.#setting;
  }

  /** From now on trials are judged so. */
  judgeBy(setting: TrialSetting): void {
    this.#setting = { ...this.#setting, ...setting };
  }

  identity(finding: Finding, history: History): string {
    return identityOf(finding, history);
  }

  /** Sets the finding that trials look for; `tolerated` where somebody else knows it already. */
  lookFor(identity: string, tolerated?: readonly string[]): void {
    this.#wanted = identity;
    this.#broken = tolerated;
  }

  /** Statements that may fail with something meaningless: those that did in the first run that showed the finding. */
  get tolerated(): readonly string[] | undefined {
    return this.#broken;
  }

  async run(candidate: Candidate, lane: number): Promise<TrialResult> {
    const settled = await settleVerdict(
      () => this.runOnce(candidate, lane),
      this.options.repeat ?? repeatFor(candidate),
    );
    // What was cut short says nothing about the candidate.
    if (this.options.signal?.aborted === true) throw new Stopped();
    return settled;
  }

  /** Runs a case once and returns what happened and what is wrong with it. */
  async observe(candidate: Candidate, lane = 0): Promise<ObservedRun> {
    const observed = await this.#observe(candidate, lane);
    switch (observed.kind) {
      case 'ran':
        return observed;
      case 'bad-setup':
        throw new IsoldeError('target', observed.message);
      case 'cut':
        if (this.options.signal?.aborted === true) throw new Stopped();
        throw new IsoldeError('target', 'the database went away before the case could run');
      default:
        return observed satisfies never;
    }
  }

  /** Runs a case by an oracle and a contract of the caller's choice. */
  readonly look = (request: RunRequest): Promise<Observed> => this.#ask(this.#inOrder(request), 0);

  get signal(): AbortSignal | undefined {
    return this.options.signal;
  }

  close(): Promise<void> {
    return this.place.close();
  }

  async runOnce(candidate: Candidate, lane: number): Promise<TrialResult> {
    if (candidate.case.sessions.length === 0) return { verdict: 'none' };
    const observed = await this.#observe(candidate, lane);
    if (observed.kind === 'bad-setup') return { verdict: 'infeasible', note: observed.message };
    if (observed.kind === 'cut') return { verdict: 'infeasible', note: 'the run was cut short' };
    const { history, findings } = observed;
    const same = findings.find((finding) => this.identity(finding, history) === this.#wanted);
    const errors = history.operations.flatMap(({ error }) => error ?? []);
    if (same !== undefined) {
      const broken = brokenBeside(same, history);
      this.#broken ??= broken.map(({ sql = '' }) => sql);
      const fresh = lessOnce(broken, this.#broken)[0];
      if (fresh === undefined) return { verdict: 'same', finding: same, history };
      return { verdict: 'infeasible', history, note: `a statement does not run: ${fresh.error!.message}` };
    }
    // The schedule does not fit the case any more.
    const waited = errors.find((error) => endedWaits.has(error.class));
    if (waited !== undefined) return { verdict: 'infeasible', history, note: waited.message };
    if (history.operations.some(({ end }) => end === null)) {
      return { verdict: 'infeasible', history, note: 'a statement was never answered' };
    }
    const finding = findings[0];
    if (finding === undefined) return { verdict: 'none', history };
    if (!isServerFailure(finding)) return { verdict: 'another', finding, history };
    const error = errors.find((each) => goneErrors.has(each.class));
    return { verdict: 'another', finding, history, note: `the database dies of it: ${error?.message}` };
  }

  #observe({ case: program, schedule }: Candidate, lane: number): Promise<Observed> {
    const { contract, level, oracle = usualOracle(contract).name } = this.#setting;
    const request: RunRequest = {
      case: program,
      schedule,
      oracle,
      ...(contract !== undefined && { contract }),
      ...(level !== undefined && { level }),
    };
    return this.#ask(this.#inOrder(request), lane);
  }

  #inOrder(request: RunRequest): RunRequest {
    if (this.options.order !== 'free') return request;
    const { schedule: _, ...free } = request;
    return free;
  }

  /** A database that goes away under something else than the finding looked for gets further chances. */
  async #ask(request: RunRequest, lane: number): Promise<Observed> {
    for (let deaths = 1; ; deaths++) {
      const observed = await this.place.observe(request, lane);
      if (deaths >= mostDeaths || this.options.signal?.aborted === true || !this.#diedOtherwise(observed))
        return observed;
    }
  }

  #diedOtherwise(observed: Observed): boolean {
    if (observed.kind !== 'ran') return observed.kind === 'cut';
    const { findings, history } = observed;
    // What was never answered waits for something, and would again.
    return findings.some(
      (finding) =>
        isServerFailure(finding) &&
        describeKind(finding.kind).takesTimeLimit !== true &&
        this.identity(finding, history) !== this.#wanted,
    );
  }
}

/** Statements that did not run for a meaningless reason; those that the finding is about may, in whatever words. */
function brokenBeside({ operations }: Finding, history: History): readonly Operation[] {
  const named = new Set(operations.map(({ index }) => index));
  return history.operations.filter(
    ({ index, error }) => error !== undefined && meaningless.has(error.class) && !named.has(index),
  );
}

/** The operations without those that a list of statements accounts for, each statement for one of them. */
function lessOnce(operations: readonly Operation[], statements: readonly string[]): readonly Operation[] {
  const left = [...statements];
  return operations.filter(({ sql = '' }) => {
    const place = left.indexOf(sql);
    if (place >= 0) left.splice(place, 1);
    return place < 0;
  });
}
