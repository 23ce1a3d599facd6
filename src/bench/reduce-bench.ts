/**
 * Reduction strategies side by side, on real engines, in one run: `npm run bench reduce`.
 *
 * Two kinds of cases. *Spread*: a bug of a few operations among irrelevant work of twelve sessions, its transactions open
 * from one end of the case to the other. *Raw*: free runs of random transactions on few rows, in which the bug shows by
 * itself once or twice; its operations are neighbours.
 *
 * Every strategy gets the same start and the same trials, by schedule. Pisco's paper ran DDMin and C-Reduce without an
 * inferred order, so they are there once more like that ("free order"). Who is slower than the multiple of pisco's time that
 * a target is about is stopped there and shown with `>`: its figures are lower bounds, and so are the ratios' bounds.
 *
 * The table tells apart what a strategy costs and what the passes and the check for minimality cost that follow any
 * strategy. Targets are about sums over all cases, as the paper's averages are.
 */
import { parseScript, type ScheduledCase } from '../cases/index.js';
import { runFree } from '../execute/index.js';
import {
  buryCase,
  type Candidate,
  contractOf,
  DatabaseOracle,
  mechanismJudge,
  type ReductionResult,
  rawFinding,
  reduceFinding,
  renderTable,
  type SeenFinding,
  type StrategyName,
} from '../reduce/index.js';
import { openTarget } from '../targets/index.js';
import { startMariadbServer } from '../targets/mariadb/index.js';
import type { Figure } from './measure.js';
import { rawCase } from './raw-cases.js';

const judge = mechanismJudge();

const noOpUpdate = parseScript(
  `CREATE TABLE t (id INT PRIMARY KEY, v INT);
   INSERT INTO t VALUES (1, 10), (2, 20);
   A: BEGIN;
   A: SELECT id, v FROM t;
   B: BEGIN;
   B: UPDATE t SET v = 99 WHERE id = 1;
   B: COMMIT;
   A: UPDATE t SET v = 99 WHERE id = 1;
   A: SELECT id, v FROM t;
   A: COMMIT;`,
  { file: 'no-op update', dialect: 'mysql' },
);

const lostToDelete = parseScript(
  `CREATE TABLE t (id INT, v INT);
   INSERT INTO t VALUES (1, 10), (2, 20);
   A: BEGIN;
   A: SELECT * FROM t;
   B: DELETE FROM t WHERE id = 1;
   A: UPDATE t SET v = 55 WHERE id = 1;
   A: COMMIT;
   B: SELECT * FROM t;`,
  { file: 'duckdb #17223', dialect: 'duckdb' },
);

/** A strategy, in whose order its trials run, and the multiple of pisco's time after which it is stopped. */
interface Contestant {
  readonly strategy: StrategyName;
  readonly order: 'schedule' | 'free';
  readonly most?: number;
}

const witness: Contestant = { strategy: 'witness', order: 'schedule' };
const pisco: Contestant = { strategy: 'pisco', order: 'schedule' };
const all: readonly Contestant[] = [
  pisco,
  witness,
  { strategy: 'ddmin', order: 'schedule', most: 6 },
  { strategy: 'creduce', order: 'schedule', most: 8 },
  { strategy: 'ddmin', order: 'free', most: 4 },
  { strategy: 'creduce', order: 'free', most: 6 },
];
/** Nothing runs longer than this on one case. */
const mostSeconds = 60;

interface Row {
  readonly title: string;
  readonly contestant: Contestant;
  readonly result: ReductionResult;
  readonly stopped: boolean;
}

type Log = (line: string) => void;

