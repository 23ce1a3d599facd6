/** The oracle of docs/stages/oracles.md: registered, it hunts, reduces and is silent where nothing is wrong. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { repeatedRead } from '../examples/oracles/repeated-read.js';
import {
  hunt,
  openShelf,
  openStore,
  openTarget,
  parseScript,
  reduce,
  registerOracle,
  rerunBug,
  run,
} from '../src/index.js';

const folder = mkdtempSync(join(tmpdir(), 'isolde-example-oracle-'));
const faulty = 'duckdb:?fault=late-snapshot';
let remove: () => void;
beforeAll(() => {
  remove = registerOracle(repeatedRead);
});
afterAll(() => {
  remove();
  rmSync(folder, { recursive: true, force: true });
});

const scheduled = parseScript(
  `CREATE TABLE t (id INT PRIMARY KEY, v INT);
   INSERT INTO t VALUES (1, 10), (2, 20), (3, 30);
   C: SELECT count(*) FROM t;
   A: BEGIN;
   A: SELECT v FROM t WHERE id = 1;
   B: BEGIN;
   B: UPDATE t SET v = 11 WHERE id = 1;
   B: UPDATE t SET v = 31 WHERE id = 3;
   B: COMMIT;
   A: SELECT v FROM t WHERE id = 1;
   A: COMMIT;
   C: SELECT v FROM t WHERE id = 3;`,
  { file: 'repeated.sql', dialect: 'duckdb' },
);

it('is the example of its page, and short', () => {
  const example = readFileSync('examples/oracles/repeated-read.ts', 'utf8');
  expect(readFileSync('docs/stages/oracles.md', 'utf8')).toContain(example);
  expect(example.trim().split('\n').length).toBeLessThanOrEqual(30);
});

it('judges a run', async () => {
  const target = await openTarget(faulty);
  const sound = await openTarget('duckdb:');
  try {
    const broken = await run(scheduled, { target, oracle: 'repeated-read' });
    expect(broken).toMatchObject({ valid: false, findings: [{ kind: 'wrong-result' }] });
    expect(broken.findings[0]!.transactions).toMatchObject([
      { name: 'A', session: 'A', status: 'committed' },
    ]);
    expect(await run(scheduled, { target: sound, oracle: 'repeated-read' })).toMatchObject({ valid: true });
  } finally {
    await target.close();
    await sound.close();
  }
});

it('reduces what it found', async () => {
  const outcome = await reduce(scheduled, {
    open: () => openTarget(faulty),
    oracle: 'repeated-read',
    confirmRuns: 3,
  });
  if (outcome.kind !== 'reduced') throw new Error(outcome.kind);
  expect(outcome.finding.oracle).toBe('repeated-read');
  expect(outcome.result).toMatchObject({ minimal: true, sameFinding: true, operations: 4 });
});

it('hunts alone, keeps a bug that can be run again, and finds nothing where nothing is wrong', async () => {
  const shelf = await openShelf(folder);
  const options = { seed: '3', oracles: ['repeated-read'] };
  const found = await hunt({ ...options, open: () => openTarget(faulty), shelf, bugs: 1, forMs: 50_000 });
  const quiet = await hunt({ ...options, open: () => openTarget('duckdb:'), shelf, to: 60 });
  await shelf.close();
  expect(found.bugs[0]?.bug.finding).toMatchObject({ oracle: 'repeated-read', kind: 'wrong-result' });
  expect(quiet.counters).toMatchObject({ rounds: 60, raw: 0 });
  const bug = await (await openStore(folder)).get(found.bugs[0]!.bug.id);
  for (const [url, outcome] of [
    [faulty, 'alive'],
    ['duckdb:', 'fixed'],
  ] as const) {
    const target = await openTarget(url);
    expect(await rerunBug(bug, target, { runs: 1 })).toMatchObject({ outcome });
    await target.close();
  }
}, 120_000);
