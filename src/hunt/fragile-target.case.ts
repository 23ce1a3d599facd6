/** A database that dies, for tests. */
import { type Answer, openTarget, type Target } from '../targets/index.js';

/** DuckDB, except that it dies of every UPDATE. */
export async function fragile(): Promise<Target> {
  const target = await openTarget('duckdb:');
  const answer: Answer = {
    error: { class: 'crash', message: 'the server closed the connection' },
    transaction: 'lost',
  };
  return overriding(target, {
    createScratch: async () => {
      const scratch = await target.createScratch();
      return overriding(scratch, {
        openSession: async (limits) => {
          const session = await scratch.openSession(limits);
          return overriding(session, {
            execute: (sql) => (/^\s*UPDATE/i.test(sql) ? Promise.resolve(answer) : session.execute(sql)),
          });
        },
      });
    },
  });
}

/** An object with some members replaced. */
function overriding<T extends object>(real: T, members: Partial<T>): T {
  return new Proxy(real, {
    get(_, name) {
      const member: unknown = Reflect.get(name in members ? members : real, name);
      return typeof member === 'function' ? member.bind(real) : member;
    },
  });
}
