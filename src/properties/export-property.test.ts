import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { parseScript } from '../cases/index.js';
import { run } from '../judge/index.js';
import { makeBug } from '../report/index.js';
import { openTarget } from '../targets/index.js';
import { exportProperty } from './export-property.js';
import type { Property } from './property.js';
import { testProperties } from './test-properties.js';

const folder = mkdtempSync(join(tmpdir(), 'isolde-export-property-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const faulty = 'duckdb:?fault=missed-own-write';

/** A bug of a target with a fault, found by running a script. */
async function bugOf(script: string) {
  const scheduled = parseScript(script, { file: 'bug.sql', dialect: 'duckdb' });
  const target = await openTarget(faulty);
  try {
    const { findings, history } = await run(scheduled, { target, oracle: 'mechanism' });
    return makeBug({
      ...{ case: scheduled.case, schedule: scheduled.schedule!, finding: findings[0]!, history },
      ...{ reproduced: { shown: 1, runs: 1 }, at: '2026-01-01T00:00:00Z' },
    });
  } finally {
    await target.close();
  }
}

it('makes a property of a stored bug: it fails where the bug is, and holds where it is not', async () => {
  const bug = await bugOf(
    'CREATE TABLE t (id INT, v INT);\nINSERT INTO t VALUES (1, 10);\nT1: BEGIN;\nT1: UPDATE t SET v = 11 WHERE id = 1;\nT1: SELECT v FROM t;\nT1: COMMIT;',
  );
  const file = join(folder, 'regression.mjs');
  writeFileSync(
    file,
    exportProperty(bug).replace("'isolde-db'", JSON.stringify(join(process.cwd(), 'src/index.ts'))),
  );
  const { default: regression } = (await import(file)) as { readonly default: Property };
  const outcome = (url: string) =>
    testProperties({
      open: () => openTarget(url),
      ...{ properties: [regression], seed: '1', plans: 3, length: 20, judgeReads: false, now: () => 0 },
    });
  const { failures } = await outcome(faulty);
  expect(failures[0]?.failure.property).toBe(`regression ${bug.id}`);
  expect((await outcome('duckdb:')).failures).toEqual([]);
});

it('refuses a bug that no answer tells', async () => {
  const bug = await bugOf(
    'CREATE TABLE t (id INT, v INT);\nINSERT INTO t VALUES (1, 10);\nT1: BEGIN;\nT1: UPDATE t SET v = 11 WHERE id = 1;\nT1: SELECT v FROM t;\nT1: COMMIT;',
  );
  const finding = { ...bug.finding, kind: 'G0' } as const;
  expect(() => exportProperty({ ...bug, finding })).toThrow('cannot become a property');
});
