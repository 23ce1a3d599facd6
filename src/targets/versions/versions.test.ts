import { appendFileSync, cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { IsoldeError } from '../../errors.js';
import { openTarget } from '../registry.js';
import { cachedVersion, cacheFolder, enginesFolder } from './engine-cache.js';
import { type FakeRegistry, startRegistry } from './fake-registry.case.js';
import {
  type FetchProgress,
  fetchVersion,
  findVersion,
  listLocal,
  listPublished,
  splitVersion,
  withVersion,
} from './index.js';

describe('a URL with a version', () => {
  it('is taken apart', () => {
    expect(splitVersion('duckdb@1.1.3:?threads=2')).toEqual({
      scheme: 'duckdb',
      version: '1.1.3',
      rest: ':?threads=2',
    });
    expect(splitVersion('Turso@0.5.0-pre.17:/folder')?.version).toBe('0.5.0-pre.17');
    for (const url of [
      'duckdb:',
      'postgres://user@host/db',
      'postgres://u:p@1.2.3:5432/x',
      'exec:node a@1.js',
      'duckdb:a@1',
    ])
      expect(splitVersion(url)).toBeUndefined();
    expect(withVersion('duckdb@1.1.3:?a=b', '1.2.0-alpha.1')).toBe('duckdb@1.2.0-alpha.1:?a=b');
    expect(withVersion('turso:?mode=mvcc', '0.4.4')).toBe('turso@0.4.4:?mode=mvcc');
    expect(withVersion('turso@0.4.4:?mode=mvcc', undefined)).toBe('turso:?mode=mvcc');
  });

  it.each([
    'duckdb@../x:',
    'duckdb@1/../../x:',
    'duckdb@..:',
    'duckdb@:',
    'duckdb@latest:',
    'duckdb@>1:',
    'duckdb@1.1.3 --registry=x:',
    'duckdb@file:x:',
    'duckdb@1.1.3@2:',
    'duckdb@-1:',
    'duckdb@1.1.3/x:',
    `duckdb@${'1.'.repeat(500)}1:`,
    'duckdb@1\n2:',
    'duckdb@1\u00002:',
  ])('%j is refused before anything is looked for', async (url) => {
    const refused = await openTarget(url).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(IsoldeError);
    expect((refused as IsoldeError).code).toBe('usage');
    await expect(fetchVersion(url)).rejects.toThrow(IsoldeError);
  });

  it('names either a version or a place, and only versions of engines that npm has', async () => {
    await expect(openTarget('duckdb@1.1.3:?package=x')).rejects.toThrow(/either a version/);
    await expect(openTarget('postgres@17.6:?binaries=/x')).rejects.toThrow(/either a version/);
    await expect(openTarget('postgres@17.6://host/x')).rejects.toThrow(/either a version/);
    await expect(openTarget('cockroach@23.1:')).rejects.toThrow(/cannot be fetched/);
    expect(() => cachedVersion('../x', '1.0.0')).toThrow(IsoldeError);
  });
});

it('the cache is where the environment says', () => {
  expect(cacheFolder({ ISOLDE_CACHE: '/a', XDG_CACHE_HOME: '/b' })).toBe('/a');
  expect(cacheFolder({ XDG_CACHE_HOME: '/b' })).toBe('/b/isolde');
  expect(cacheFolder({ XDG_CACHE_HOME: 'not/absolute' })).toMatch(/\/\.cache\/isolde$/);
});

const real = createRequire(import.meta.url).resolve('libsql');
const packageName = 'libsql';

describe('versions from a registry', () => {
  const folder = mkdtempSync(join(tmpdir(), 'isolde-versions-test-'));
  let registry: FakeRegistry;
  let environment: Record<string, string | undefined>;
  const events: FetchProgress[] = [];
  const options = () => ({ environment, onProgress: (event: FetchProgress) => void events.push(event) });
  const indexOf = (version: string) =>
    join(cachedVersion('sqlite', version, environment).folder, 'node_modules', packageName, 'index.js');

  beforeAll(async () => {
    const code = `module.exports = require(${JSON.stringify(real)});`;
    registry = await startRegistry(folder, packageName, [
      { version: '90.1.0', code },
      { version: '90.1.2-pre.1', code: 'throw new Error("not this one")' },
      { version: '90.1.10', code },
      { version: '90.2.0', code: '', wrongChecksum: true },
    ]);
    environment = {
      ...process.env,
      ISOLDE_CACHE: join(folder, 'cache'),
      npm_config_registry: registry.url,
      npm_config_cache: join(folder, 'npm'),
      npm_config_userconfig: join(folder, 'npmrc'),
      npm_config_fetch_retries: '0',
      // What stands around us when npx or npm run started us must not count.
      npm_config_dry_run: 'true',
      npm_config_package_lock: 'false',
    };
  });
  afterAll(async () => {
    await registry.close();
    rmSync(folder, { recursive: true, force: true });
  });
  afterEach(() => {
    events.length = 0;
    vi.unstubAllEnvs();
  });

  it('says how to get what is not here, and what there is', async () => {
    await expect(findVersion('sqlite@90.1:', environment)).rejects.toThrow(
      /SQLite 90\.1 is not on this machine.*--fetch.*isolde engines --fetch sqlite@90\.1/,
    );
    expect((await listPublished('sqlite', options())).map(({ version }) => version)).toEqual([
      '90.1.0',
      '90.1.2-pre.1',
      '90.1.10',
      '90.2.0',
    ]);
    await expect(fetchVersion('sqlite@91:', options())).rejects.toThrow(
      /npm has no SQLite 91; it has 90\.2\.0, 90\.1\.10/,
    );
  });

  it('fetches the newest release of a series once for two who ask, and opens it without the registry', async () => {
    const [one, other] = await Promise.all([
      fetchVersion('sqlite@90.1:', options()),
      fetchVersion('sqlite@90.1.10:', options()),
    ]);
    expect(one).toMatchObject({ engine: 'sqlite', version: '90.1.10', packageVersion: '90.1.10' });
    expect(other).toEqual(one);
    expect(registry.downloads()).toBe(1);
    expect(events.filter(({ kind }) => kind === 'fetched')).toHaveLength(1);
    const offline = { ...environment, npm_config_registry: 'http://127.0.0.1:1/' };
    expect(await fetchVersion('sqlite@90.1:', { environment: offline })).toEqual(one);
    expect((await listLocal('sqlite', environment)).map(({ version }) => version)).toContain('90.1.10');
    vi.stubEnv('ISOLDE_CACHE', environment.ISOLDE_CACHE!);
    const target = await openTarget('sqlite@90.1:?process=same');
    expect(target.stamp.url).toBe('sqlite@90.1:');
    const scratch = await target.createScratch();
    await scratch.reset(['CREATE TABLE t(x INTEGER)']);
    await target.close();
  });

  it('a copied cache is as good; files that changed, or a record that is missing, are not, and a fetch repairs them', async () => {
    const copied = { ...environment, ISOLDE_CACHE: join(folder, 'copied') };
    cpSync(environment.ISOLDE_CACHE!, copied.ISOLDE_CACHE, { recursive: true });
    expect((await findVersion('sqlite@90.1.10:', copied))?.version).toBe('90.1.10');

    appendFileSync(indexOf('90.1.10'), '// and more\n');
    await expect(findVersion('sqlite@90.1.10:', environment)).rejects.toThrow(
      /its files are not those that were fetched/,
    );
    vi.stubEnv('ISOLDE_CACHE', environment.ISOLDE_CACHE!);
    await expect(openTarget('sqlite@90.1.10:?process=same')).rejects.toThrow(/--fetch/);
    await fetchVersion('sqlite@90.1.10:', options());
    expect(events.map(({ kind }) => kind)).toContain('fetched');
    expect((await findVersion('sqlite@90.1.10:', environment))?.version).toBe('90.1.10');

    writeFileSync(join(enginesFolder(copied), 'sqlite@90.1.10', 'node_modules', 'extra.js'), '');
    await expect(findVersion('sqlite@90.1.10:', copied)).rejects.toThrow(/its files are not/);
    rmSync(join(enginesFolder(copied), 'sqlite@90.1.10', 'fetched.json'));
    await expect(findVersion('sqlite@90.1.10:', copied)).rejects.toThrow(/not fetched to the end/);
  });

  it('does not take a package whose checksum is wrong, and leaves nothing of it, nor of fetches that were killed', async () => {
    const left = join(enginesFolder(environment), 'making-999999999-x');
    mkdirSync(left, { recursive: true });
    await expect(fetchVersion('sqlite@90.2.0:', options())).rejects.toThrow(/npm install.*failed/s);
    await expect(findVersion('sqlite@90.2.0:', environment)).rejects.toThrow(/not on this machine/);
    expect(readdirSync(enginesFolder(environment)).filter((name) => name.startsWith('making-'))).toEqual([]);
  });

  it('stops when it is told to', async () => {
    const controller = new AbortController();
    const fetching = fetchVersion('sqlite@90.1.0:', {
      environment,
      signal: controller.signal,
      onProgress: () => controller.abort(),
    });
    await expect(fetching).rejects.toThrow(/it was stopped/);
    await expect(findVersion('sqlite@90.1.0:', environment)).rejects.toThrow(/not on this machine/);
  });
});