export async function benchReduce(): Promise<Figure[]> {
  const log: Log = (line) => console.error(line);
  const server = await startMariadbServer();
  const mariadb = `mariadb://root@localhost/?socket=${server.address.socket}`;
  const rows: Row[] = [];
  try {
    const spread = (url: string, core: ScheduledCase, operations: number) => async () => ({
      url,
      start: buryCase(core, { operations, sessions: 12 }),
    });
    const raw = (operations: number) => () => rawRun(mariadb, operations, log);
    rows.push(
      ...(await compete('duckdb #17223, spread, 500', spread('duckdb:', lostToDelete, 500), all, log)),
    );
    rows.push(
      ...(await compete('no-op update, spread, 2,000', spread(mariadb, noOpUpdate, 2_000), all, log)),
    );
    rows.push(...(await compete('no-op update, raw, 1,000', raw(1_000), all, log)));
    rows.push(...(await compete('no-op update, raw, 5,000', raw(5_000), all, log)));
    rows.push(...(await compete('no-op update, raw, 20,000', raw(20_000), [pisco, witness], log)));
  } finally {
    await server.stop();
  }
  console.log(`\nStrategies by case\n${table(rows)}`);
  return figures(rows);
}

interface Start {
  readonly url: string;
  readonly start: Candidate;
  /** The raw run that shows the finding; without it the case is run once. */
  readonly seen?: SeenFinding;
}

async function compete(
  title: string,
  prepare: () => Promise<Start>,
  contestants: readonly Contestant[],
  log: Log,
): Promise<Row[]> {
  const { url, start, seen: given } = await prepare();
  const rows: Row[] = [];
  const open = (order: Contestant['order']) =>
    DatabaseOracle.open({ open: () => openTarget(url), judge, order });
  const ordered = await open('schedule');
  const seen = given ?? (await seenBy(ordered, start));
  let piscoSeconds = mostSeconds;
  for (const contestant of contestants) {
    const oracle = contestant.order === 'schedule' ? ordered : await open('free');
    const limit = Math.min(mostSeconds, (contestant.most ?? Number.POSITIVE_INFINITY) * piscoSeconds);
    log(`${title}: ${nameOf(contestant)} …`);
    const signal = AbortSignal.timeout(Math.ceil(1000 * limit));
    const outcome = await reduceFinding(start, {
      ...{ oracle, seen, strategy: contestant.strategy, startShows: true, signal },
    });
    if (contestant.order === 'free') await oracle.close();
    if (outcome.kind !== 'reduced') throw new Error(`${title}, ${nameOf(contestant)}: ${outcome.kind}`);
    const { result } = outcome;
    const row = { title, contestant, result, stopped: result.afterStrategy === undefined };
    if (contestant === pisco) piscoSeconds = costOf(row).seconds;
    log(`${title}: ${cells(row).slice(1).join('  ')}`);
    rows.push(row);
  }
  await ordered.close();
  return rows;
}

async function seenBy(oracle: DatabaseOracle, start: Candidate): Promise<SeenFinding> {
  const { history, findings } = await oracle.observe(start);
  if (findings[0] === undefined) throw new Error(`${start.case.name} shows no finding`);
  return { history, finding: findings[0] };
}

/** A free run with as few findings as some seeds give; values are so many that hardly any update meets its own. */
async function rawRun(url: string, operations: number, log: Log): Promise<Start> {
  const target = await openTarget(url);
  try {
    let best: (Start & { readonly findings: number }) | undefined;
    for (let seed = 1; seed <= 8 && best?.findings !== 1; seed++) {
      const program = rawCase({
        ...{ name: 'raw', dialect: target.dialect, level: 'repeatable read', operations, sessions: 12 },
        ...{ rows: 32, values: Math.ceil(operations / 6), deletes: 0, inserts: 0, primaryKey: true, seed },
      });
      const scratch = await target.createScratch();
      const history = await runFree(scratch, program, { target });
      await scratch.drop();
      const raw = rawFinding(history, contractOf(history, target), judge, target);
      log(`raw run of ${operations} operations, seed ${seed}: ${raw?.findings ?? 0} findings`);
      if (raw === undefined || (best !== undefined && best.findings <= raw.findings)) continue;
      best = { url, start: raw.candidate, seen: raw, findings: raw.findings };
    }
    if (best === undefined) throw new Error(`no raw run of ${operations} operations shows a finding`);
    return best;
  } finally {
    await target.close();
  }
}

