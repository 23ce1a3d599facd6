/**
 * The cases of known bugs on every engine that can be started here: which of them show, beside what `known/shown/` and the
 * documentation say. `npx vitest run test/known.test.ts -u` writes both anew.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { Database } from '../src/judge/index.js';
import { openKnown, release, runKnown, type Shown, shownMarkdown, shownOf } from '../src/known/index.js';
import { probeCases } from '../src/probe/index.js';
import { openTarget } from '../src/targets/index.js';
import { mariadbAvailable } from '../src/targets/mariadb/index.js';
import { postgresAvailable } from '../src/targets/postgres/index.js';
import { sqliteAvailable } from '../src/targets/sqlite/index.js';
import { tursoAvailable } from '../src/targets/turso/index.js';
import { enginesRequired } from './isolde.js';

const repository = await openKnown();
const cases = repository.bugs.filter((bug) => bug.case !== undefined);
const folder = 'known/shown';

const engines = [
  { url: 'duckdb:', missing: undefined },
  { url: 'mariadb:', missing: mariadbAvailable() },
  { url: 'postgres:', missing: postgresAvailable() },
  { url: 'sqlite:', missing: sqliteAvailable() },
  { url: 'turso:', missing: tursoAvailable() },
];

describe.each(engines)('known bugs on $url', ({ url, missing }) => {
  const skip = missing !== undefined && !enginesRequired;
  let database: Database | undefined;
  afterAll(() => database?.close());

  it.skipIf(skip)(
    `show as recorded${skip ? ` (${missing})` : ''}`,
    async () => {
      database = await Database.open({ open: () => openTarget(url) });
      const { target } = database;
      const observe = (request: Parameters<Database['observe']>[0]) => database!.observe(request, 0);
      const runs = [];
      for (const bug of cases) runs.push({ id: bug.id, run: await runKnown(bug, { target, observe }) });
      const shown = shownOf(target.stamp, runs);
      const file = `${folder}/${shown.engine}.json`;
      // Another release may well have fixed some, or broken others: that is for its own record.
      const recorded = readdirSync(folder).includes(`${shown.engine}.json`)
        ? (JSON.parse(readFileSync(file, 'utf8')) as Shown).version
        : shown.version;
      expect(runs.length).toBe(cases.length);
      if (recorded !== release(target.stamp.version)) return;
      await expect(`${JSON.stringify(shown, null, 2)}\n`).toMatchFileSnapshot(`../${file}`);
    },
    120_000,
  );
});

it('every report that a case of probe names is in the repository', () => {
  const named = probeCases.flatMap(({ origin }) => origin.match(/MDEV-\d+|\w+ #\d+/g) ?? []);
  expect(named.length).toBeGreaterThan(2);
  expect(named.filter((name) => !repository.bugs.some((bug) => bug.name === name))).toEqual([]);
});

it('the documentation has the table of what shows where', async () => {
  const page = 'docs/stages/known-table.md';
  const all = readdirSync(folder)
    .sort()
    .map((file) => JSON.parse(readFileSync(`${folder}/${file}`, 'utf8')) as Shown);
  const [head] = readFileSync(page, 'utf8').split('\n| id |');
  await expect(`${head}\n${shownMarkdown(repository.bugs, all)}`).toMatchFileSnapshot(`../${page}`);
});
