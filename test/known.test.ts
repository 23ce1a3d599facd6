/**
 * The cases of known bugs on every engine that can be started here, and on older versions that are in the cache: which of them show, beside what
 * `known/shown/` and the documentation say. `npx vitest run test/known.test.ts -u` writes both anew, for all that can be started.
 */
import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { errorText, IsoldeError } from '../src/errors.js';
import type { TargetStamp } from '../src/histories/index.js';
import { Database } from '../src/judge/index.js';
import { openKnown, recordName, runKnown, type Shown, shownMarkdown, shownOf } from '../src/known/index.js';
import { probeCases } from '../src/probe/index.js';
import { openTarget } from '../src/targets/index.js';
import { enginesRequired } from './isolde.js';

const repository = await openKnown();
const cases = repository.bugs.filter((bug) => bug.case !== undefined);
const folder = 'known/shown';

/** `required`: CI has it. The others are run where they are. */
const engines = [
  { url: 'duckdb:', required: true },
  { url: 'turso:', required: true },
  { url: 'turso:?mode=mvcc', required: true },
  { url: 'sqlite:', required: true },
  { url: 'postgres:', required: true },
  { url: 'mariadb:', required: true },
  { url: 'mariadb:?innodb_snapshot_isolation=ON', required: true },
  { url: 'mariadb:?engine=rocksdb', required: false },
  { url: 'mariadb@11.8:', required: false },
  { url: 'mysql:', required: false },
  { url: 'tidb:', required: false },
  { url: 'tidb@6.6:', required: false },
  { url: 'h2:', required: true },
  { url: 'hsqldb:', required: true },
  { url: 'hsqldb:?tx=mvcc', required: true },
  { url: 'derby:', required: true },
  ...['1.1.3', '1.2.2', '1.3.2', '1.4.4'].map((version) => ({ url: `duckdb@${version}:`, required: false })),
  { url: 'turso@0.3.2:', required: false },
  { url: 'turso@0.4.4:', required: false },
  { url: 'turso@0.4.4:?mode=mvcc', required: false },
  { url: 'turso@0.5.3:?mode=mvcc', required: false },
  { url: 'postgres@17.6:', required: false },
  { url: 'postgres@17.7:', required: false },
];

type Runs = Parameters<typeof shownOf>[1];
/** Where several wait for one lock, the engine's threads decide who comes first; a case about that may want another try on a busy machine. */
const mostTries = 3;

interface Ran {
  readonly target: TargetStamp;
  readonly runs: Runs;
}

async function runHere(url: string): Promise<Ran> {
  const database = await Database.open({ open: () => openTarget(url) });
  try {
    const { target } = database;
    const observe = (request: Parameters<Database['observe']>[0]) => database.observe(request, 0);
    const runs = [];
    for (const bug of cases) runs.push({ id: bug.id, run: await runKnown(bug, { target, observe }) });
    return { target: target.stamp, runs };
  } finally {
    await database.close();
  }
}

/** Other versions of an embedded engine run beside this process, by the built program. */
async function runBeside(url: string): Promise<Ran> {
  const args = ['dist/bin/isolde.js', 'known', 'run', '--json', '--known', 'none', '-t', url];
  const { stdout } = await promisify(execFile)(process.execPath, args, { maxBuffer: 1 << 26 }).catch(
    (error: { code: number; stdout: string; stderr: string }) => {
      // 1 and 2 are answers: some show, some could not be run.
      if (error.code !== 1 && error.code !== 2) throw new IsoldeError('engine-missing', error.stderr);
      return error;
    },
  );
  const { target, results } = JSON.parse(stdout) as {
    target: TargetStamp;
    results: readonly ({ readonly id: string } & Runs[number]['run'])[];
  };
  return { target, runs: results.map(({ id, ...run }) => ({ id, run })) };
}

describe.each(engines)('known bugs on $url', ({ url, required }) => {
  it('show as recorded', async (context) => {
    const isUpdate = expect.getState().snapshotState.snapshotUpdateState === 'all';
    for (let left = mostTries; ; left--) {
      let ran: Ran;
      try {
        ran = await (/^(duckdb|turso)@/.test(url) ? runBeside(url) : runHere(url));
      } catch (error) {
        if (!(error instanceof IsoldeError) || (required && enginesRequired)) throw error;
        return context.skip(errorText(error).split('\n')[0]);
      }
      const shown = shownOf(ran.target, ran.runs);
      const file = `${folder}/${recordName(shown)}.json`;
      // Another release may well have fixed some, or broken others: that is for a record of its own.
      if (!existsSync(file) && !isUpdate) return context.skip(`nothing is recorded of ${recordName(shown)}`);
      const text = `${JSON.stringify(shown, null, 2)}\n`;
      if (left > 1 && !isUpdate && text !== readFileSync(file, 'utf8')) continue;
      return expect(text).toMatchFileSnapshot(`../${file}`);
    }
  }, 180_000);
});

/** Read when it is asked for: an update has written some before. */
function records(): Shown[] {
  return readdirSync(folder)
    .sort()
    .map((file) => JSON.parse(readFileSync(`${folder}/${file}`, 'utf8')) as Shown);
}

it('every case that is recorded exists, and every case is in every record', () => {
  const ids = cases.map(({ id }) => id).sort();
  for (const { shows, doesNotShow, notRun, notTried = [] } of records())
    expect([...Object.keys(shows), ...doesNotShow, ...notRun, ...notTried].sort()).toEqual(ids);
});

it('every case says what it was written from', () => {
  expect(cases.filter((bug) => bug.case?.source === undefined).map(({ id }) => id)).toEqual([]);
  // What hunts found has shown somewhere; a case made from a title need not show anywhere.
  const shown = new Set(records().flatMap(({ shows }) => Object.keys(shows)));
  const found = cases.filter((bug) => bug.case?.source === 'hunt').map(({ id }) => id);
  expect(found.filter((id) => !shown.has(id))).toEqual([]);
});

it('every report that a case of probe names is in the repository', () => {
  const named = probeCases.flatMap(({ origin }) => origin.match(/MDEV-\d+|\w+ #\d+/g) ?? []);
  expect(named.length).toBeGreaterThan(2);
  expect(named.filter((name) => !repository.bugs.some((bug) => bug.name === name))).toEqual([]);
});

it('the documentation has the table of what shows where', async () => {
  const page = 'docs/stages/known-table.md';
  const [head] = readFileSync(page, 'utf8').split('\n| id |');
  await expect(`${head}\n${shownMarkdown(repository.bugs, records())}`).toMatchFileSnapshot(`../${page}`);
});
