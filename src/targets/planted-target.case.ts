/** Databases with a planted bug, for tests: a real engine whose statements or answers are changed in one known way. */
import type { Answer, Scratch, Session, Target } from './target.js';

/** Sends something else, or changes the answer. `send` talks to the real session. */
export type Planted = (
  sql: string,
  send: (sql: string) => Promise<Answer>,
  memory: PlantedMemory,
) => Promise<Answer>;

/** What a planted bug remembers: of its session, and of the whole database. */
export interface PlantedMemory {
  readonly session: Map<string, unknown>;
  readonly database: Map<string, unknown>;
}

export interface PlantedBug {
  readonly execute?: Planted;
  /** What happens when a session is closed, before it is. */
  readonly close?: (send: (sql: string) => Promise<Answer>, memory: PlantedMemory) => Promise<void>;
  /** What is lost when the database comes back after `reopen`, or after a `kill` that is only played. */
  readonly losesWhenOpened?: string;
  /** What happens when a statement is cancelled; absent: the real thing. */
  readonly cancel?: 'reported-only';
  /** What happens to a statement whose writes fail; absent: the real thing. */
  readonly writeError?: 'reported-only';
}

export function withPlanted(target: Target, bug: PlantedBug): Target {
  let opened: Scratch | undefined;
  const database = new Map<string, unknown>();
  return new Proxy(target, {
    get(real, name) {
      if (name === 'createScratch')
        return async () => {
          database.clear();
          opened = plantedScratch(await real.createScratch(), bug, database);
          return opened;
        };
      if (name === 'kill' && bug.losesWhenOpened !== undefined) return () => opened?.reopen?.();
      if (name === 'limitWrites' && bug.writeError !== undefined)
        return async (bytes: number | undefined) => void database.set(unwritable, bytes !== undefined);
      const value = Reflect.get(real, name, real) as unknown;
      return typeof value === 'function' ? value.bind(real) : value;
    },
  });
}

const unwritable = 'writes fail';

function plantedScratch(scratch: Scratch, bug: PlantedBug, database: Map<string, unknown>): Scratch {
  return new Proxy(scratch, {
    get(real, name) {
      if (name === 'openSession')
        return async (options: Parameters<Scratch['openSession']>[0]) =>
          plantedSession(await real.openSession(options), bug, { session: new Map(), database });
      if (name === 'reopen' && bug.losesWhenOpened !== undefined)
        return async () => {
          await real.reopen?.();
          const limits = { statementTimeoutMs: 5000, lockTimeoutMs: 5000 };
          const session = await real.openSession({ level: 'serializable', ...limits });
          await session.execute(bug.losesWhenOpened!);
          await session.close();
        };
      const value = Reflect.get(real, name, real) as unknown;
      return typeof value === 'function' ? value.bind(real) : value;
    },
  });
}

function plantedSession(session: Session, bug: PlantedBug, memory: PlantedMemory): Session {
  const send = (sql: string) => session.execute(sql);
  let cancelled = false;
  return {
    id: session.id,
    execute: async (sql) => {
      const answer = await (bug.execute === undefined ? send(sql) : bug.execute(sql, send, memory));
      if (memory.database.get(unwritable) === true)
        return { ...answer, error: { class: 'other', message: 'I/O error' } };
      if (!cancelled) return answer;
      cancelled = false;
      return { transaction: 'none', error: { class: 'cancelled', message: 'cancelled' } };
    },
    cancel: async () => {
      if (bug.cancel === 'reported-only') cancelled = true;
      else await session.cancel();
    },
    close: async () => {
      await bug.close?.(send, memory);
      await session.close();
    },
  };
}
