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

/** What a session must be. */
export interface SessionPlace {
  readonly level: Level;
  /** Of a cluster; default: the first. */
  readonly node?: string;
}

export class SessionPool {
  readonly #idle = new Map<string, Session[]>();
  readonly #runs = new WeakMap<Session, number>();

  constructor(
    private readonly scratch: Scratch,
    readonly limits: SessionLimits,
  ) {}

  /** One session for each of the given places. If one cannot be opened, those opened so far go back. */
  async take(places: readonly SessionPlace[]): Promise<Session[]> {
    const taken: Session[] = [];
    try {
      for (const place of places) {
        const { level, node } = place;
        taken.push(
          this.#idle.get(keyOf(place))?.pop() ??
            (await this.scratch.openSession({ level, ...(node !== undefined && { node }), ...this.limits })),
        );
      }
    } catch (error) {
      await Promise.all(taken.map((session, i) => this.give(places[i]!, session)));
      throw error;
    }
    return taken;
  }

  /** Takes back a session that has no transaction open, and closes it after its last run. */
  async give(place: SessionPlace, session: Session): Promise<void> {
    const runs = (this.#runs.get(session) ?? 0) + 1;
    if (runs >= runsPerSession) return session.close();
    this.#runs.set(session, runs);
    const key = keyOf(place);
    const idle = this.#idle.get(key);
    if (idle === undefined) this.#idle.set(key, [session]);
    else idle.push(session);
  }

  async close(): Promise<void> {
    const sessions = [...this.#idle.values()].flat();
    this.#idle.clear();
    await Promise.all(sessions.map((session) => session.close()));
  }
}

const keyOf = ({ level, node = '' }: SessionPlace): string => `${level}@${node}`;
