/**
 * The cases of docs/stages/matrix.md run on the engines that are installed here, and on the older versions of PostgreSQL that are in the
 * cache, if there are any: what the page says of them still holds.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { Cell } from '../src/matrix/index.js';
import { listLocal } from '../src/targets/index.js';
import { postgresAvailable } from '../src/targets/postgres/index.js';
import { tursoAvailable } from '../src/targets/turso/index.js';
import { compareVersions } from '../src/versions.js';
import { enginesRequired, isolde } from './isolde.js';

const folder = mkdtempSync(join(tmpdir(), 'isolde-matrix-examples-test-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function outcomes(ids: readonly string[], ...targets: string[]): Promise<Record<string, string>> {
  const store = ['--store', join(folder, 'store')];
  const { out, err, code } = await isolde([
    'matrix',
    ...ids,
    '--targets',
    ...targets,
    '--json',
    '--runs',
    '1',
    ...store,
  ]);
  expect(code, err).not.toBe(3);
  const { cells } = JSON.parse(out) as { cells: Cell[] };
  const decided = cells.filter(({ result }) => result.outcome !== 'cannot-run');
  return Object.fromEntries(
    decided.map(({ subject, place, result }) => [`${subject} on ${place.url}`, result.outcome]),
  );
}

const duckdb = ['isolde-duckdb-key-update', 'isolde-duckdb-upsert-of-self'];
const turso = ['insert-count', 'dirty-read', 'double-insert', 'key-twice', 'replaced-row'].map(
  (name) => `isolde-turso-${name}`,
);
const postgres = ['isolde-postgres-merge'];

describe('the cases of the matrix page', () => {
  it('run on DuckDB', async () => {
    expect(await outcomes(duckdb, 'duckdb:')).toEqual({
      'isolde-duckdb-key-update on duckdb:': 'shows',
      'isolde-duckdb-upsert-of-self on duckdb:': 'does-not-show',
    });
  });

  const noTurso = enginesRequired ? undefined : tursoAvailable();
  it.skipIf(noTurso !== undefined)(`are fixed in Turso ${noTurso ?? ''}`, async () => {
    const found = await outcomes(turso, 'turso:', 'turso:?mode=mvcc');
    expect(found).toEqual({
      'isolde-turso-insert-count on turso:': 'does-not-show',
      'isolde-turso-dirty-read on turso:?mode=mvcc': 'does-not-show',
      'isolde-turso-double-insert on turso:?mode=mvcc': 'does-not-show',
      'isolde-turso-key-twice on turso:?mode=mvcc': 'does-not-show',
      'isolde-turso-replaced-row on turso:?mode=mvcc': 'does-not-show',
    });
  });

  const noPostgres = enginesRequired ? undefined : postgresAvailable();
  it.skipIf(noPostgres !== undefined)(`are fixed in PostgreSQL ${noPostgres ?? ''}`, async () => {
    expect(await outcomes(postgres, 'postgres:')).toEqual({
      'isolde-postgres-merge on postgres:': 'does-not-show',
    });
  });

  it('show in the versions of PostgreSQL that are said to have them, where one is in the cache', async (context) => {
    const cached = (await listLocal('postgres')).filter(({ folder: at }) => at !== undefined);
    const bad = cached.find(
      ({ version }) => version.startsWith('17.') && compareVersions(version, '17.7') < 0,
    );
    if (bad === undefined)
      return context.skip('no PostgreSQL 17.0 to 17.6 in the cache (isolde engines --fetch postgres@17.6)');
    const url = `postgres@${bad.packageVersion}:`;
    expect(await outcomes(postgres, url)).toEqual({
      [`isolde-postgres-merge on ${url}`]: 'shows',
    });
  });
});
