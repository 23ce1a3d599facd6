/**
 * `npm run bench releases -- [--only TEXT,…] [--minutes 5] [--seed 1] [--again] [--results FILE] [--write PAGE] [--keep FOLDER] [--fetch] [--list]`:
 * hunts releases and storage engines one after another and tabulates what each found.
 *
 * 1. A hunt is `isolde hunt URL --for 5m --json` in a process of its own, with an empty store: what an engine's abort
 *    ends is one row, and no bug of one hunt is varied in the next.
 * 2. Its result is added to the results file at once (default `docs/stages/hunt-releases.jsonl`), in place of an older one of the same
 *    hunt. What the file has with this seed and length is passed over, unless `--again`: an interrupted run goes on, and runs with
 *    `--only` (parts of URL, level or group) add up.
 * 3. `--write` puts the tables of all results there into the page after each hunt. Without hunts to make (`--only none`) it only does that.
 *
 * `--keep` copies each hunt's store to a folder of its own there, so that what was found can be looked at.
 * What cannot be started (an engine that is not here) is said, and is no row.
 */
import { spawn } from 'node:child_process';
import { cp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { commitOfCode } from '../commit-of-code.js';
import { openFolder } from './campaigns/processes.js';
import type { Figure } from './measure.js';
import { writeSection } from './page-section.js';
import {
  type BrokenBurst,
  type HuntOutput,
  isSameHunt,
  keyOf,
  parseResults,
  type ReleaseHunt,
  type ReleaseResult,
  renderResults,
  summarise,
  withResult,
} from './releases-page.js';

const cli = fileURLToPath(new URL('../cli/main.js', import.meta.url));

const allLevels = ['read uncommitted', 'read committed', 'repeatable read', 'serializable'];
const lockingLevels = allLevels.slice(1);

function atLevels(group: string, url: string, levels: readonly string[]): readonly ReleaseHunt[] {
  return levels.map((level) => ({ group, url, level }));
}

const older = 'Older releases';
const current = 'Current releases and storage engines';
const family = 'MySQL 9.7 and MariaDB 11.8';
const jdbc = 'Databases in a JVM';

export const releaseHunts: readonly ReleaseHunt[] = [
  { group: older, url: 'turso@0.4.4:?mode=mvcc' },
  { group: older, url: 'turso@0.5.3:?mode=mvcc' },
  { group: older, url: 'turso@0.6.1:?mode=mvcc' },
  { group: older, url: 'duckdb@1.1.3:' },
  { group: older, url: 'duckdb@1.2.2:' },
  { group: current, url: 'mariadb:?engine=rocksdb', level: 'repeatable read' },
  { group: current, url: 'turso:?mode=mvcc', profile: 'keys' },
  { group: current, url: 'postgres:', level: 'serializable' },
  { group: current, url: 'mariadb:', level: 'serializable' },
  ...atLevels(family, 'mysql:', allLevels),
  ...atLevels(family, 'mariadb@11.8:', allLevels),
  ...atLevels(jdbc, 'h2:', [...allLevels.slice(0, 3), 'snapshot', 'serializable']),
  ...['hsqldb:', 'hsqldb:?tx=mvlocks', 'hsqldb:?tx=mvcc'].flatMap((url) =>
    atLevels(jdbc, url, lockingLevels),
  ),
  ...atLevels(jdbc, 'derby:', allLevels),
  ...['tidb:', 'tidb@6.6:'].flatMap((url) =>
    atLevels('TiDB', url, ['read committed', 'repeatable read', 'snapshot']),
  ),
];

export async function benchReleases(args: readonly string[]): Promise<Figure[]> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: { type: 'string' },
      minutes: { type: 'string', default: '5' },
      seed: { type: 'string', default: '1' },
      results: { type: 'string', default: 'docs/stages/hunt-releases.jsonl' },
      write: { type: 'string' },
      keep: { type: 'string' },
      again: { type: 'boolean', default: false },
      fetch: { type: 'boolean', default: false },
      list: { type: 'boolean', default: false },
    },
  });
  const wanted = releaseHunts.filter((hunt) => isWanted(hunt, values.only));
  if (values.list) return wanted.map((hunt) => ({ name: keyOf(hunt).trim(), measured: hunt.group }));
  const { results: file, write: page, seed } = values;
  const commit = commitOfCode();
  const figures: Figure[] = [];
  for (const hunt of wanted) {
    const asked = { ...hunt, seed, minutes: Number(values.minutes), commit };
    const before = (await readResults(file)).find((each) => isSameHunt(each, asked));
    const output = before !== undefined && !values.again ? 'made before' : await runHunt(asked, values);
    if (typeof output === 'object') await addResult(file, { ...asked, ...output });
    const measured = typeof output === 'string' ? `not run: ${output}` : summarise(output);
    figures.push({ name: keyOf(hunt).trim(), measured });
    console.error(`${keyOf(hunt)}: ${measured}`);
    if (page !== undefined && typeof output === 'object') await writePage(page, file);
  }
  if (page !== undefined) await writePage(page, file);
  return figures;
}