function nameOf({ strategy, order }: Contestant): string {
  return order === 'free' ? `${strategy}, free order` : strategy;
}

/** What a strategy itself cost. */
function costOf({ result }: Row): { readonly trials: number; readonly seconds: number } {
  const { counts, seconds } = result.afterStrategy ?? result;
  return { trials: counts.trials, seconds };
}

function cells({ title, contestant, result, stopped }: Row): string[] {
  const { counts, seconds, operations } = result.afterStrategy ?? result;
  const after = result.counts.trials - counts.trials;
  const bound = stopped ? '> ' : '';
  return [
    title,
    nameOf(contestant),
    `${bound}${counts.trials}`,
    String(counts.accepted),
    String(counts.redundant),
    `${bound}${seconds.toFixed(1)}`,
    String(operations),
    stopped ? '' : String(after),
    stopped ? '' : (result.seconds - seconds).toFixed(1),
    String(result.operations),
    stopped ? 'stopped' : result.minimal ? 'minimal' : (result.whyNotMinimal ?? 'not minimal'),
  ];
}

function table(rows: readonly Row[]): string {
  const head = ['case', 'strategy', 'trials', 'accepted', 'redundant', 'seconds', 'operations'];
  return renderTable([
    [...head, 'clean-up trials', 'clean-up seconds', 'operations', 'result'],
    ...rows.map((row, i) => [row.title === rows[i - 1]?.title ? '' : row.title, ...cells(row).slice(1)]),
  ]);
}

function figures(rows: readonly Row[]): Figure[] {
  const of = (strategy: StrategyName, order: Contestant['order'] = 'schedule') =>
    rows.filter(({ contestant }) => contestant.strategy === strategy && contestant.order === order);
  /** Sums over the cases both took part in. */
  const ratio = (some: readonly Row[], others: readonly Row[], by: 'trials' | 'seconds') => {
    const titles = new Set(others.map(({ title }) => title));
    const sum = (list: readonly Row[]) =>
      list.filter(({ title }) => titles.has(title)).reduce((total, row) => total + costOf(row)[by], 0);
    return sum(some) / sum(others);
  };
  const figure = (
    name: string,
    by: 'trials' | 'seconds',
    some: readonly Row[],
    others: readonly Row[],
    target?: number,
  ): Figure => {
    const value = ratio(some, others, by);
    const bound = others.some(({ stopped }) => stopped) ? '< ' : '';
    return {
      name: `${by} of ${name}, all cases`,
      measured: `${bound}${value.toFixed(3)}`,
      ...(target !== undefined && { target: `≤ ${target.toFixed(3)}`, pass: value <= target }),
    };
  };
  const largest = of('witness').at(-1)!.result;
  return [
    figure('pisco ÷ ddmin', 'seconds', of('pisco'), of('ddmin'), 1 / 3),
    figure('pisco ÷ ddmin in free order (the paper’s)', 'seconds', of('pisco'), of('ddmin', 'free'), 1 / 3),
    figure('pisco ÷ creduce', 'seconds', of('pisco'), of('creduce'), 1 / 5),
    figure(
      'pisco ÷ creduce in free order (the paper’s)',
      'seconds',
      of('pisco'),
      of('creduce', 'free'),
      1 / 5,
    ),
    figure('witness ÷ pisco', 'trials', of('witness'), of('pisco'), 1 / 10),
    figure('witness ÷ pisco', 'seconds', of('witness'), of('pisco'), 1 / 10),
    {
      name: 'witness at 20,000 operations, clean-up included',
      measured: `${largest.seconds.toFixed(1)} s, ${largest.counts.trials} trials, ${largest.operations} operations left`,
      target: '≤ 5 s',
      pass: largest.seconds <= 5 && largest.minimal,
    },
  ];
}
