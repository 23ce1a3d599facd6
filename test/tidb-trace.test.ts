/**
 * What Pisco published of TiDB #42487, on TiDB itself: the trace's finding comes back and is reduced on the release it was found on. The
 * report is open to this day, so the reduced case shows on the current release too; #35682 is one that a release has fixed.
 */
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { providedEngines } from '../src/targets/provided-engines.case.js';
import { isolde } from './isolde.js';

const trace = process.env.ISOLDE_PISCO_TRACE ?? '../shared/data/pisco/tidb_42487.tar.xz';
const { tidb, tidbOld } = providedEngines;
const missing = tidbOld.missing ?? (existsSync(trace) ? undefined : 'the Pisco artifact is not at hand');
const minutes = 60_000;

describe.skipIf(missing !== undefined)(
  `the trace of TiDB #42487 on TiDB${missing === undefined ? '' : ` (${missing})`}`,
  () => {
    let folder: string;
    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'isolde-tidb-trace-'));
    });
    afterAll(() => rm(folder, { recursive: true, force: true }));

    it(
      'comes back when its first 1,240 operations are replayed',
      async () => {
        const [all, first] = [join(folder, 'all.history.jsonl'), join(folder, 'first.history.jsonl')];
        await isolde(['convert', trace, all]);
        const lines = (await readFile(all, 'utf8')).split('\n');
        await writeFile(first, `${lines.slice(0, 1241).join('\n')}\n`);
        const { code, out } = await isolde(['reproduce', first, '--target', tidbOld.url, '--runs', '3']);
        // On an idle machine all do (docs/stages/targets-tidb.md); under load, waits of a thousand operations may end otherwise.
        expect(out).toMatch(/[123] of 3 replays \(batch\) show the finding/);
        expect(code).toBe(1);
      },
      5 * minutes,
    );

    it(
      'is reduced from all its operations to a handful',
      async () => {
        const { code, out } = await isolde(['reduce', trace, '--target', tidbOld.url, '--json']);
        expect(code).toBe(1);
        const { operations, finding, minimal, confirmed } = JSON.parse(out);
        expect(finding).toMatchObject({ kind: 'own-write-missed', contract: 'tidb:repeatable-read' });
        expect(operations).toBeLessThanOrEqual(10);
        expect([minimal, confirmed]).toEqual([true, { shown: 5, runs: 5 }]);
      },
      5 * minutes,
    );
  },
);

const both = tidbOld.missing ?? tidb.missing;

describe.skipIf(both !== undefined)(`two releases of TiDB${both === undefined ? '' : ` (${both})`}`, () => {
  it(
    'both have #42487; #35682 is in the older one only',
    async () => {
      const folder = await mkdtemp(join(tmpdir(), 'isolde-tidb-pair-'));
      try {
        const targets = ['--targets', tidbOld.url, 'tidb@8.5:', '--store', join(folder, 'store')];
        const { out } = await isolde(['matrix', 'tidb-42487', 'tidb-35682', ...targets, '--json']);
        const { cells } = JSON.parse(out) as {
          cells: { subject: string; place: { url: string }; result: { outcome: string } }[];
        };
        expect(cells.map(({ subject, place, result }) => [subject, place.url, result.outcome])).toEqual([
          ['tidb-42487', tidbOld.url, 'shows'],
          ['tidb-35682', tidbOld.url, 'shows'],
          ['tidb-42487', 'tidb@8.5:', 'shows'],
          ['tidb-35682', 'tidb@8.5:', 'does-not-show'],
        ]);
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    },
    5 * minutes,
  );
});
