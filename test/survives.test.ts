/** What can go wrong around a run ends in a clear message and, where something ran, in a valid history file. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createConnection } from 'mysql2/promise';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readWholeHistory } from '../src/histories/index.js';
import { mariadbAvailable, startMariadbServer } from '../src/targets/mariadb/index.js';
import { postgresAvailable, startPostgresServer } from '../src/targets/postgres/index.js';
import { enginesRequired, isolde } from './isolde.js';

const folder = mkdtempSync(join(tmpdir(), 'isolde-survives-test-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function script(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

const lostUpdate = script(
  'lost-update.sql',
  `CREATE TABLE t (id INT PRIMARY KEY, v INT);
INSERT INTO t VALUES (1, 10);
T1: BEGIN
T2: BEGIN
T1: UPDATE t SET v = v + 1 WHERE id = 1
T2: UPDATE t SET v = v + 1 WHERE id = 1
T1: COMMIT
T2: COMMIT
T1: SELECT * FROM t`,
);

/** One server of the user's, as the engine under test. */
interface UserServer {
  readonly url: (change?: { password?: string; database?: string }) => string;
  /** Runs SQL as the user, outside Isolde. */
  readonly sql: (sql: string) => Promise<unknown[]>;
  readonly sleepSql: string;
  /** How many sessions sleep right now. */
  readonly sleepersSql: string;
  readonly kill: () => void;
  readonly stop: () => Promise<void>;
}

async function startPostgres(): Promise<UserServer> {
  const server = await startPostgresServer({ settings: {}, startTimeoutMs: 30_000 });
  const { user, password } = server.login;
  const url: UserServer['url'] = (change = {}) =>
    `postgres://${user}:${change.password ?? password}@${server.host}:${server.port}/${change.database ?? 'postgres'}`;
  const client = new pg.Client({ connectionString: url() });
  client.on('error', () => undefined);
  await client.connect();
  return {
    url,
    sql: async (sql) => (await client.query({ text: sql, rowMode: 'array' })).rows,
    sleepSql: 'SELECT pg_sleep(30)',
    sleepersSql:
      "SELECT count(*)::int FROM pg_stat_activity WHERE query = 'SELECT pg_sleep(30)' AND state = 'active'",
    kill: () => process.kill(server.pid, 'SIGKILL'),
    stop: async () => {
      await client.end().catch(() => undefined);
      await server.stop();
    },
  };
}

async function startMariadb(): Promise<UserServer> {
  const server = await startMariadbServer();
  const { user, socket = '' } = server.address;
  const client = await createConnection({ user, socketPath: socket, rowsAsArray: true });
  client.on('error', () => undefined);
  await client.query('CREATE DATABASE app');
  return {
    url: ({ password = '', database = 'app' } = {}) =>
      `mariadb://${user}:${password}@localhost/${database}?socket=${encodeURIComponent(socket)}`,
    sql: async (sql) => (await client.query(sql))[0] as unknown[],
    sleepSql: 'SELECT SLEEP(30)',
    sleepersSql: "SELECT count(*) FROM information_schema.processlist WHERE info = 'SELECT SLEEP(30)'",
    kill: () => process.kill(server.pid, 'SIGKILL'),
    stop: async () => {
      client.destroy();
      await server.stop();
    },
  };
}

