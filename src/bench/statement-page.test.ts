import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { pageOf, readPage, rowKey } from './statement-page.js';

const folder = await mkdtemp(join(tmpdir(), 'isolde-statement-page-'));
afterAll(() => rm(folder, { recursive: true, force: true }));

it('reads back what it has written, and goes on from there', async () => {
  const file = join(folder, 'page.md');
  expect(await readPage(file)).toEqual({ tallies: new Map(), rates: new Map() });
  const place = { url: 'postgres:', level: 'read committed' };
  const counted = { cases: 9, whole: 5, partly: 3, reads: 20, writes: 30, alarms: 2, explained: 1 };
  const known = {
    tallies: new Map([[rowKey(place, 'silent'), { version: '18.4', ...counted, cpuSeconds: 4 }]]),
    rates: new Map([
      [rowKey(place), { version: '18.4', cases: 600, seconds: 30, cpuSeconds: 50, others: 1 }],
    ]),
  };
  const goals = { wantedCases: 20_000, wantedPerMinute: 540, txcheckPerMinute: 18, rateSeconds: 30 };
  const text = pageOf(known, goals);
  expect(text).toContain('| 600 | 30 | 50 | 1 | 1200 | 720 |');
  await writeFile(file, text);
  expect(await readPage(file)).toEqual(known);
});
