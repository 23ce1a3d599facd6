/** Servers that are absent, full, refuse us or die: every case ends in a message or an answer, never in a hang. */
import { execFileSync } from 'node:child_process';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually, within } from '../conformance/lab.case.js';
import type { Session } from '../target.js';
import { postgresDriver } from './index.js';
import {
  asUser,
  connectOutsider,
  createOrdinaryUser,
  describePostgres,
  failureOf,
  openSession,
  startServer,
  urlOf,
} from './postgres-lab.case.js';
import type { PrivateServer } from './private-server.js';

const setup = ['CREATE TABLE t (id INT PRIMARY KEY, v INT)', 'INSERT INTO t VALUES (1, 10), (2, 20)'];

describePostgres('a server of the user', () => {
  let server: PrivateServer;
  let url: string;

  beforeAll(async () => {
    server = await startServer({ max_connections: '220' });
    url = await createOrdinaryUser(server);
  });
  afterAll(() => server.stop());

  it.each([
    ['wrong password', { password: 's3cret' }, /password of user "isolde" is wrong/],
    ['unknown user', { user: 'nobody-here', password: 's3cret' }, /password of user "nobody-here" is wrong/],
    ['unknown database', { database: 'missing' }, /there is no database "missing"/],
  ])('that refuses us for %s says so and shows no password', async (_why, parts, expected) => {
    const error = await failureOf(postgresDriver.open(urlOf(server, parts), {}));
    expect([error.code, error.message]).toEqual(['connect', expect.stringMatching(expected)]);
    expect(error.message).not.toMatch(/s3cret/);
    expect(error.message).not.toContain(server.login.password);
  });

  it('that is not there is reported with host and port', async () => {
    const error = await failureOf(postgresDriver.open('postgres://u:s3cret@127.0.0.1:19999/d', {}));
    expect([error.code, error.message]).toEqual(['connect', expect.stringContaining('127.0.0.1:19999')]);
    expect(error.message).not.toContain('s3cret');
  });

  it('where we may not create a schema says which privilege is missing', async () => {
    await asUser(urlOf(server), 'REVOKE CREATE ON DATABASE postgres FROM tester, public');
    const target = await postgresDriver.open(url.replace(/shop$/, 'postgres'), {});
    const error = await failureOf(target.createScratch());
    expect(error.message).toContain('GRANT CREATE ON DATABASE "postgres"');
    await target.close();
  });

  it('carries no password in its stamp', async () => {
    const target = await postgresDriver.open(url, {});
    expect(target.stamp).toMatchObject({
      name: 'postgres',
      version: expect.stringMatching(/^\d+/),
      url: `postgres://tester@127.0.0.1:${server.port}/shop`,
    });
    await target.close();
  });

  it('serves two Isoldes at once, beside a table of the user, and is left as it was found', async () => {
    await asUser(url, 'CREATE TABLE t (id INT)', 'INSERT INTO t VALUES (42)');
    const targets = await Promise.all([postgresDriver.open(url, {}), postgresDriver.open(url, {})]);
    const results = await Promise.all(
      targets.map(async (target, index) => {
        const scratch = await target.createScratch();
        await scratch.reset(setup);
        const session = await openSession(scratch);
        await session.execute(`UPDATE t SET v = ${index}`);
        await scratch.reset(setup);
        await session.execute(`UPDATE t SET v = ${index} WHERE id = 1`);
        return (await session.execute('SELECT v FROM t ORDER BY id')).rows;
      }),
    );
    expect(results).toEqual([
      [[0], [20]],
      [[1], [20]],
    ]);
    await Promise.all(targets.map((target) => target.close()));
    const user = await connectOutsider(url);
    expect((await user.execute('SELECT * FROM t')).rows).toEqual([[42]]);
    const left = `SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'isolde%'`;
    expect((await user.execute(left)).rows).toEqual([[0]]);
    await user.close();
  });

  it('runs 200 sessions, and says when there is no room for more', async () => {
    const target = await postgresDriver.open(url, {});
    const scratch = await target.createScratch();
    await scratch.reset(setup);
    const sessions = await Promise.all(Array.from({ length: 200 }, () => openSession(scratch)));
    const answers = await Promise.all(
      sessions.map((session) => session.execute('UPDATE t SET v = v + 1 WHERE id = 1')),
    );
    expect(answers.filter(({ error }) => error !== undefined)).toEqual([]);
    expect((await sessions[0]!.execute('SELECT v FROM t WHERE id = 1')).rows).toEqual([[210]]);
    const more: Session[] = [];
    const error = await failureOf(
      (async () => {
        for (let extra = 0; extra < 50; extra++) more.push(await openSession(scratch));
      })(),
    );
    expect([error.code, error.message]).toEqual(['connect', expect.stringContaining('no connection left')]);
    expect(more.length).toBeGreaterThan(0);
    await target.close();
  });
});

