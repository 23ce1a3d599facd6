/**
 * The database under hunt: one target, a scratch namespace with its own connections for each lane, and what it takes to
 * go on when the database goes away: close what is left, open it again, give every lane a new scratch.
 *
 * A run that saw the database go away returns that as a finding of its history (`server-finding.ts`). Whether the case
 * of this lane or of another one killed it, only a replay with no other lane running can tell: `alone`.
 */

import type { Case, Schedule, ScheduledCase } from '../cases/index.js';
import { type Finding, verifyMechanism } from '../check/index.js';
import { checkInstrumented, instrumentCase } from '../check/instrument/index.js';
import type { Contract, Level } from '../contracts/index.js';
import { errorText, IsoldeError } from '../errors.js';
import { runFree, runScheduled, type SessionLimits, SessionPool } from '../execute/index.js';
import type { History } from '../histories/index.js';
import type { Scratch, Target } from '../targets/index.js';
import type { Mode } from './round.js';
import { serverFinding, wentAway } from './server-finding.js';

/** Something to run and judge. */
export interface Trial {
  readonly case: Case;
  /** Absent: a free run. */
  readonly schedule?: Schedule;
  /** Queries before and after a free run. */
  readonly observe?: readonly string[];
  readonly mode: Mode;
  readonly level: Level;
  readonly contract: Contract;
}

export type Observed =
  /** The history as the author of the case knows it, and what is wrong with it. */
  | { readonly kind: 'ran'; readonly history: History; readonly findings: readonly Finding[] }
  /** The set-up failed: nothing was run. */
  | { readonly kind: 'bad-setup'; readonly message: string }
  /** The hunt is being stopped, or the database went away before anything ran. */
  | { readonly kind: 'cut' };

export interface DatabaseOptions {
  /** Opens the database; called again when it went away. */
  readonly open: () => Promise<Target>;
  readonly limits?: SessionLimits;
  readonly signal?: AbortSignal;
  /** How long to wait for a database that went away. Default 30 s. */
  readonly reopenMs?: number;
  readonly onReopen?: (cause: string) => void;
}

interface Lane {
  readonly scratch: Scratch;
  readonly sessions: SessionPool;
  readonly generation: number;
}

/** Long enough for InnoDB, which counts lock waits in whole seconds. */
const shortLimits: SessionLimits = { statementTimeoutMs: 5_000, lockTimeoutMs: 1_000 };

export class Database {
  #target: Target;
  #generation = 0;
  #reopening: Promise<void> | undefined;
  readonly #lanes = new Map<number, Lane>();
  /** Trials running now, and the one that must run alone. */
  #running = 0;
  #alone: Promise<unknown> | undefined;
  #quiet: () => void = () => undefined;

  private constructor(
    target: Target,
    private readonly options: DatabaseOptions,
  ) {
    this.#target = target;
  }

  static async open(options: DatabaseOptions): Promise<Database> {
    return new Database(await options.open(), options);
  }

  get target(): Target {
    return this.#target;
  }

