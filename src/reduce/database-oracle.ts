/**
 * Trials on a real database: run the candidate by its schedule, judge the history, compare the findings with the one
 * that is being reduced.
 *
 * Lanes keep their connections from trial to trial, and between trials only data is put back. When the database goes away under a trial, it is opened again and the trial is run
 * again; a candidate under which it goes away every time is a bug of another kind.
 */
import type { Finding } from '../check/index.js';
import type { Level } from '../contracts/index.js';
import { errorText, IsoldeError } from '../errors.js';
import { DatabaseLanes, type DatabaseLanesOptions, runFree, runScheduled } from '../execute/index.js';
import type { ErrorClass, History, Operation } from '../histories/index.js';
import type { Target } from '../targets/index.js';
import type { Candidate } from './candidate.js';
import { type RepeatOptions, repeatFor, settleVerdict } from './sequential-test.js';
import type { FindingOracle, ObservedRun, TrialResult } from './trial.js';

/** Says what is wrong with a history, and what makes a finding the finding it is. */
export interface Judge {
  findings(history: History, target: Target): readonly Finding[];
  identity(finding: Finding, history: History): string;
}

export interface DatabaseOracleOptions extends Omit<DatabaseLanesOptions, 'onReopen'> {
  readonly judge: Judge;
  /** How many trials run at once, each in a namespace of its own. Default 1. */
  readonly lanes?: number;
  /** For sessions whose case names no level. */
  readonly level?: Level;
  /** `free`: sessions run without regard to each other, as in a baseline of Pisco's evaluation. Default: by schedule. */
  readonly order?: 'schedule' | 'free';
  /** How often trials are repeated; default: `repeatFor`. */
  readonly repeat?: RepeatOptions;
}

/** Statements that waited for their time-out: the schedule does not fit the case any more. */
const stuck: ReadonlySet<ErrorClass> = new Set(['lock-timeout', 'statement-timeout', 'cancelled']);
const gone: ReadonlySet<ErrorClass> = new Set(['connection-lost', 'crash']);
const mostDeaths = 3;

/** The set-up of a candidate fails: nothing was run. */
class BadSetup extends IsoldeError {
  constructor(message: string, options: { readonly cause: unknown }) {
    super('target', message, options);
  }
}

export class DatabaseOracle implements FindingOracle {
  readonly lanes: number;
  #wanted: string | undefined;

  private constructor(
    private readonly database: DatabaseLanes,
    private readonly options: DatabaseOracleOptions,
  ) {
    this.lanes = options.lanes ?? 1;
  }

  static async open(options: DatabaseOracleOptions): Promise<DatabaseOracle> {
    return new DatabaseOracle(await DatabaseLanes.open(options), options);
  }

  get judge(): Judge {
    return this.options.judge;
  }

  get target(): Target {
    return this.database.target;
  }

  get subject(): FindingOracle['subject'] {
    const { dialect, levels, stamp } = this.target;
    return { name: `${stamp.name} ${stamp.version}`, dialect, levels: levels.map(({ level }) => level) };
  }

  identity(finding: Finding, history: History): string {
    return this.options.judge.identity(finding, history);
  }

  /** Sets the finding that trials look for. */
  lookFor(identity: string): void {
    this.#wanted = identity;
  }

  async run(candidate: Candidate, lane: number): Promise<TrialResult> {
    return settleVerdict(() => this.runOnce(candidate, lane), this.options.repeat ?? repeatFor(candidate));
  }

  /** Runs a case once and returns what happened and what is wrong with it. */
  async observe(candidate: Candidate, lane = 0): Promise<ObservedRun> {
    for (let deaths = 1; ; deaths++) {
      const { generation } = this.database;
      let cause: unknown;
      try {
        const { scratch, sessions } = await this.database.lane(lane);
        const options = {
          target: this.target,
          sessions,
          ...(this.options.level !== undefined && { level: this.options.level }),
        };
        const history =
          this.options.order === 'free'
            ? await runFree(scratch, candidate.case, options)
            : await runScheduled(scratch, candidate, options);
        const lost = history.operations.find(isLost);
        if (lost === undefined)
          return { history, findings: this.options.judge.findings(history, this.target) };
        cause = new IsoldeError('target', `the database went away: ${lost.error!.message}`);
        if (deaths >= mostDeaths) return { history, findings: [] };
      } catch (error) {
        const mayReturn =
          error instanceof IsoldeError && (error.code === 'connect' || error.code === 'target');
        if (mayReturn && (await this.database.isAlive(lane)))
          throw new BadSetup(error.message, { cause: error });
        if (!mayReturn || deaths >= mostDeaths || this.options.signal?.aborted === true) throw error;
        cause = error;
      }
      if (!(await this.database.reopen(generation, errorText(cause)))) throw cause;
    }
  }

  close(): Promise<void> {
    return this.database.close();
  }

  async runOnce(candidate: Candidate, lane: number): Promise<TrialResult> {
    if (candidate.case.sessions.length === 0) return { verdict: 'none' };
    const seen = await this.observe(candidate, lane).catch((error: unknown) => {
      if (error instanceof BadSetup) return error;
      throw error;
    });
    if (seen instanceof BadSetup) return { verdict: 'infeasible', note: seen.message };
    const { history, findings } = seen;
    const { judge } = this.options;
    const same = findings.find((finding) => judge.identity(finding, history) === this.#wanted);
    if (same !== undefined) return { verdict: 'same', finding: same, history };
    const errors = history.operations.flatMap(({ error }) => error ?? []);
    const waited = errors.find((error) => stuck.has(error.class));
    if (waited !== undefined) return { verdict: 'infeasible', history, note: waited.message };
    if (history.operations.some(({ end }) => end === null)) {
      return { verdict: 'infeasible', history, note: 'a statement was never answered' };
    }
    const died = history.operations.find(isLost)?.error;
    if (died !== undefined)
      return { verdict: 'another', history, note: `the database dies of it: ${died.message}` };
    const finding = findings[0];
    return finding === undefined ? { verdict: 'none', history } : { verdict: 'another', finding, history };
  }
}

/** Whether the database hung up; a statement that we gave up waiting for has no end. */
function isLost({ error, end }: Operation): boolean {
  return error !== undefined && end !== null && gone.has(error.class);
}
