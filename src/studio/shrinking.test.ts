/** Which database a stored bug is shrunk on, and when it is not shrunk at all. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseScript } from '../cases/index.js';
import { findBug } from '../report/found-bug.case.js';
import type { Bug } from '../report/index.js';
import { openStore } from '../store/index.js';
import { openTarget } from '../targets/index.js';
import { tursoAvailable } from '../targets/turso/index.js';
import { clientFileTypes } from './client-files.js';
import { type Studio, startStudio } from './server.js';
import type { ShrinkPage } from './shrinking.js';
import { StudioTargets } from './studio-targets.js';

const fault = 'commit-on-rollback';
const rolledBack = `-- isolde script
CREATE TABLE test (id INT PRIMARY KEY, value INT);
INSERT INTO test VALUES (1, 10), (2, 20);
T1: BEGIN
T1: UPDATE test SET value = 11 WHERE id = 1
T1: ROLLBACK
T2: SELECT * FROM test
`;

let folder: string;
let studio: Studio;
let faulty: Bug;

async function injectedBug(): Promise<Bug> {
  const target = await openTarget(`duckdb:?fault=${fault}`);
  try {
    const scheduled = parseScript(rolledBack, { file: 'case.sql', dialect: 'duckdb' });
    return await findBug({ target, scratch: await target.createScratch(), scheduled });
  } finally {
    await target.close();
  }
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'isolde-studio-shrinking-'));
  for (const name of Object.keys(clientFileTypes)) writeFileSync(join(folder, name), '');
  faulty = await injectedBug();
  const store = await openStore(join(folder, 'store'));
  await store.add(faulty);
  const { settings, ...stamp } = faulty.target;
  await store.add({ ...faulty, id: 'duckdb-plain', signature: 'plain', target: { ...stamp, settings: {} } });
  const finding = { ...faulty.finding, kind: 'stale-read' as const };
  await store.add({ ...faulty, id: 'duckdb-other', signature: 'other', finding });
  const elsewhere = { ...stamp, name: 'cockroach' };
  await store.add({ ...faulty, id: 'cockroach-bug', signature: 'elsewhere', target: elsewhere });
  studio = await startStudio({ store: join(folder, 'store'), client: folder });
});
afterAll(async () => {
  await studio?.close();
  rmSync(folder, { recursive: true, force: true });
});

async function shrink(bug: string): Promise<Partial<ShrinkPage> & { readonly error?: string }> {
  const response = await fetch(`${studio.url}api/shrink`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: new URL(studio.url).origin },
    body: JSON.stringify({ bug }),
  });
  return (await response.json()) as Partial<ShrinkPage> & { readonly error?: string };
}

describe('a stored bug', () => {
  it('is shrunk on a database like the one it was found on', async () => {
    const { target, tree, error } = await shrink(faulty.id);
    expect(error).toBeUndefined();
    expect(target).toContain(`fault=${fault}`);
    expect(tree?.[0]?.says).toBe('the same finding');
  });

  it.each([
    ['duckdb-plain', 'the case shows nothing on duckdb'],
    ['duckdb-other', 'shows another finding than the bug’s'],
    ['cockroach-bug', 'give the studio a server of it with --target'],
  ])('%s is refused: %s', async (id, why) => {
    expect((await shrink(id)).error).toContain(why);
  });
});

describe('the database for a bug', () => {
  const urlFor = async (target: Bug['target'], given: readonly string[] = []) => {
    const opened = await new StudioTargets(given).openFor({ target });
    await opened.close();
    return opened.stamp.url;
  };

  it('is a given one of the same settings, else its own', async () => {
    const opened = await openTarget('duckdb:?threads=2');
    await opened.close();
    const { stamp } = opened;
    expect(await urlFor(stamp)).toBe('duckdb:?threads=2');
    expect(await urlFor(stamp, ['duckdb:'])).toBe('duckdb:?threads=2');
    expect(await urlFor(stamp, ['sqlite:', 'duckdb:?process=same&threads=2'])).toBe('duckdb:?threads=2');
    expect(await urlFor({ ...stamp, version: '0.1' }, ['duckdb:?threads=2'])).toBe('duckdb:?threads=2');
    expect(await urlFor({ ...stamp, name: 'cockroach' }, ['duckdb:']).catch(String)).toContain('--target');
  });

  it.skipIf(spawnSync('python3', ['-c', 'import sqlite3']).status !== 0)(
    'may be behind an adapter',
    async () => {
      const url = 'exec:python3 examples/exec-sqlite/adapter.py';
      const opened = await openTarget(url);
      await opened.close();
      expect(await urlFor(opened.stamp, ['duckdb:', url])).toBe(opened.stamp.url);
      expect(opened.stamp.url).toContain('adapter.py');
    },
  );

  it.skipIf(tursoAvailable() !== undefined)('keeps the mode of Turso', async () => {
    expect(await urlFor({ name: 'turso', version: '1', settings: { journal_mode: 'mvcc' } })).toBe(
      'turso:?mode=mvcc',
    );
  });

  it('of a version that is not here is refused', async () => {
    const url = 'duckdb@0.0.1:';
    await expect(urlFor({ name: 'duckdb', version: '0.0.1', url, settings: {} })).rejects.toThrow(
      'DuckDB 0.0.1 is not on this machine',
    );
  });
});
