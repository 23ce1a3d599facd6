import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { isolde } from '../../test/isolde.js';
import { enginesFolder } from '../targets/versions/engine-cache.js';

const cache = mkdtempSync(join(tmpdir(), 'isolde-engines-test-'));
beforeAll(() => {
  vi.stubEnv('ISOLDE_CACHE', cache);
});
afterAll(() => {
  vi.unstubAllEnvs();
  rmSync(cache, { recursive: true, force: true });
});

describe('isolde engines', () => {
  it('lists what is installed, and what of the cache cannot be used', async () => {
    mkdirSync(join(enginesFolder(), 'duckdb@1.1.3-alpha.12'), { recursive: true });
    const { code, out } = await isolde(['engines', 'duckdb', '--json']);
    expect(code).toBe(0);
    const { cache: place, engines } = JSON.parse(out) as { cache: string; engines: { found: object[] }[] };
    expect(place).toBe(cache);
    expect(engines).toHaveLength(1);
    expect(engines[0]!.found).toContainEqual(
      expect.objectContaining({ url: 'duckdb:', version: expect.stringMatching(/^\d+\.\d+\.\d+$/) }),
    );
    expect(engines[0]!.found).toContainEqual({
      url: 'duckdb@1.1.3:',
      missing: 'it was not fetched to the end: npx isolde engines --fetch duckdb@1.1.3',
    });
    const all = await isolde(['engines']);
    expect(all.code).toBe(0);
    for (const title of ['DuckDB', 'Turso', 'SQLite', 'PostgreSQL', 'MariaDB', 'MySQL', 'TiDB'])
      expect(all.out).toContain(title);
  });

  it('refuses names it does not know, and a fetch without a version', async () => {
    expect(await isolde(['engines', 'oracle'])).toMatchObject({
      code: 3,
      err: expect.stringContaining('oracle'),
    });
    expect(await isolde(['engines', '--fetch', 'duckdb'])).toMatchObject({
      code: 3,
      err: expect.stringContaining('--fetch needs a version'),
    });
  });

  it('lists every line of scripts/engines that was not run, and names it where its version is asked for', async () => {
    const { code, out } = await isolde(['engines', '--json']);
    expect(code).toBe(0);
    const { engines } = JSON.parse(out) as { engines: { found: { url: string; missing?: string }[] }[] };
    const missing = engines.flatMap(({ found }) => found).filter((each) => each.missing !== undefined);
    for (const line of ['mysql-5.6', 'mariadb-11.8', 'tidb-old', 'h2', 'hsqldb', 'derby'])
      expect(missing).toContainEqual({
        url: expect.any(String),
        missing: expect.stringMatching(new RegExp(`scripts/engines ${line}(?: |$)`)),
      });
    expect(missing).toContainEqual({ url: 'tidb@6.6:', missing: 'get it with scripts/engines tidb-old' });
    expect(await isolde(['engines', 'mysql@5.6'])).toMatchObject({ code: 2 });
    for (const args of [
      ['engines', '--fetch', 'mysql@5.6'],
      ['probe', 'mysql@5.6:', '--fetch'],
      ['probe', 'mysql@5.6:'],
    ])
      expect(await isolde(args)).toMatchObject({
        code: 3,
        err: expect.stringContaining('scripts/engines mysql-5.6'),
      });
    expect((await isolde(['probe', 'mysql@8.0:'])).err).toContain(
      'scripts/engines has mysql (9), mysql-5.6 (5.6)',
    );
    expect((await isolde(['engines', 'cockroach'])).out).toContain('not exercised');
  });

  it('a command that names a version which is not here says how to get it', async () => {
    for (const args of [
      ['probe', 'duckdb@0.0.1'],
      ['known', 'run', 'duckdb-17223', '-t', 'duckdb@0.0.1:'],
    ])
      expect(await isolde(args)).toMatchObject({
        code: 3,
        err: expect.stringContaining('npx isolde engines --fetch duckdb@0.0.1'),
      });
    expect((await isolde(['probe', '--help'])).out).toContain('--fetch');
  });
});
