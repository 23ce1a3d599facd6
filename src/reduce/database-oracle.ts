/**
 * Trials on a real database: run the candidate by its schedule, judge the history, compare the findings with the one
 * that is being reduced.
 *
 * Each lane is a scratch namespace of its own with its own connections, which stay open from trial to trial; between
 * trials only data is put back. When the database goes away under a trial, it is opened again and the trial is run
 * again; a candidate under which it goes away every time is a bug of another kind.
 */
import type { Finding } from '../check/index.js';
import type { Level } from '../contracts/index.js';
import { IsoldeError } from '../errors.js';
import { runScheduled, type SessionLimits, SessionPool } from '../execute/index.js';
import type { ErrorClass, History, Operation } from '../histories/index.js';
import type { Scratch, Target } from '../targets/index.js';
import type { Candidate } from './candidate.js';
import { type RepeatOptions, settleVerdict } from './sequential-test.js';
import type { TrialOracle, TrialResult } from './trial.js';

/** Says what is wrong with a history, and what makes a finding the finding it is. */
export interface Judge {
  findings(history: History, target: Target): readonly Finding[];
  identity(finding: Finding, history: History): string;
}

export interface DatabaseOracleOptions {
  /** Opens the database; called again when it went away. */
  readonly open: () => Promise<Target>;
  readonly judge: Judge;
  /** How many trials run at once, each in a namespace of its own. Default 1. */
  readonly lanes?: number;
  /** For sessions whose case names no level. */
  readonly level?: Level;
  readonly limits?: SessionLimits;
  /** How often trials are repeated; default: `repeatFor`. */
  readonly repeat?: RepeatOptions;
  readonly signal?: AbortSignal;
  /** How long to wait for a database that went away. Default 30 s. */
  readonly reopenMs?: number;
}

interface Lane {
  readonly scratch: Scratch;
  readonly sessions: SessionPool;
  readonly generation: number;
}

/** Statements that waited for their time-out: the schedule does not fit the case any more. */
const stuck: ReadonlySet<ErrorClass> = new Set(['lock-timeout', 'statement-timeout', 'cancelled']);
const gone: ReadonlySet<ErrorClass> = new Set(['connection-lost', 'crash']);
const mostDeaths = 3;
/** Long enough for InnoDB, which counts lock waits in whole seconds. */
const shortLimits: SessionLimits = { statementTimeoutMs: 5_000, lockTimeoutMs: 1_000 };

/** The set-up of a candidate fails: nothing was run. */
class BadSetup extends IsoldeError {
  constructor(message: string, options: { readonly cause: unknown }) {
    super('target', message, options);
  }
}

export class DatabaseOracle implements TrialOracle {
  readonly lanes: number;
  #wanted: string | undefined;
  #target: Target;
  #generation = 0;
  #reopening: Promise<void> | undefined;
  readonly #lanes = new Map<number, Lane>();

  private constructor(
    target: Target,
    private readonly options: DatabaseOracleOptions,
  ) {
    this.#target = target;
    this.lanes = options.lanes ?? 1;
  }

  static async open(options: DatabaseOracleOptions): Promise<DatabaseOracle> {
    return new DatabaseOracle(await options.open(), options);
  }

  get judge(): Judge {
    return this.options.judge;
  }

  get target(): Target {
    return this.#target;
  }

  /** Sets the finding that trials look for. */
  lookFor(identity: string): void {
    this.#wanted = identity;
  }

