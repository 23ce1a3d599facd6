/** A private server leaves nothing behind, however its owner ends, and runs from binaries in awkward places. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { connect } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { isRunning } from '../../running.js';
import { eventually } from '../conformance/lab.case.js';
import { postgresDriver } from './index.js';
import { describePostgres, failureOf, openSession, startServer } from './postgres-lab.case.js';
import { startPostgresServer } from './private-server.js';
import { findNpmBinaries, linkLibraries } from './server-binaries.js';

const olderBinaries = ['16', '15', '14', '13']
  .map((major) => `/usr/lib/postgresql/${major}`)
  .find(existsSync);

/** A process of its own that starts a server, says its process id, and from then on only whether it crashed. */
const ownerScript = `
  const { createServer } = await import('vite');
  const vite = await createServer({
    configFile: false,
    appType: 'custom',
    logLevel: 'silent',
    optimizeDeps: { noDiscovery: true },
    server: { middlewareMode: true, ws: false, hmr: false, watch: null },
  });
  const { startPostgresServer } = await vite.ssrLoadModule('/src/targets/postgres/private-server.ts');
  const scratchFolder = process.env.SCRATCH_FOLDER;
  const server = await startPostgresServer({ settings: {}, scratchFolder, startTimeoutMs: 30000 });
  console.log(server.pid);
  setInterval(async () => {
    if (await server.hasCrashed()) console.log('crashed');
  }, 100);
`;