async function until(what: string, condition: () => Promise<boolean>): Promise<void> {
  const limit = Date.now() + 20_000;
  while (!(await condition())) {
    if (Date.now() > limit) throw new Error(`waited 20 s in vain for: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

const engines = [
  { name: 'PostgreSQL', missing: postgresAvailable(), start: startPostgres, table: 'public.t' },
  { name: 'MariaDB', missing: mariadbAvailable(), start: startMariadb, table: 'app.t' },
];

for (const { name, missing, start, table } of engines) {
  const suite = missing === undefined || enginesRequired ? describe : describe.skip;
  suite(`${name}${missing === undefined ? '' : ` (${missing})`}`, () => {
    let server: UserServer;
    beforeAll(async () => {
      server = await start();
    });
    afterAll(() => server?.stop());

    it('says that the password is wrong, without repeating it', async () => {
      const { code, err } = await isolde(['probe', server.url({ password: 'WrongSecret1' })]);
      expect(code).toBe(3);
      expect(err).toMatch(/password|denied/i);
      expect(err).not.toContain('WrongSecret1');
    });

    it('says that the database does not exist', async () => {
      const { code, err } = await isolde([
        'run',
        lostUpdate,
        '--target',
        server.url({ database: 'no_such_db' }),
      ]);
      expect(code).toBe(3);
      expect(err).toContain('no_such_db');
    });

    it("leaves the user's table of the same name alone, with two runs on one server at once", async () => {
      await server.sql(`CREATE TABLE ${table} (mine INT)`);
      await server.sql(`INSERT INTO ${table} VALUES (42)`);
      const runs = [0, 1].map(() =>
        isolde(['run', lostUpdate, '--target', server.url(), '--trust-case', '--runs', '5']),
      );
      for (const { code, out } of await Promise.all(runs)) {
        expect(code).toBe(0);
        expect(out).toContain('… blocks');
        expect(out).toContain('5 of 5 runs gave these results');
      }
      expect(await server.sql(`SELECT * FROM ${table}`)).toEqual([[42]]);
    });

    it('runs 200 sessions', async () => {
      const lines = Array.from({ length: 200 }, (_, i) => `S${i}: INSERT INTO t VALUES (${i})`);
      const path = script(
        'many.sql',
        `CREATE TABLE t (id INT);\n${lines.join('\n')}\nS0: SELECT count(*) FROM t`,
      );
      const { code, out } = await isolde([
        'run',
        path,
        '--target',
        server.url(),
        '--trust-case',
        '--free',
        '--json',
      ]);
      expect(code).toBe(0);
      const { operations } = JSON.parse(out) as { operations: { outcome: string }[] };
      expect(operations.filter((op) => op.outcome === 'ok')).toHaveLength(201);
    });

    it('keeps a valid history when the server is killed in mid-run', async () => {
      const path = script(
        'sleep.sql',
        `CREATE TABLE t (id INT);\nT1: BEGIN\nT1: INSERT INTO t VALUES (1)\nT2: SELECT * FROM t\nT1: ${server.sleepSql}\nT1: COMMIT`,
      );
      const history = join(folder, `${name}.history.jsonl`);
      const run = isolde([
        'run',
        path,
        '--target',
        server.url(),
        '--trust-case',
        '--out',
        history,
        '--statement-timeout',
        '60000',
      ]);
      await until('the sleeper', async () => ((await server.sql(server.sleepersSql))[0] as number[])[0]! > 0);
      server.kill();
      const { out } = await run;
      expect(out).toMatch(/✗ (crash|connection-lost)/);
      const { operations } = await readWholeHistory(history);
      expect(operations.at(-1)).toMatchObject({ sql: server.sleepSql, outcome: 'unknown', ends: 'rollback' });
      expect(operations.slice(0, -1).every((op) => op.outcome === 'ok')).toBe(true);
    });

    it('says so when nothing answers at the address', async () => {
      const { code, err } = await isolde(['probe', server.url()]);
      expect(code).toBe(3);
      expect(err).toMatch(/cannot|refused|no (server|such)|ENOENT/i);
    });
  });
}

describe('any target', () => {
  it.skipIf(process.platform !== 'linux')('says that the disk is full', async () => {
    const { code, err } = await isolde(['run', lostUpdate, '--out', '/dev/full']);
    expect(code).toBe(3);
    expect(err).toMatch(/\/dev\/full.*(no space|ENOSPC)/i);
  });

  it('says that a folder cannot be written to', async () => {
    const { code, err } = await isolde([
      'run',
      lostUpdate,
      '--out',
      join(folder, 'no', 'such', 'x.history.jsonl'),
    ]);
    expect(code).toBe(3);
    expect(err).toContain('x.history.jsonl');
  });

  it.each(['postgres://u:p@127.0.0.1:9/db', 'mariadb://u:p@127.0.0.1:9/'])(
    'says that %s is unreachable',
    async (url) => {
      const { code, err } = await isolde(['probe', url]);
      expect(code).toBe(3);
      expect(err).toContain('127.0.0.1:9');
      expect(err).not.toMatch(/ at .*\.[jt]s/);
    },
  );
});