async function readResults(file: string): Promise<readonly ReleaseResult[]> {
  return parseResults(await readFile(file, 'utf8').catch(() => ''));
}

async function writePage(page: string, file: string): Promise<void> {
  await writeSection(page, 'hunts', renderResults(await readResults(file)));
}

function isWanted(hunt: ReleaseHunt, only: string | undefined): boolean {
  const text = `${keyOf(hunt)} ${hunt.group}`.toLowerCase();
  return only === undefined || only.split(',').some((part) => text.includes(part.trim().toLowerCase()));
}

async function addResult(file: string, result: ReleaseResult): Promise<void> {
  const all = withResult(await readResults(file), result, releaseHunts);
  await writeFile(file, all.map((each) => `${JSON.stringify(each)}\n`).join(''));
}

type Asked = Pick<ReleaseResult, keyof ReleaseHunt | 'seed' | 'minutes' | 'commit'>;

/** Broken bursts as `isolde hunt --json` prints them. */
interface HuntBursts {
  readonly bursts: readonly { readonly id: string; readonly finding: Omit<BrokenBurst, 'id'> }[];
}

const runsOf = ({ runs, broken }: BrokenBurst['rate']) => ({ runs, broken });

/** What a hunt found; a text: why there was none. */
async function runHunt(
  asked: Asked,
  { fetch, keep }: { readonly fetch: boolean; readonly keep?: string | undefined },
): Promise<(HuntOutput & { date: string }) | string> {
  const { url, level, profile, seed, minutes } = asked;
  const folder = await openFolder('releases');
  const store = join(folder, 'store');
  const options = ['--for', `${minutes * 60}s`, '--seed', seed, '--store', store, '--json'];
  if (level !== undefined) options.push('--level', level);
  if (profile !== undefined) options.push('--profile', profile);
  if (fetch) options.push('--fetch');
  const date = new Date().toISOString().slice(0, 10);
  try {
    const { code, out, err } = await run(['hunt', url, ...options]);
    if (code !== 0 && code !== 1) return `exit ${code}, ${err.trim().split('\n').at(-1)}`;
    const { bursts, ...output } = JSON.parse(out) as Omit<HuntOutput, 'bursts'> & HuntBursts;
    const { target, levels, counters, bugs } = output;
    const kept = bugs.map(({ title, signature, contract, clause, notIsolation, known, secondLook }) => ({
      ...{ title, signature, clause, notIsolation, secondLook },
      ...(contract !== undefined && { contract }),
      ...(known && {
        known: { verdict: known.verdict, reports: known.reports.map(({ name }) => ({ name })) },
      }),
    }));
    const broken = bursts.map(({ id, finding: { program, form, fact, verdict, rate, serial } }) => ({
      ...{ id, program, form, fact, verdict },
      ...{ rate: runsOf(rate), serial: runsOf(serial) },
    }));
    if (keep !== undefined && bugs.length + broken.length > 0) {
      const name = keyOf(asked).replace(/[^\w.@-]+/g, '-');
      await cp(store, join(keep, name), { recursive: true });
    }
    return { target, levels, counters, bugs: kept, bursts: broken, date };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function run(
  args: readonly string[],
): Promise<{ readonly code: number | string; readonly out: string; readonly err: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [cli, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
    let [out, err] = ['', ''];
    child.stdout.on('data', (data: Buffer) => {
      out += data.toString();
    });
    child.stderr.on('data', (data: Buffer) => {
      err = (err + data.toString()).slice(-4000);
    });
    child.on('error', reject);
    child.on('close', (code, signal) => resolve({ code: code ?? signal ?? 'killed', out, err }));
  });
}