  /** Runs and judges. Rejects only when the database cannot be opened again. */
  async observe(trial: Trial, lane: number, alone = false): Promise<Observed> {
    while (!alone && this.#alone !== undefined) await this.#alone;
    this.#running++;
    try {
      return await this.#observe(trial, lane);
    } finally {
      this.#running--;
      this.#quiet();
    }
  }

  /** Calls `use` while no other lane runs anything; inside it, observe with `alone` set. */
  async alone<T>(use: () => Promise<T>): Promise<T> {
    while (this.#alone !== undefined) await this.#alone;
    const used = (async () => {
      while (this.#running > 0) {
        await new Promise<void>((resolve) => {
          this.#quiet = resolve;
        });
      }
      return use();
    })();
    this.#alone = used
      .catch(() => undefined)
      .then(() => {
        this.#alone = undefined;
      });
    return used;
  }

  async close(): Promise<void> {
    await this.#reopening?.catch(() => undefined);
    await Promise.all([...this.#lanes.values()].map(closeLane));
    this.#lanes.clear();
    await this.#target.close();
  }

  async #observe(trial: Trial, number: number): Promise<Observed> {
    const { signal } = this.options;
    const generation = this.#generation;
    try {
      const lane = await this.#laneOf(number);
      const observed = await this.#run(trial, lane);
      if (signal?.aborted === true) return { kind: 'cut' };
      if (!wentAway(observed.history)) return observed;
      await this.#reopen(generation, `${trial.case.name} lost its connection`);
      const finding = serverFinding(observed.history);
      return { ...observed, findings: finding === undefined ? [] : [finding] };
    } catch (error) {
      if (signal?.aborted === true) return { kind: 'cut' };
      if (!(error instanceof IsoldeError) || (error.code !== 'connect' && error.code !== 'target'))
        throw error;
      if (await this.#isAlive(number)) return { kind: 'bad-setup', message: error.message };
      await this.#reopen(generation, error.message);
      return { kind: 'cut' };
    }
  }

  async #run(trial: Trial, { scratch, sessions }: Lane): Promise<Observed & { kind: 'ran' }> {
    const target = this.#target;
    const { signal } = this.options;
    const options = { target, sessions, level: trial.level, ...(signal && { signal }) };
    const go = (scheduled: ScheduledCase, observe: readonly string[]) =>
      trial.schedule === undefined
        ? runFree(scratch, scheduled.case, { ...options, observe })
        : runScheduled(scratch, scheduled, { ...options, observe });
    if (trial.mode === 'plain') {
      const history = await go(trial, trial.observe ?? []);
      const judged = signal?.aborted !== true && !wentAway(history);
      return {
        kind: 'ran',
        history,
        findings: judged ? verifyMechanism(history, trial.contract).findings : [],
      };
    }
    const instrumented = instrumentCase(trial, target.dialect, {
      returning: target.name !== 'mysql',
      contract: trial.contract,
    });
    const raw = await go(instrumented.scheduled, instrumented.observe);
    const { history, findings } = checkInstrumented(raw, instrumented, { contract: trial.contract });
    return { kind: 'ran', history, findings };
  }

  /** Whether the lane's scratch still does what an empty set-up asks; if so, what failed was the case's set-up. */
  async #isAlive(number: number): Promise<boolean> {
    const lane = this.#lanes.get(number);
    if (lane?.generation !== this.#generation) return false;
    return lane.scratch.reset([]).then(
      () => true,
      () => false,
    );
  }

  async #laneOf(number: number): Promise<Lane> {
    await this.#reopening;
    const open = this.#lanes.get(number);
    if (open?.generation === this.#generation) return open;
    const generation = this.#generation;
    const scratch = await this.#target.createScratch();
    const sessions = new SessionPool(scratch, this.options.limits ?? shortLimits);
    const lane = { scratch, sessions, generation };
    this.#lanes.set(number, lane);
    return lane;
  }

  /** Opens the database again, once for all lanes that lost it. */
  #reopen(generation: number, cause: string): Promise<void> {
    if (generation !== this.#generation) return Promise.resolve();
    this.#reopening ??= this.#openAgain(cause).finally(() => {
      this.#reopening = undefined;
    });
    return this.#reopening;
  }

  async #openAgain(cause: string): Promise<void> {
    const { open, reopenMs = 30_000, signal, onReopen } = this.options;
    onReopen?.(cause);
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
        if (!(error instanceof IsoldeError)) throw error;
        if (signal?.aborted === true) return;
        if (performance.now() > giveUpAt) {
          throw new IsoldeError(
            'connect',
            `the database went away (${cause}) and could not be opened again: ${errorText(error)}`,
            { cause: error },
          );
        }
      }
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }
}

/** A database that is gone cannot be tidied up; nothing in it is left to tidy either. */
async function closeLane({ scratch, sessions }: Lane): Promise<void> {
  await sessions.close().catch(() => undefined);
  await scratch.drop().catch(() => undefined);
}
