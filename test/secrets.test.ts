/** A secret in a target's URL is in nothing that is printed or written, by any command. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { openTarget } from '../src/targets/index.js';
import { postgresAvailable, startPostgresServer } from '../src/targets/postgres/index.js';
import { sqliteAvailable } from '../src/targets/sqlite/index.js';
import { enginesRequired, isolde } from './isolde.js';

const folder = mkdtempSync(join(tmpdir(), 'isolde-secrets-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
afterEach(() => vi.unstubAllEnvs());

const secret = 'S3CR3T';
const adapter = 'python3 examples/exec-sqlite/adapter.py';
const url = `exec:DB_PASSWORD=${secret} ${adapter} --password ${secret}?fault=missed-own-write`;
const missing = sqliteAvailable();

/** The text of every file below a folder. */
function everyFile(path: string): string {
  return readdirSync(path, { recursive: true })
    .map((name) => join(path, String(name)))
    .filter((file) => statSync(file).isFile())
    .map((file) =>
      file.endsWith('.gz') ? gunzipSync(readFileSync(file)).toString() : readFileSync(file, 'utf8'),
    )
    .join('\n');
}

describe.skipIf(missing !== undefined && !enginesRequired)('a secret in the command of an adapter', () => {
  it('is in no output and no file of hunt, bugs, probe, run, reproduce and reduce', async () => {
    const place = (name: string) => join(folder, name);
    const said: string[] = [];
    const does = async (...args: string[]) => {
      const { code, out, err } = await isolde(args);
      said.push(out, err);
      return code;
    };
    const store = ['--store', place('store')];
    expect(await does('hunt', url, ...store, '--bugs', '1', '--for', '60s', '--json')).toBe(1);
    expect(await does('bugs', 'list', ...store)).toBe(0);
    const [id] = readdirSync(place('store/bugs'));
    expect(await does('bugs', 'show', id!, ...store)).toBe(0);
    await does('bugs', 'rerun', ...store, '--target', url, '--junit', place('junit.xml'));
    await does('bugs', 'export', id!, place('exported'), ...store);
    const script = join(place('store/bugs'), id!, 'case.sql');
    expect(await does('run', script, '--target', url, '--out', place('run.history.jsonl'))).toBe(0);
    await does('reproduce', script, '--target', url, '--out', place('reproduced.case.json'), '--runs', '2');
    await does('reduce', script, '--target', url, '--state', place('state.json'));
    await does('probe', url, '--anomaly', 'G0', '--markdown');
    expect(await does('run', script, '--target', `exec:TOKEN=${secret} echo ${secret}`)).toBe(3);
    expect(await does('probe', `mysql://ann:${secret}%2F@127.0.0.1:1/`)).toBe(3);
    expect(await does('probe', `postgres://ann:${secret}/@127.0.0.1:1/`)).toBe(3);
    expect(await does('probe', `unknown://ann:${secret}@h`)).toBe(3);
    expect(await does('prob', `unknown://ann:${secret}@h`)).toBe(3);
    expect(said.join('\n')).toContain('***');
    expect(said.join('\n')).not.toContain(secret);
    const files = everyFile(folder);
    expect(files).toContain('DB_PASSWORD=***');
    expect(files).not.toContain(secret);
  }, 120_000);
});

describe('ISOLDE_TARGET', () => {
  it('is the database of commands that are given none', async () => {
    const env = { ISOLDE_TARGET: `unknown://ann:${secret}@h` };
    const { code, err } = await isolde(['probe'], { env });
    expect(code).toBe(3);
    expect(err).toContain('No database is known by the URL "unknown://ann:***@h"');
    const given = await isolde(['probe', 'duckdb:', '--anomaly', 'G0'], { env });
    expect(given.out).toMatch(/^duckdb /);
  });
});

const noPostgres = postgresAvailable();
describe.skipIf(noPostgres !== undefined && !enginesRequired)(
  'a password of PostgreSQL outside the URL',
  () => {
    it('is read from PGPASSWORD or a pgpass file', async () => {
      const server = await startPostgresServer({ settings: {}, startTimeoutMs: 30_000 });
      try {
        const { login, host, port } = server;
        const bare = `postgres://${login.user}@${host}:${port}/postgres`;
        await expect(openTarget(bare)).rejects.toThrow(/needs a password/);
        vi.stubEnv('PGPASSWORD', login.password);
        await (await openTarget(bare)).close();
        vi.unstubAllEnvs();
        const file = join(folder, 'pgpass');
        writeFileSync(file, `${host}:${port}:*:${login.user}:${login.password}\n`, { mode: 0o600 });
        vi.stubEnv('PGPASSFILE', file);
        const target = await openTarget(bare);
        expect(target.stamp.url).toBe(bare);
        await target.close();
      } finally {
        await server.stop();
      }
    }, 60_000);
  },
);
