/** Private servers come and go without a trace, and a death in mid-statement is an answer. */
import { execFile } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { WireConnection } from '../mysql/mysql-wire.js';
import { mariadbDriver, startMariadbServer } from './index.js';
import { describeLive, mariadbMissing, until } from './live-mariadb.case.js';

const session = { level: 'repeatable read', statementTimeoutMs: 20_000, lockTimeoutMs: 10_000 } as const;

describeLive('connections that fail', (live) => {
  const failure = (url: string) =>
    mariadbDriver.open(url, { connectTimeoutMs: 500 }).then(
      async (target) => {
        await target.close();
        throw new Error('it opened');
      },
      (error: Error & { code?: string }) => error,
    );

  it('says that the password is wrong, without it', async () => {
    const admin = await WireConnection.open(live().server.address);
    await admin.query("CREATE USER ann@localhost IDENTIFIED BY 'right'");
    await admin.quit();
    const error = await failure(live().url('', 'ann:S3CR3T'));
    expect(error).toMatchObject({ code: 'connect' });
    expect(error.message).toMatch(/refuses user "ann" \(wrong password/);
    expect(error.message).not.toContain('S3CR3T');
  });

  it('says that nobody answers', async () => {
    const error = await failure('mariadb://root:S3CR3T@127.0.0.1:1/');
    expect(error).toMatchObject({ code: 'connect' });
    expect(error.message).toMatch(/No server answers at 127\.0\.0\.1:1: .*ECONNREFUSED/);
    expect(error.message).not.toContain('S3CR3T');
  });

  it('does not wait for ever for a server that says nothing', async () => {
    const mute = createServer(() => {});
    const path = join(dirname(live().server.address.socket!), 'mute');
    await new Promise<void>((resolve) => mute.listen(path, resolve));
    expect(await failure(`mariadb://root@localhost/?socket=${path}`)).toMatchObject({ code: 'connect' });
    mute.close();
  });

  it('names a database that does not exist', async () => {
    const error = await failure(live().url().replace('localhost/', 'localhost/nowhere'));
    expect(error.message).toMatch(/has no database "nowhere"/);
  });

  it('names a variable the server does not take', async () => {
    expect((await failure(live().url('&no_such_variable=1'))).message).toMatch(/no_such_variable=1/);
    const global = await failure(live().url('&innodb_rollback_on_timeout=ON'));
    expect(global).toMatchObject({ code: 'usage' });
    expect(global.message).toMatch(/It is global/);
  });

  it('tells a user without rights what to grant', async () => {
    const admin = await WireConnection.open(live().server.address);
    await admin.query("CREATE USER bob@localhost IDENTIFIED BY 'b'");
    const poor = await mariadbDriver.open(live().url('', 'bob:b'), {});
    await expect(poor.createScratch()).rejects.toThrow(/may not create databases.*GRANT ALL ON `isolde\\_%`/);
    await poor.close();
    await admin.query('GRANT ALL ON `isolde\\_%`.* TO bob@localhost');
    const enough = await mariadbDriver.open(live().url('', 'bob:b'), {});
    expect(enough.stamp.settings?.isolde_block_detection).toMatch(/PROCESS/);
    const scratch = await enough.createScratch();
    await scratch.reset(['CREATE TABLE t (id INT PRIMARY KEY)', 'INSERT INTO t VALUES (1)']);
    const [a, b] = [await scratch.openSession(session), await scratch.openSession(session)];
    await a.execute('BEGIN');
    await a.execute('DELETE FROM t');
    const pending = b.execute('DELETE FROM t');
    await until('the wait is estimated', async () => (await scratch.waiting()).has(b));
    await a.execute('COMMIT');
    expect((await pending).error).toBeUndefined();
    await enough.close();
    await admin.quit();
  });
});

describe.skipIf(mariadbMissing !== undefined)('a private server', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'isolde-test-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  it('takes variables, session or global, shows them and follows them in its contract', async () => {
    const target = await mariadbDriver.open(
      'mariadb:?innodb_snapshot_isolation=ON&innodb_rollback_on_timeout=ON',
      { scratchFolder: folder },
    );
    expect(target.stamp).toMatchObject({
      name: 'mariadb',
      settings: { innodb_snapshot_isolation: 'ON', innodb_rollback_on_timeout: 'ON' },
    });
    expect(target.levels.find(({ level }) => level === 'repeatable read')?.contract).toBe(
      'mariadb:repeatable-read+innodb_snapshot_isolation',
    );
    const scratch = await target.createScratch();
    await scratch.reset(['CREATE TABLE t (id INT PRIMARY KEY)', 'INSERT INTO t VALUES (1)']);
    const [a, b] = [
      await scratch.openSession(session),
      await scratch.openSession({ ...session, lockTimeoutMs: 1 }),
    ];
    expect((await a.execute('SELECT @@innodb_snapshot_isolation')).rows).toEqual([[1]]);
    await a.execute('BEGIN');
    await a.execute('DELETE FROM t');
    await b.execute('BEGIN');
    expect(await b.execute('DELETE FROM t')).toMatchObject({
      error: { class: 'lock-timeout' },
      transaction: 'none',
      ended: 'rollback',
    });
    await target.close();
    expect(readdirSync(folder)).toEqual([]);
  });

  it('killed under running statements, answers each of them and later ones, and closes', async () => {
    const server = await startMariadbServer({ folder });
    const target = await mariadbDriver.open(`mariadb://root@localhost/?socket=${server.address.socket}`, {});
    const scratch = await target.createScratch();
    await scratch.reset(['CREATE TABLE t (id INT PRIMARY KEY)', 'INSERT INTO t VALUES (1)']);
    const [a, b, c] = await Promise.all([0, 1, 2].map(() => scratch.openSession(session)));
    await a!.execute('BEGIN');
    await a!.execute('DELETE FROM t');
    await b!.execute('BEGIN');
    const pending = [b!.execute('DELETE FROM t'), c!.execute('SELECT SLEEP(10)')];
    await until('b waits', async () => (await scratch.waiting()).has(b!));
    process.kill(server.pid, 'SIGKILL');
    expect(await pending[0]).toMatchObject({
      error: { class: 'crash' },
      transaction: 'lost',
      ended: 'rollback',
    });
    expect(await pending[1]).toMatchObject({ error: { class: 'crash' }, transaction: 'lost' });
    expect(await a!.execute('COMMIT')).toMatchObject({ transaction: 'lost', ended: 'unknown' });
    expect((await scratch.waiting()).size).toBe(0);
    await expect(scratch.openSession(session)).rejects.toMatchObject({ code: 'connect' });
    await expect(scratch.reset(['CREATE TABLE u (i INT)'])).rejects.toMatchObject({ name: 'IsoldeError' });
    await target.close();
    await server.stop();
    expect(readdirSync(folder)).toEqual([]);
  });

  it('tells a killed connection from a dead server', async () => {
    const target = await mariadbDriver.open('mariadb:', { scratchFolder: folder });
    const scratch = await target.createScratch();
    const [a, b] = [await scratch.openSession(session), await scratch.openSession(session)];
    const pending = a.execute('SELECT SLEEP(10)');
    await b.execute(`KILL CONNECTION ${a.id}`);
    expect(await pending).toMatchObject({ error: { class: 'connection-lost' }, transaction: 'lost' });
    expect((await b.execute('SELECT 1')).rows).toEqual([[1]]);
    await target.close();
    await target.close();
  });

  it('does not outlive a process that was killed', async () => {
    const module = new URL('./mariadb-server.ts', import.meta.url).pathname;
    const script = `
      import { createServer } from 'vite';
      const vite = await createServer({ configFile: false, logLevel: 'error', server: { middlewareMode: true, ws: false }, appType: 'custom' });
      const { startMariadbServer } = await vite.ssrLoadModule(${JSON.stringify(module)});
      const server = await startMariadbServer({ folder: ${JSON.stringify(folder)} });
      console.log(JSON.stringify({ pid: server.pid, socket: server.address.socket }));
      setInterval(() => {}, 1000);`;
    const child = execFile(process.execPath, ['--input-type=module', '-e', script]);
    const line = await new Promise<string>((resolve, reject) => {
      child.stdout!.once('data', resolve);
      child.once('exit', () => reject(new Error('the process ended early')));
    });
    const { pid, socket } = JSON.parse(line) as { pid: number; socket: string };
    expect(existsSync(socket)).toBe(true);
    child.kill('SIGKILL');
    await until('the server is gone and its folder too', () => !isAlive(pid) && !existsSync(dirname(socket)));
  });

  it('says what is missing when its program is', async () => {
    await expect(mariadbDriver.open('mariadb:?binary=/nowhere/mariadbd', {})).rejects.toMatchObject({
      code: 'engine-missing',
      message: expect.stringContaining('/nowhere/mariadbd'),
    });
  });

  it('says why it did not start', async () => {
    const open = mariadbDriver.open('mariadb:?innodb_page_size=12345', { scratchFolder: folder });
    await expect(open).rejects.toMatchObject({ code: 'target' });
    expect(readdirSync(folder)).toEqual([]);
  });
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
