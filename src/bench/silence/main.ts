/**
 * `npm run check:silence [-- URL [LEVEL]] [--transactions N] [--seed S] [--round R] [--lanes 4] [--keep DIR] [--results FILE] [--fixed TEXT]
 * [--write PAGE] [--list]`:
 * looks for false alarms on real engines, place after place.
 *
 * - Without a URL: everything of `targets.ts` that is on this machine. Another URL (another setting) can be named with its level.
 * - `--keep` (default `alarms`): histories of rounds that reported an alarm are written there, for a free run is not the same twice.
 * - `--results FILE`: each place's figures are added there, and places that FILE has for this seed already are passed over: an interrupted run
 *   goes on, and runs with several seeds add up. `--write` puts the sums into the page.
 * - A run with alarms stays in FILE and counts, until its place and seed are run again by code of another commit, with `--fixed`
 *   saying what was wrong with Isolde. The page shows both.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { commitOfCode } from '../../commit-of-code.js';
import { parseLevel } from '../../contracts/index.js';
import { writeWholeHistory } from '../../histories/index.js';
import { writeSection } from '../page-section.js';
import { type Alarm, listenForAlarms } from './listen.js';
import {
  latestOf,
  parseRuns,
  renderAlarmed,
  renderRuns,
  renderSources,
  type SilenceRun,
  whyNotAgain,
  withRun,
} from './page.js';
import { findPlaces, type SilentPlace } from './targets.js';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    transactions: { type: 'string', default: '8000' },
    seed: { type: 'string', default: '1' },
    round: { type: 'string' },
    lanes: { type: 'string', default: '4' },
    keep: { type: 'string', default: 'alarms' },
    results: { type: 'string' },
    fixed: { type: 'string' },
    write: { type: 'string' },
    list: { type: 'boolean', default: false },
  },
});
const { results, seed } = values;
const runs = results === undefined ? [] : parseRuns(await readFile(results, 'utf8').catch(() => ''));

const commit = commitOfCode();
let [alarms, total] = [0, 0];
for (const place of await placesAsked()) {
  if (values.list) console.log(`${place.url} ${place.level}`);
  else await runPlace(place);
}
if (values.write !== undefined && results !== undefined) await writePage(values.write, results);
if (!values.list) console.log(`${total} transactions, ${alarms} false alarms`);
process.exit(alarms > 0 ? 1 : 0);

async function placesAsked(): Promise<readonly SilentPlace[]> {
  const [url, named] = positionals;
  const level = named === undefined ? undefined : parseLevel(named);
  // Another version or setting: who names it knows what it is.
  if (url !== undefined && level !== undefined) return [{ url, level }];
  const places = await findPlaces(
    (each) => url === undefined || each === url,
    (each, why) => console.error(`${each} is not run: ${why}`),
  );
  if (places.length === 0) throw new Error(`no engine of that name: ${positionals.join(' ')}`);
  return places;
}

async function runPlace(place: SilentPlace): Promise<void> {
  const before = values.round === undefined ? latestOf(runs, { ...place, seed }) : undefined;
  if (before !== undefined && !mayRunAgain(before)) return;
  const start = performance.now();
  const { alarms: raised, ...counts } = await listenForAlarms({
    ...place,
    transactions: Number(values.transactions),
    seed,
    lanes: Number(values.lanes),
    ...(values.round === undefined ? {} : { round: Number(values.round) }),
    print: (line) => console.log(line),
    onAlarm: (alarm) => keep(alarm, place),
  });
  alarms += raised.length;
  total += counts.transactions;
  const seen = Object.entries(counts.known).map(([report, count]) => `; ${count} × ${report}`);
  const share = (counts.failed / Math.max(1, counts.statements)) * 100;
  const seconds = (performance.now() - start) / 1000;
  console.log(
    `${place.url} ${place.level}: ${counts.transactions} transactions in ${counts.rounds} rounds (${counts.notRun} not run, in ${counts.passing ?? 0} the server failed once and not again), ` +
      `${counts.statements} statements (${share.toFixed(1)} % failed), ${counts.readsJudged} reads judged and ${counts.readsSkipped} not, ` +
      `${raised.length} alarms${seen.join('')} (${seconds.toFixed(0)} s)`,
  );
  if (results !== undefined && values.round === undefined)
    await addRun(results, {
      ...{ ...place, seed, ...counts, alarms: raised.length, commit },
      ...(raised.length > 0 && { raised: raised.map(({ finding, round }) => `${finding.kind} (${round})`) }),
      ...(before !== undefined && { fixed: values.fixed! }),
    });
}

/** A run with alarms counts as often as it is passed over. */
function mayRunAgain(before: SilenceRun): boolean {
  if (before.alarms === 0) return false;
  if (values.fixed !== undefined && before.commit !== commit) return true;
  alarms += before.alarms;
  console.error(whyNotAgain(before));
  return false;
}

/** Others may be writing to the same file: it is read again for each run. */
async function addRun(file: string, run: SilenceRun): Promise<void> {
  const all = withRun(parseRuns(await readFile(file, 'utf8').catch(() => '')), run);
  await writeFile(file, all.map((each) => `${JSON.stringify(each)}\n`).join(''));
}

async function keep({ round, history }: Alarm, { url, level }: SilentPlace): Promise<string> {
  await mkdir(values.keep, { recursive: true });
  const name = `${url}-${level}`.replace(/[^\w.]+/g, '-');
  const file = join(values.keep, `${name}-${seed}-${round}.history.jsonl`);
  await writeWholeHistory(file, history);
  return `history: ${file}`;
}

async function writePage(page: string, file: string): Promise<void> {
  const all = parseRuns(await readFile(file, 'utf8'));
  const sources = `Transactions by the kind of program: ${renderSources(all)}.`;
  const text = [renderRuns(all), sources, '### Runs with alarms', renderAlarmed(all)].join('\n\n');
  await writeSection(page, 'runs', text);
}
