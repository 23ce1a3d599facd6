/**
 * Sessions of one scratch, kept open between runs: opening a connection costs more than most cases.
 * A run takes what it needs and gives back what is still usable.
 *
 * Not for ever: what serves a connection remembers every table it has met (PostgreSQL keeps its catalogue caches as long as the
 * connection), and each run has new tables. After some hundred runs a session is closed, which frees it all.
 */
import type { Level } from '../contracts/index.js';
import type { Scratch, Session } from '../targets/index.js';

export interface SessionLimits {
  readonly statementTimeoutMs: number;
  readonly lockTimeoutMs: number;
}

/** PostgreSQL's caches then hold about a megabyte; a new connection costs some milliseconds. */
const runsPerSession = 300;

export class SessionPool {
  readonly #idle = new Map<Level, Session[]>();
  readonly #runs = new WeakMap<Session, number>();

  constructor(
    private readonly scratch: Scratch,
    readonly limits: SessionLimits,
  ) {}

  /** One session at each of the given levels. If one cannot be opened, those opened so far go back. */
  async take(levels: readonly Level[]): Promise<Session[]> {
    const taken: Session[] = [];
    try {
      for (const level of levels) {
        taken.push(
          this.#idle.get(level)?.pop() ?? (await this.scratch.openSession({ level, ...this.limits })),
        );
      }
    } catch (error) {
      await Promise.all(taken.map((session, i) => this.give(levels[i]!, session)));
      throw error;
    }
    return taken;
  }

  /** Takes back a session that has no transaction open, and closes it after its last run. */
  async give(level: Level, session: Session): Promise<void> {
    const runs = (this.#runs.get(session) ?? 0) + 1;
    if (runs >= runsPerSession) return session.close();
    this.#runs.set(session, runs);
    const idle = this.#idle.get(level);
    if (idle === undefined) this.#idle.set(level, [session]);
    else idle.push(session);
  }

  async close(): Promise<void> {
    const sessions = [...this.#idle.values()].flat();
    this.#idle.clear();
    await Promise.all(sessions.map((session) => session.close()));
  }
}
