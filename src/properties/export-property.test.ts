import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { parseScript } from '../cases/index.js';
import { run } from '../judge/index.js';
import { type Bug, makeBug } from '../report/index.js';
import { openTarget } from '../targets/index.js';
import { exportProperty } from './export-property.js';
import type { Property } from './property.js';
import { testProperties } from './test-properties.js';

const folder = mkdtempSync(join(tmpdir(), 'isolde-export-property-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const faulty = 'duckdb:?fault=missed-own-write';

/** A bug of a target, found by running a script. */
async function bugOf(script: string, url = faulty, kind?: string) {
  const scheduled = parseScript(script, { file: 'bug.sql', dialect: 'duckdb' });
  const target = await openTarget(url);
  try {
    const { findings, history } = await run(scheduled, { target, oracle: 'mechanism' });
    const finding = findings.find((each) => kind === undefined || each.kind === kind);
    if (finding === undefined) throw new Error(`found ${findings.map((each) => each.kind).join(', ')}`);
    return makeBug({
      ...{ case: scheduled.case, schedule: scheduled.schedule!, finding, history },
      ...{ reproduced: { shown: 1, runs: 1 }, at: '2026-01-01T00:00:00Z' },
    });
  } finally {
    await target.close();
  }
}

/** What the property of a bug says of databases. */
async function regressionOf(bug: Bug) {
  const file = join(folder, `${bug.id}.mjs`);
  const text = exportProperty(bug);
  writeFileSync(file, text.replace("'isolde-db'", JSON.stringify(join(process.cwd(), 'src/index.ts'))));
  const { default: regression } = (await import(file)) as { readonly default: Property };
  const outcome = (url: string) =>
    testProperties({
      open: () => openTarget(url),
      ...{ properties: [regression], seed: '1', plans: 3, length: 20, judgeReads: false, now: () => 0 },
    });
  return { text, outcome };
}

it('makes a property of a stored bug: it fails where the bug is, and holds where it is not', async () => {
  const bug = await bugOf(
    'CREATE TABLE t (id INT, v INT);\nINSERT INTO t VALUES (1, 10);\nT1: BEGIN;\nT1: UPDATE t SET v = 11 WHERE id = 1;\nT1: SELECT v FROM t;\nT1: COMMIT;',
  );
  const { outcome } = await regressionOf(bug);
  const { failures } = await outcome(faulty);
  expect(failures[0]?.failure.property).toBe(`regression ${bug.id}`);
  expect((await outcome('duckdb:')).failures).toEqual([]);
});

const conflict =
  'CREATE TABLE t (id INT, v INT);\nINSERT INTO t VALUES (1, 10);\nT1: BEGIN;\nT2: BEGIN;\nT2: SELECT v FROM t;\nT1: UPDATE t SET v = 11;\nT1: COMMIT;\nT2: UPDATE t SET v = 12;\nT2: COMMIT;';

it('asserts of a missed conflict that the write or what comes after it fails', async () => {
  const missing = 'duckdb:?fault=unreported-write-conflict';
  const bug = await bugOf(conflict, missing, 'update-of-changed-row');
  const { text, outcome } = await regressionOf(bug);
  expect(text).toContain('assert(that.oneFails(judged, judged2)');
  expect((await outcome(missing)).failures[0]?.failure.property).toBe(`regression ${bug.id}`);
  const sound = await outcome('duckdb:');
  expect([sound.failures, sound.mistaken]).toEqual([[], []]);
  expect(sound.counts.asserted).toBeGreaterThan(0);
});

it('asserts of a write that it does not match so many rows', async () => {
  const losing = 'duckdb:?fault=lost-insert';
  const bug = await bugOf(
    'CREATE TABLE t (a INT);\nT1: INSERT INTO t VALUES (0);\nT2: UPDATE t SET a = 1;',
    losing,
    'write-missed-row',
  );
  const { text, outcome } = await regressionOf(bug);
  expect(text).toContain('assert(that.otherCount(judged, 0)');
  expect((await outcome(losing)).failures[0]?.failure.property).toBe(`regression ${bug.id}`);
  expect((await outcome('duckdb:')).failures).toEqual([]);
});

it('refuses a bug that no answer tells', async () => {
  const bug = await bugOf(
    'CREATE TABLE t (id INT, v INT);\nINSERT INTO t VALUES (1, 10);\nT1: BEGIN;\nT1: UPDATE t SET v = 11 WHERE id = 1;\nT1: SELECT v FROM t;\nT1: COMMIT;',
  );
  const finding = { ...bug.finding, kind: 'G0' } as const;
  expect(() => exportProperty({ ...bug, finding })).toThrow('cannot become a property');
});
