/** An engine that dies when it is told to: for what must go on when a server goes away. */
import { IsoldeError } from '../src/errors.js';
import { openTarget, type Session, type Target } from '../src/targets/index.js';

/** DuckDB as a server that dies for good when it gets a certain statement; it must be opened again. */
export async function mortal(kills: RegExp, onDeath: () => void): Promise<Target> {
  const target = await openTarget('duckdb:');
  let dead = false;
  const answer = (kind: 'crash' | 'connection-lost') =>
    ({
      error: { class: kind, message: 'the server is gone' },
      transaction: 'lost',
      ended: 'unknown',
    }) as const;
  const wrap = (session: Session): Session => ({
    id: session.id,
    cancel: () => session.cancel(),
    close: () => session.close(),
    async execute(sql) {
      if (dead) return answer('connection-lost');
      if (!kills.test(sql)) return session.execute(sql);
      dead = true;
      onDeath();
      return answer('crash');
    },
  });
  return {
    ...target,
    name: target.name,
    dialect: target.dialect,
    stamp: target.stamp,
    levels: target.levels,
    defaultLevel: target.defaultLevel,
    features: target.features,
    close: () => target.close(),
    async createScratch() {
      const scratch = await target.createScratch();
      const real = new Map<Session, Session>();
      return {
        namespace: scratch.namespace,
        drop: () => scratch.drop(),
        async reset(setup) {
          if (dead) throw new IsoldeError('connect', 'the server is gone');
          await scratch.reset(setup);
        },
        async openSession(options) {
          const session = await scratch.openSession(options);
          const wrapped = wrap(session);
          real.set(session, wrapped);
          return wrapped;
        },
        async waiting() {
          return new Set([...(await scratch.waiting())].flatMap((session) => real.get(session) ?? []));
        },
      };
    },
  };
}
