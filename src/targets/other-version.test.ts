import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { otherVersionUrl } from './other-version.js';
import { listLocal } from './versions/index.js';

const cache = mkdtempSync(join(tmpdir(), 'isolde-other-version-'));
afterAll(() => rmSync(cache, { recursive: true, force: true }));
const environment = { ISOLDE_CACHE: cache };

it('is none where only the version itself is here, and of what the user names', async () => {
  const [installed] = await listLocal('duckdb', environment);
  const { version } = installed!;
  expect(await otherVersionUrl('duckdb:', version, environment)).toBeUndefined();
  expect(await otherVersionUrl(undefined, version, environment)).toBeUndefined();
  for (const url of ['duckdb:file.db', 'postgres://localhost/x', 'exec:./adapter', 'mysql:?binaries=/x'])
    expect(await otherVersionUrl(url, '1', environment), url).toBeUndefined();
});

it('is the newest other version, with the same settings and no fault', async () => {
  // The installed version is another one than the fetched one that is hunted.
  expect(await otherVersionUrl('duckdb@1.1.3:?threads=2&fault=lost-update', '1.1.3', environment)).toBe(
    'duckdb:?threads=2',
  );
});