  async run(candidate: Candidate, lane: number): Promise<TrialResult> {
    if (candidate.case.sessions.length === 0) return { verdict: 'none' };
    return settleVerdict(() => this.#runOnce(candidate, lane), this.options.repeat ?? repeatFor(candidate));
  }

  /** Runs a case once and returns what happened and what is wrong with it. */
  async observe(
    candidate: Candidate,
    lane = 0,
  ): Promise<{ readonly history: History; readonly findings: readonly Finding[] }> {
    for (let deaths = 1; ; deaths++) {
      const generation = this.#generation;
      let cause: unknown;
      try {
        const { scratch, sessions } = await this.#laneOf(lane);
        const history = await runScheduled(scratch, candidate, {
          target: this.#target,
          sessions,
          ...(this.options.level !== undefined && { level: this.options.level }),
        });
        const lost = history.operations.find(isLost);
        if (lost === undefined)
          return { history, findings: this.options.judge.findings(history, this.#target) };
        cause = new IsoldeError('target', `the database went away: ${lost.error!.message}`);
        if (deaths >= mostDeaths) return { history, findings: [] };
      } catch (error) {
        const mayReturn =
          error instanceof IsoldeError && (error.code === 'connect' || error.code === 'target');
        if (mayReturn && (await this.#isAlive(lane))) throw new BadSetup(error.message, { cause: error });
        if (!mayReturn || deaths >= mostDeaths || this.options.signal?.aborted === true) throw error;
        cause = error;
      }
      await this.#reopen(generation, cause);
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.#lanes.values()].map(closeLane));
    this.#lanes.clear();
    await this.#target.close();
  }

  async #runOnce(candidate: Candidate, lane: number): Promise<TrialResult> {
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

  /** Whether the database still does what an empty set-up asks. If so, what failed was the candidate's set-up. */
  async #isAlive(lane: number): Promise<boolean> {
    const open = this.#lanes.get(lane);
    if (open?.generation !== this.#generation) return false;
    return open.scratch.reset([]).then(
      () => true,
      () => false,
    );
  }

  async #laneOf(number: number): Promise<Lane> {
    await this.#reopening;
    const open = this.#lanes.get(number);
    if (open?.generation === this.#generation) return open;
    const scratch = await this.#target.createScratch();
    const sessions = new SessionPool(scratch, this.options.limits ?? shortLimits);
    const lane = { scratch, sessions, generation: this.#generation };
    this.#lanes.set(number, lane);
    return lane;
  }

  /** Opens the database again, once for all lanes that lost it. */
  #reopen(generation: number, cause: unknown): Promise<void> {
    if (generation !== this.#generation) return Promise.resolve();
    this.#reopening ??= this.#openAgain(cause).finally(() => {
      this.#reopening = undefined;
    });
    return this.#reopening;
  }

  async #openAgain(cause: unknown): Promise<void> {
    const { open, reopenMs = 30_000, signal } = this.options;
    await Promise.all([...this.#lanes.values()].map(closeLane));
    this.#lanes.clear();
    await this.#target.close().catch(() => undefined);
    const giveUpAt = performance.now() + reopenMs;
    for (let pauseMs = 100; ; pauseMs = Math.min(2 * pauseMs, 2_000)) {
      try {
        this.#target = await open();
        this.#generation++;
        return;
      } catch (error) {
        if (!(error instanceof IsoldeError) || performance.now() > giveUpAt || signal?.aborted === true) {
          throw error instanceof IsoldeError && error.code === 'connect' ? error : (cause ?? error);
        }
      }
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }
}

/**
 * One run tells where statements go out one at a time. Where some go out together the engine may order them either way, so
 * a finding that shows must show twice before it is believed.
 */
function repeatFor({ schedule }: Candidate): RepeatOptions {
  const parallel = schedule.batches.some((batch) => batch.length > 1);
  return parallel ? { agree: 2, agreeMissing: 1 } : { agree: 1 };
}

/** Whether the database hung up; a statement that we gave up waiting for has no end. */
function isLost({ error, end }: Operation): boolean {
  return error !== undefined && end !== null && gone.has(error.class);
}

/** A database that is gone cannot be tidied up; nothing in it is left to tidy either. */
async function closeLane({ scratch, sessions }: Lane): Promise<void> {
  await sessions.close().catch(() => undefined);
  await scratch.drop().catch(() => undefined);
}
