/**
 * A database in which cases are run and judged, in lanes that go on when the database goes away.
 *
 * A run that saw the database go away returns that as a finding of its history (`check/server`). Whether the case
 * of this lane or of another one killed it, only a replay with no other lane running can tell: `alone`.
 */
import type { JudgedHistory } from '../check/index.js';
import { wentAway } from '../check/index.js';
import { IsoldeError } from '../errors.js';
import { DatabaseLanes, type DatabaseLanesOptions } from '../execute/index.js';
import type { Target } from '../targets/index.js';
import { type RunRequest, runAndJudge } from './run-and-judge.js';

export type Observed =
  /** The verdict, with the history as the author of the case knows it. */
  | ({ readonly kind: 'ran' } & JudgedHistory)
  /** The set-up failed: nothing was run. */
  | { readonly kind: 'bad-setup'; readonly message: string }
  /** The work is being stopped, or the database went away before anything ran. */
  | { readonly kind: 'cut' };

/** Runs and judges in one lane. Rejects only when the database cannot be opened again. */
export type Observe = (request: RunRequest, lane: number) => Promise<Observed>;

export class Database {
  /** Requests running now, and the one that must run alone. */
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

  /** Runs and judges, once nothing has to run alone any more. */
  readonly observe: Observe = async (request, lane) => {
    while (this.#alone !== undefined) await this.#alone;
    return this.#counted(request, lane);
  };

  /** Calls `use` while no other lane runs anything, with what observes meanwhile: `observe` would wait for its end. */
  async alone<T>(use: (observe: Observe) => Promise<T>): Promise<T> {
    while (this.#alone !== undefined) await this.#alone;
    const used = (async () => {
      while (this.#running > 0) {
        await new Promise<void>((resolve) => {
          this.#quiet = resolve;
        });
      }
      return use((request, lane) => this.#counted(request, lane));
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

  async #counted(request: RunRequest, lane: number): Promise<Observed> {
    this.#running++;
    try {
      return await this.#observe(request, lane);
    } finally {
      this.#running--;
      this.#quiet();
    }
  }

  async #observe(request: RunRequest, number: number): Promise<Observed> {
    const { signal } = this.options;
    const { generation } = this.lanes;
    try {
      const { scratch, sessions } = await this.lanes.lane(number);
      const place = { target: this.target, scratch, sessions, ...(signal && { signal }) };
      const judged = await runAndJudge(request, place);
      if (signal?.aborted === true) return { kind: 'cut' };
      if (wentAway(judged.history)) await this.#goOn(number, generation, request.case.name);
      return { kind: 'ran', ...judged };
    } catch (error) {
      if (signal?.aborted === true) return { kind: 'cut' };
      if (!(error instanceof IsoldeError) || (error.code !== 'connect' && error.code !== 'target'))
        throw error;
      if ((await this.lanes.isAlive(number)) || (await this.lanes.renew(number)))
        return { kind: 'bad-setup', message: error.message };
      await this.lanes.reopen(generation, error.message);
      return { kind: 'cut' };
    }
  }

  /**
   * After a run that lost a connection. Where the database still answers, this lane alone starts afresh: opening it again would close what
   * other lanes are using, and their runs would take that for a server that closed the connection.
   */
  async #goOn(number: number, generation: number, name: string): Promise<void> {
    if (await this.lanes.renew(number)) return;
    await this.lanes.reopen(generation, `${name} lost its connection`);
  }
}