describePostgres('a server that dies', () => {
  it('by SIGKILL gives every running statement the answer crash, and never hangs', async () => {
    const server = await startServer();
    const target = await postgresDriver.open(urlOf(server), {});
    const scratch = await target.createScratch();
    await scratch.reset(setup);
    const [holder, waiter, sleeper] = [
      await openSession(scratch),
      await openSession(scratch),
      await openSession(scratch),
    ];
    await holder.execute('BEGIN');
    await holder.execute('UPDATE t SET v = 1 WHERE id = 1');
    const pending = [
      waiter.execute('UPDATE t SET v = 2 WHERE id = 1'),
      sleeper.execute('SELECT pg_sleep(30)'),
    ];
    await eventually(2000, 'it waits', async () => (await scratch.waiting()).has(waiter));
    process.kill(server.pid, 'SIGKILL');
    for (const answer of await within(10_000, 'the answers', Promise.all(pending))) {
      expect(answer.error?.class).toBe('crash');
      expect([answer.transaction, answer.ended]).toEqual(['lost', 'unknown']);
    }
    // An idle process of the dead server may still answer once before it notices.
    await eventually(5000, 'the idle session is lost', async () => {
      return (await holder.execute('SELECT 1')).transaction === 'lost';
    });
    expect((await scratch.waiting()).size).toBe(0);
    // So may the one of our own connection.
    await eventually(5000, 'the reset fails', async () => {
      const code = await scratch.reset(setup).then(
        () => 'done',
        (error: { readonly code?: unknown }) => error.code,
      );
      return code === 'connect';
    });
    const left = await within(5000, 'the end', failureOf(target.close()));
    expect(left.message).toContain(`DROP SCHEMA IF EXISTS ${scratch.namespace}`);
    await server.stop();
  });

  it('is recognised as a crash when it was our own, and closing the target still works', async () => {
    const target = await postgresDriver.open('postgres:', {});
    const scratch = await target.createScratch();
    await scratch.reset(setup);
    const session = await openSession(scratch);
    // The process of a connection is a child of the server's main process.
    const parent = execFileSync('ps', ['-o', 'ppid=', '-p', String(session.id)], { encoding: 'utf8' });
    const pending = session.execute('SELECT pg_sleep(30)');
    process.kill(Number(parent), 'SIGKILL');
    expect((await within(10_000, 'the answer', pending)).error?.class).toBe('crash');
    await within(5000, 'drop', scratch.drop());
    await within(5000, 'close', target.close());
  });

  it('in one process only restarts by itself, and the scratch goes on', async () => {
    const target = await postgresDriver.open('postgres:', {});
    const scratch = await target.createScratch();
    await scratch.reset(setup);
    const [victim, other] = [await openSession(scratch), await openSession(scratch)];
    await other.execute('BEGIN');
    const pending = [victim.execute('SELECT pg_sleep(30)'), other.execute('SELECT pg_sleep(30)')];
    process.kill(victim.id, 'SIGKILL');
    const answers = await within(10_000, 'the answers', Promise.all(pending));
    expect(answers.map(({ transaction }) => transaction)).toEqual(['lost', 'lost']);
    // The server tells the others why it ends them, if it still gets to it.
    expect(['crash', 'connection-lost']).toContain(answers[1]!.error?.class);
    await eventually(10_000, 'the server is back', () =>
      scratch.reset(setup).then(
        () => true,
        () => false,
      ),
    );
    const fresh = await openSession(scratch);
    expect((await fresh.execute('SELECT v FROM t ORDER BY id')).rows).toEqual([[10], [20]]);
    await target.close();
  });
});
