/**
 * The database under hunt: runs and judges cases in lanes, which go on when the database goes away.
 *
 * A run that saw the database go away returns that as a finding of its history (`check/server`). Whether the case
 * of this lane or of another one killed it, only a replay with no other lane running can tell: `alone`.
 */

import type { Case, Schedule, ScheduledCase } from '../cases/index.js';
import { type Finding, serverFinding, verifyMechanism, wentAway } from '../check/index.js';
import { checkInstrumented, instrumentCase } from '../check/instrument/index.js';
import type { Contract, Level } from '../contracts/index.js';
import { IsoldeError } from '../errors.js';
import {
  type DatabaseLane,
  DatabaseLanes,
  type DatabaseLanesOptions,
  runFree,
  runScheduled,
} from '../execute/index.js';
import type { History } from '../histories/index.js';
import type { Target } from '../targets/index.js';
import type { Mode } from './round.js';

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

export class Database {
  /** Trials running now, and the one that must run alone. */
  #running = 0;
  #alone: Promise<unknown> | undefined;
  #quiet: () => void = () => undefined;

  private constructor(
    private readonly lanes: DatabaseLanes,
    private readonly options: DatabaseLanesOptions,
  ) {}

  static async open(options: DatabaseLanesOptions): Promise<Database> {
    return new Database(await DatabaseLanes.open(options), options);
  }

  get target(): Target {
    return this.lanes.target;
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

  close(): Promise<void> {
    return this.lanes.close();
  }

  async #observe(trial: Trial, number: number): Promise<Observed> {
    const { signal } = this.options;
    const { generation } = this.lanes;
    try {
      const lane = await this.lanes.lane(number);
      const observed = await this.#run(trial, lane);
      if (signal?.aborted === true) return { kind: 'cut' };
      if (!wentAway(observed.history)) return observed;
      await this.lanes.reopen(generation, `${trial.case.name} lost its connection`);
      const finding = serverFinding(observed.history);
      return { ...observed, findings: finding === undefined ? [] : [finding] };
    } catch (error) {
      if (signal?.aborted === true) return { kind: 'cut' };
      if (!(error instanceof IsoldeError) || (error.code !== 'connect' && error.code !== 'target'))
        throw error;
      if (await this.lanes.isAlive(number)) return { kind: 'bad-setup', message: error.message };
      await this.lanes.reopen(generation, error.message);
      return { kind: 'cut' };
    }
  }

  async #run(trial: Trial, { scratch, sessions }: DatabaseLane): Promise<Observed & { kind: 'ran' }> {
    const { target } = this;
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
}
