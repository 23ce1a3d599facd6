import { describe, expect, it } from 'vitest';
import { MysqlSession } from './mysql-session.js';
import type { Reply, WireConnection } from './mysql-wire.js';

const ok = (serverStatus: number): Reply => ({
  status: { affectedRows: 0, changedRows: 0, info: '', serverStatus },
});
const open = 3;
const none = 2;

/** A session whose server answers from a script. */
function session(replies: Readonly<Record<string, Reply>>, sent: string[]): MysqlSession {
  const wire = {
    query: async (sql: string) => {
      sent.push(sql);
      return replies[sql]!;
    },
  } as unknown as WireConnection;
  return new MysqlSession(wire, 1, {
    statementTimeoutMs: 1000,
    serverEndsSlowStatements: true,
    kill: async () => undefined,
    serverIsDown: async () => false,
    schemaMayHaveChanged: () => undefined,
    closed: () => undefined,
  });
}

describe('the transaction after a result', () => {
  const rows: Reply = { fields: [], rows: [] };

  it('is asked for where the statement may have ended it, and else is the same', async () => {
    const sent: string[] = [];
    const replies = { BEGIN: ok(open), 'SELECT 1': rows, 'ANALYZE TABLE t': rows, 'DO 0': ok(none) };
    const asked = session(replies, sent);
    await asked.execute('BEGIN');
    expect(await asked.execute('SELECT 1')).toMatchObject({ transaction: 'open' });
    expect(await asked.execute('ANALYZE TABLE t')).toMatchObject({ transaction: 'none', ended: 'commit' });
    expect(await asked.execute('ANALYZE TABLE t')).toMatchObject({ transaction: 'none' });
    expect(sent).toEqual(['BEGIN', 'SELECT 1', 'ANALYZE TABLE t', 'DO 0', 'ANALYZE TABLE t']);
  });
});

describe('the transaction after an error', () => {
  const update = 'UPDATE t SET v = 1';
  const deadlock: Reply = {
    error: { errno: 1213, code: 'ER_LOCK_DEADLOCK', sqlState: '40001', message: 'Deadlock found' },
  };

  it.each([
    ['InnoDB, which rolls everything back', none, 'none'],
    ['MyRocks, which undoes the statement alone', open, 'open'],
  ] as const)('is what the server says: %s', async (_engine, status, transaction) => {
    const sent: string[] = [];
    const asked = session({ BEGIN: ok(open), [update]: deadlock, 'DO 0': ok(status) }, sent);
    await asked.execute('BEGIN');
    expect(await asked.execute(update)).toMatchObject({ error: { class: 'deadlock' }, transaction });
    // The last one is for servers before 5.7, which go on as if a new transaction had begun.
    const ending = transaction === 'none' ? ['ROLLBACK'] : [];
    expect(sent).toEqual(['BEGIN', update, 'DO 0', ...ending]);
  });

  it('is open where the server says so of a START TRANSACTION that it refused (MyRocks)', async () => {
    const sent: string[] = [];
    const start = 'START TRANSACTION WITH CONSISTENT SNAPSHOT';
    const refused: Reply = {
      error: { errno: 4062, code: 'ER_ISOLATION', sqlState: 'HY000', message: 'Only REPEATABLE READ' },
    };
    const asked = session({ [start]: refused, 'DO 0': ok(open), COMMIT: ok(none) }, sent);
    expect(await asked.execute(start)).toMatchObject({ error: { code: '4062' }, transaction: 'open' });
    expect(await asked.execute('COMMIT')).toMatchObject({ transaction: 'none', ended: 'commit' });
    expect(sent).toEqual([start, 'DO 0', 'COMMIT']);
  });

  it('is asked for again where the question itself is answered by a rollback (Galera)', async () => {
    const sent: string[] = [];
    const replies = {
      BEGIN: ok(open),
      [update]: deadlock,
      get 'DO 0'() {
        return sent.filter((sql) => sql === 'DO 0').length === 1 ? deadlock : ok(none);
      },
    };
    const asked = session(replies, sent);
    await asked.execute('BEGIN');
    expect(await asked.execute(update)).toMatchObject({ error: { class: 'deadlock' }, transaction: 'none' });
    expect(sent).toEqual(['BEGIN', update, 'DO 0', 'DO 0', 'ROLLBACK']);
  });

  it('costs no question where none was open', async () => {
    const sent: string[] = [];
    expect(await session({ [update]: deadlock }, sent).execute(update)).toMatchObject({
      transaction: 'none',
    });
    expect(sent).toEqual([update]);
  });
});
