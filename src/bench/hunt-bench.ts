/**
 * `npm run bench hunt`: how much a hunt does in a minute, and how soon it finds something, beside what others reach on this size
 * of machine: TxCheck 18 test cases of 12 statements a minute, Troc 25 schedules a minute. A case of ours is a round: one
 * program in one order, run and checked; what its findings cost to confirm and reduce is in the time, too. `-- --no-coverage` leaves the page of
 * what hunts reach as it is.
 */
import { hunt, type Shelf } from '../hunt/index.js';
import { openTarget } from '../targets/index.js';
import { mariadbAvailable } from '../targets/mariadb/index.js';
import { mysqlAvailable } from '../targets/mysql/index.js';
import { postgresAvailable } from '../targets/postgres/index.js';
import { writeCoverage } from './hunt-coverage.js';
import { type Figure, median } from './measure.js';

const txcheckPerMinute = 18;
const trocPerMinute = 25;
const seeds = ['1', '2', '3', '4', '5'];
const rateMs = 30_000;
const firstBugMs = 60_000;

/** Bugs are not kept: a disk's speed is no hunt's. */
function forgetful(): Shelf {
  const seen = new Set<string>();
  return {
    isIgnored: async () => false,
    add: async (bug) => {
      const isNew = !seen.has(bug.id);
      seen.add(bug.id);
      return { bug, isNew, files: [] };
    },
    addBurst: async (finding) => ({ id: finding.program, isNew: true, folder: '', finding }),
    seenAgain: () => undefined,
  };
}

interface Engine {
  readonly name: string;
  readonly url: string;
  readonly missing: string | undefined;
}

export async function benchHunt(options: readonly string[] = []): Promise<Figure[]> {
  const mariadb = { name: 'MariaDB RR', url: 'mariadb:', missing: mariadbAvailable() };
  const mysql = { name: 'MySQL RR', url: 'mysql:', missing: mysqlAvailable() };
  const postgres = { name: 'PostgreSQL RR', url: 'postgres:', missing: postgresAvailable() };
  const inMariadb = await benchRate(mariadb, { wanted: 50 * txcheckPerMinute });
  // Set-up is what costs on MySQL: every CREATE and DROP is a transaction of its dictionary.
  const inMysql = await benchRate(mysql, { wanted: (inMariadb.rate ?? 0) / 2 });
  return [
    ...inMariadb.figures,
    ...(await benchFirstBug(mariadb)),
    ...inMysql.figures,
    ...(await benchRate(postgres)).figures,
    ...(options.includes('--no-coverage') ? [] : await benchCoverage()),
  ];
}

async function benchCoverage(): Promise<Figure[]> {
  const page = 'docs/stages/hunt-coverage.md';
  return [{ name: `What hunts reach: ${page}`, measured: await writeCoverage(page, 800) }];
}

interface Rate {
  /** Rounds a minute; absent: not measured. */
  readonly rate?: number;
  readonly figures: readonly Figure[];
}

async function benchRate(
  { name, url, missing }: Engine,
  { wanted }: { readonly wanted?: number } = {},
): Promise<Rate> {
  if (missing !== undefined) return { figures: [{ name, measured: `not run: ${missing}` }] };
  const { counters } = await hunt({
    open: () => openTarget(url),
    shelf: forgetful(),
    seed: '1',
    levels: ['repeatable read'],
    forMs: rateMs,
  });
  const { rounds, seconds, statements, invalid, conflicts, clashes } = counters;
  const rate = (60 * rounds) / seconds;
  const share = (part: number, whole: number) => part / Math.max(1, whole);
  const percent = (value: number) => `${(100 * value).toFixed(1)} %`;
  const valid = 1 - share(invalid, statements);
  const met = share(conflicts, rounds);
  const times = `${(rate / txcheckPerMinute).toFixed(0)} × TxCheck, ${(rate / trocPerMinute).toFixed(0)} × Troc`;
  const figures: Figure[] = [
    {
      name: `${name}: cases a minute, check included`,
      measured: `${rate.toFixed(0)} (${times})`,
      ...(wanted === undefined ? {} : { target: `>= ${wanted.toFixed(0)}`, pass: rate >= wanted }),
    },
    {
      name: `${name}: statements in a case`,
      measured: (statements / Math.max(1, rounds)).toFixed(1),
    },
    { name: `${name}: valid statements`, measured: percent(valid), target: '>= 95 %', pass: valid >= 0.95 },
    {
      name: `${name}: rounds with a conflict on a row`,
      measured: `${percent(met)} (${percent(share(clashes, rounds))} waited or were refused)`,
      target: '>= 50 %',
      pass: met >= 0.5,
    },
  ];
  return { rate, figures };
}

async function benchFirstBug({ name, url, missing }: Engine): Promise<Figure[]> {
  if (missing !== undefined) return [];
  const times: number[] = [];
  for (const seed of seeds) {
    const { counters } = await hunt({
      open: () => openTarget(url),
      shelf: forgetful(),
      seed,
      levels: ['repeatable read'],
      bugs: 1,
      forMs: firstBugMs,
    });
    times.push(counters.firstBugSeconds ?? Number.POSITIVE_INFINITY);
  }
  const middle = median(times);
  return [
    {
      name: `${name}: first confirmed bug, median of ${seeds.length} seeds`,
      measured: `${middle.toFixed(1)} s (${times.map((time) => time.toFixed(1)).join(', ')})`,
      target: '< 20 s',
      pass: middle < 20,
    },
  ];
}
