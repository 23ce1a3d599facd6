/**
 * A database used in several lanes at once, each with a scratch namespace and connections of its own that stay open from
 * run to run, and what it takes to go on when the database goes away: close what is left, open it again once for all lanes,
 * give every lane a new scratch when it next asks.
 *
 * A generation is the time between two openings. Who saw the database go away says in which generation that was, so that ten
 * lanes that lose their connections together open it once.
 */
import { errorText, IsoldeError } from '../errors.js';
import type { Scratch, Target } from '../targets/index.js';
import { type SessionLimits, SessionPool } from './session-pool.js';

export interface DatabaseLanesOptions {
  /** Opens the database; called again when it went away. */
  readonly open: () => Promise<Target>;
  /** Default: short ones. */
  readonly limits?: SessionLimits;
  readonly signal?: AbortSignal;
  /** How long to wait for a database that went away. Default 30 s. */
  readonly reopenMs?: number;
  readonly onReopen?: (cause: string) => void;
}

export interface DatabaseLane {
  readonly scratch: Scratch;
  readonly sessions: SessionPool;
  readonly generation: number;
}

/** Long enough for InnoDB, which counts lock waits in whole seconds. */
const shortLimits: SessionLimits = { statementTimeoutMs: 5_000, lockTimeoutMs: 1_000 };

export class DatabaseLanes {
  #target: Target;
  #generation = 0;
  #reopening: Promise<boolean> | undefined;
  readonly #lanes = new Map<number, DatabaseLane>();

  private constructor(
    target: Target,
    private readonly options: DatabaseLanesOptions,
  ) {
    this.#target = target;
  }

  /** With a scratch for the first lane: a database that has none to give from the start did not go away. */
  static async open(options: DatabaseLanesOptions): Promise<DatabaseLanes> {
    const lanes = new DatabaseLanes(await options.open(), options);
    try {
      await lanes.lane(0);
    } catch (error) {
      await lanes.close().catch(() => undefined);
      throw error;
    }
    return lanes;
  }

  get target(): Target {
    return this.#target;
  }

  get generation(): number {
    return this.#generation;
  }

  async lane(number: number): Promise<DatabaseLane> {
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

  /** Whether the lane's scratch still does what an empty set-up asks; if so, what failed was a case's set-up. */
  async isAlive(number: number): Promise<boolean> {
    const lane = this.#lanes.get(number);
    if (lane?.generation !== this.#generation) return false;
    return lane.scratch.reset([]).then(
      () => true,
      () => false,
    );
  }

  /**
   * Gives the lane a new scratch and new sessions: what the old ones hold (a transaction nobody knows of) ends with them. False:
   * the database does not do as much.
   */
  async renew(number: number): Promise<boolean> {
    const lane = this.#lanes.get(number);
    this.#lanes.delete(number);
    if (lane !== undefined) await closeLane(lane);
    return this.lane(number).then(
      () => this.isAlive(number),
      () => false,
    );
  }

  /**
   * Opens the database again, unless that was done since the generation given; false if it was told to stop before it
   * could. Rejects if the database does not come back in time.
   */
  reopen(generation: number, cause: string): Promise<boolean> {
    if (generation !== this.#generation) return Promise.resolve(true);
    this.#reopening ??= this.#openAgain(cause).finally(() => {
      this.#reopening = undefined;
    });
    return this.#reopening;
  }

  async close(): Promise<void> {
    await this.#reopening?.catch(() => undefined);
    await this.#closeLanes();
    await this.#target.close();
  }

  async #openAgain(cause: string): Promise<boolean> {
    const { open, reopenMs = 30_000, signal, onReopen } = this.options;
    onReopen?.(cause);
    await this.#closeLanes();
    await this.#target.close().catch(() => undefined);
    const giveUpAt = performance.now() + reopenMs;
    for (let pauseMs = 100; ; pauseMs = Math.min(2 * pauseMs, 2_000)) {
      try {
        this.#target = await open();
        this.#generation++;
        return true;
      } catch (error) {
        if (!(error instanceof IsoldeError)) throw error;
        if (signal?.aborted === true) return false;
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

  /** A database that is gone cannot be tidied up; nothing in it is left to tidy either. */
  async #closeLanes(): Promise<void> {
    const lanes = [...this.#lanes.values()];
    this.#lanes.clear();
    await Promise.all(lanes.map(closeLane));
  }
}

async function closeLane({ scratch, sessions }: DatabaseLane): Promise<void> {
  await sessions.close().catch(() => undefined);
  await scratch.drop().catch(() => undefined);
}
