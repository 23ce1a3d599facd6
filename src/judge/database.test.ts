import { expect, it } from 'vitest';
import { parseScript } from '../cases/index.js';
import { openTarget, type Session, type Target } from '../targets/index.js';
import { Database } from './database.js';

it('a run that loses a connection leaves the runs of other lanes alone', async () => {
  let opened = 0;
  let release: () => void = () => undefined;
  const slow = new Promise<void>((resolve) => {
    release = resolve;
  });
  const open = async (): Promise<Target> => {
    opened++;
    return withSessions(await openTarget('duckdb:'), async (sql, session) => {
      if (sql.includes("'lost'"))
        return { error: { class: 'connection-lost', message: 'no answer' }, transaction: 'lost' };
      if (sql.includes("'slow'")) await slow;
      return session.execute(sql);
    });
  };
  const database = await Database.open({ open });
  try {
    const other = database.observe(request("SELECT 'slow' FROM t"), 1);
    const lost = await database.observe(request("SELECT 'lost' FROM t"), 0);
    expect(lost).toMatchObject({ kind: 'ran', findings: [{ kind: 'connection-lost' }] });
    release();
    expect(await other).toMatchObject({ kind: 'ran', findings: [] });
    expect(await database.observe(request('SELECT a FROM t'), 0)).toMatchObject({
      kind: 'ran',
      findings: [],
    });
    expect(opened).toBe(1);
  } finally {
    release();
    await database.close();
  }
});

function request(read: string) {
  const text = `CREATE TABLE t (a INT);\nT1: BEGIN\nT1: ${read}\nT1: SELECT a FROM t\nT1: COMMIT`;
  const { case: program, schedule } = parseScript(text, { file: 'case', dialect: 'duckdb' });
  return { case: program, ...(schedule && { schedule }), oracle: 'mechanism' } as const;
}

/** The target with other answers of its sessions. */
function withSessions(
  target: Target,
  execute: (sql: string, session: Session) => ReturnType<Session['execute']>,
): Target {
  return Object.assign(Object.create(target) as Target, {
    async createScratch() {
      const scratch = await target.createScratch();
      return {
        namespace: scratch.namespace,
        reset: (setup: readonly string[]) => scratch.reset(setup),
        drop: () => scratch.drop(),
        waiting: async () => new Set<Session>(),
        async openSession(options: Parameters<typeof scratch.openSession>[0]): Promise<Session> {
          const session = await scratch.openSession(options);
          return {
            id: session.id,
            cancel: () => session.cancel(),
            close: () => session.close(),
            execute: (sql: string) => execute(sql, session),
          };
        },
      };
    },
  });
}