describePostgres('a private server', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'isolde-test-'));
    chmodSync(folder, 0o755);
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('listens on 127.0.0.1 only, whatever the URL asks for', async () => {
    const server = await startServer({ listen_addresses: '*' });
    expect(server.port).toBeGreaterThanOrEqual(20_000);
    expect(server.port).toBeLessThan(32_768);
    const outside = Object.values(networkInterfaces())
      .flat()
      .filter((address) => address !== undefined && !address.internal && address.family === 'IPv4')
      .map((address) => address!.address);
    for (const host of outside) {
      const reached = await new Promise<boolean>((resolve) => {
        const socket = connect({ host, port: server.port, timeout: 1000 });
        socket.on('connect', () => resolve(true)).on('error', () => resolve(false));
        socket.on('timeout', () => resolve(false)).unref();
      });
      expect(reached, host).toBe(false);
    }
    await server.stop();
  });

  it.runIf(process.getuid?.() === 0)(
    'says which folder the user it runs as cannot enter, and what to do',
    async () => {
      const closed = join(folder, 'closed');
      mkdirSync(join(closed, 'inside'), { recursive: true });
      chmodSync(closed, 0o700);
      const opened = postgresDriver.open('postgres:', { scratchFolder: join(closed, 'inside') });
      const { message } = await failureOf(opened);
      expect(message).toContain(`cannot enter ${closed}. `);
      expect(message).toMatch(/chmod o\+x .*TMPDIR/);
      expect(readdirSync(join(closed, 'inside'))).toEqual([]);
    },
  );

  it('removes its folder and its process when it is closed', async () => {
    const target = await postgresDriver.open('postgres:', { scratchFolder: folder });
    expect(readdirSync(folder)).toHaveLength(1);
    await target.close();
    await target.close();
    expect(readdirSync(folder)).toEqual([]);
  });

  it.each([
    ['dies with its owner, even by SIGKILL', false],
    ['that died before its owner leaves no folder behind', true],
  ])('%s', async (_title, serverFirst) => {
    const owner = spawn(process.execPath, ['--input-type=module', '-e', ownerScript], {
      cwd: process.cwd(),
      env: { ...process.env, SCRATCH_FOLDER: folder },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const lines = createInterface(owner.stdout);
    const [line] = (await once(lines, 'line')) as [string];
    const pid = Number(line);
    expect(isRunning(pid)).toBe(true);
    if (serverFirst) {
      process.kill(pid, 'SIGKILL');
      expect(await once(lines, 'line')).toEqual(['crashed']);
    }
    owner.kill('SIGKILL');
    await eventually(10_000, 'the server is gone', async () => !isRunning(pid));
    await eventually(10_000, 'its folder is gone', async () => readdirSync(folder).length === 0);
  });

  it.skipIf(process.platform !== 'linux')('leaves no shared memory behind when it was killed', async () => {
    const server = await startPostgresServer({ settings: {}, scratchFolder: folder, startTimeoutMs: 60_000 });
    const [name] = readdirSync(folder);
    const data = join(folder, name!, 'data');
    const segment = readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')[6]?.trim().split(/\s+/)[1];
    const segments = () =>
      readFileSync('/proc/sysvipc/shm', 'utf8')
        .split('\n')
        .map((line) => line.trim().split(/\s+/)[1]);
    expect(segments()).toContain(segment);
    // Of what it shares with its workers nothing is in /dev/shm either.
    expect(readdirSync(join(data, 'pg_dynshmem'))).not.toEqual([]);
    process.kill(server.pid, 'SIGKILL');
    await eventually(20_000, 'the end of the server', () => server.hasCrashed());
    await server.stop();
    await eventually(20_000, 'the end of the segment', async () => !segments().includes(segment));
    expect(readdirSync(folder)).toEqual([]);
  });

  it('says what a setting it does not know is', async () => {
    const error = await failureOf(
      postgresDriver.open('postgres:?no_such_setting=1', { scratchFolder: folder }),
    );
    expect([error.code, error.message]).toEqual(['target', expect.stringContaining('no_such_setting')]);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('takes settings from its URL', async () => {
    const target = await postgresDriver.open('postgres:?default_transaction_isolation=serializable', {});
    expect([target.defaultLevel, target.stamp.url]).toEqual([
      'serializable',
      'postgres:?default_transaction_isolation=serializable',
    ]);
    await target.close();
  });

  it('needs a folder with the programs in it', async () => {
    const error = await failureOf(postgresDriver.open(`postgres:?binaries=${folder}`, {}));
    expect([error.code, error.message]).toEqual([
      'engine-missing',
      expect.stringContaining('no bin/postgres'),
    ]);
  });

  it('runs from binaries without library links, below a folder its user cannot enter', async () => {
    const found = findNpmBinaries();
    if ('missing' in found) throw new Error(found.missing);
    const home = join(folder, 'home');
    cpSync(found.folder, join(home, 'native'), {
      recursive: true,
      preserveTimestamps: true,
      filter: (path) => !/\.a$|locale$|pgxs$|include$/.test(path) && !lstatSync(path).isSymbolicLink(),
    });
    chmodSync(home, 0o700);
    const target = await postgresDriver.open(`postgres:?binaries=${join(home, 'native')}`, {});
    const scratch = await target.createScratch();
    const session = await openSession(scratch);
    expect((await session.execute('SELECT 1')).rows).toEqual([[1]]);
    await target.close();
  });

  it('has the library names elsewhere when they cannot be made in place', async () => {
    const native = join(folder, 'native');
    mkdirSync(native);
    const links = [{ source: 'native/lib/libx.so.1.2', target: 'native/lib/libx.so.1' }];
    writeFileSync(join(native, 'pg-symlinks.json'), JSON.stringify(links));
    // There is no folder native/lib, so nothing can be made in it.
    const elsewhere = join(folder, 'elsewhere');
    expect(await linkLibraries(native, elsewhere)).toBe(elsewhere);
    expect(readlinkSync(join(elsewhere, 'libx.so.1'))).toBe(join(folder, 'native/lib/libx.so.1.2'));
    expect(await linkLibraries(native, elsewhere)).toBe(elsewhere);
  });

  it('is built anew when a cleaner of temporary folders took files out of the template', async () => {
    const cache = join(tmpdir(), `isolde-postgres-${process.getuid?.()}`);
    const templates = readdirSync(cache).filter((name) => name.endsWith('-data1'));
    expect(templates.length).toBeGreaterThan(0);
    for (const template of templates)
      rmSync(join(cache, template, 'data', 'global', 'pg_control'), { force: true });
    const server = await startServer();
    await server.stop();
  });

  it.skipIf(olderBinaries === undefined)('of an older version runs side by side', async () => {
    const older = await postgresDriver.open(`postgres:?binaries=${olderBinaries}`, {});
    const newer = await postgresDriver.open('postgres:', {});
    expect(Number.parseInt(older.stamp.version, 10)).toBeLessThan(Number.parseInt(newer.stamp.version, 10));
    const scratch = await older.createScratch();
    const setup = ['CREATE TABLE t (id SERIAL, v INT)', 'INSERT INTO t (v) VALUES (10)'];
    await scratch.reset(setup);
    const session = await openSession(scratch);
    await session.execute('INSERT INTO t (v) VALUES (20)');
    await scratch.reset(setup);
    expect((await session.execute('INSERT INTO t (v) VALUES (30) RETURNING *')).rows).toEqual([[2, 30]]);
    await Promise.all([older.close(), newer.close()]);
  });
});

describePostgres('a strict umask', () => {
  it.skipIf(process.getuid?.() !== 0).each(['077', '027'])(
    '%s does not keep the server’s user out of our folders',
    async (mask) => {
      const folder = mkdtempSync(join(tmpdir(), 'isolde-umask-'));
      chmodSync(folder, 0o755);
      const found = findNpmBinaries();
      if ('missing' in found) throw new Error(found.missing);
      // Installed under that umask: nobody but root can read the programs, so they are copied to the cache.
      const hidden = join(folder, 'hidden');
      mkdirSync(hidden, { mode: 0o700 });
      cpSync(found.folder, join(hidden, 'native'), { recursive: true });
      const before = { umask: process.umask(mask), tmpdir: process.env.TMPDIR };
      process.env.TMPDIR = folder;
      try {
        for (const url of [`postgres:?binaries=${join(hidden, 'native')}`, 'postgres:']) {
          const target = await postgresDriver.open(url, {});
          await target.close();
        }
      } finally {
        process.umask(before.umask);
        if (before.tmpdir === undefined) delete process.env.TMPDIR;
        else process.env.TMPDIR = before.tmpdir;
        rmSync(folder, { recursive: true, force: true });
      }
    },
    120_000,
  );
});
