/**
 * Reduction strategies side by side, on real engines, in one run: `npm run bench reduce`.
 *
 * Two kinds of cases. *Spread*: a bug of a few operations among irrelevant work of twelve sessions, its transactions open
 * from one end of the case to the other. *Raw*: free runs of random transactions on few rows, in which the bug shows by
 * itself once or twice; its operations are neighbours, and the rows it is about have been overwritten hundreds of times.
 *
 * Every strategy gets the same start. pisco and witness run their trials by the inferred schedule. The baselines of Pisco's
 * evaluation know no order (§7.3.1): ddmin and creduce replay a case freely, and one replay decides. Its two claims, a third
 * of DDMin's time and a fifth of C-Reduce's, are held against those. With the schedule, ddmin is what the paper calls Pisco
 * without reduction units, of which it reports 2.1 times Pisco's time; that is listed beside, without a target, for where a finding is
 * local, halving a case cannot be beaten by a factor.
 *
 * Who is slower than a multiple of pisco's time that settles its target is stopped there and shown with `>`: its figures
 * are lower bounds, and a ratio with `<` or `>` is a bound too. The table tells apart what a strategy costs and what the
 * passes and the check for minimality cost that follow any strategy. `statements` is what trials sent: times are noisy, this
 * is not.
 */
import { parseScript, type ScheduledCase } from '../cases/index.js';
import { identityOf } from '../check/index.js';
import { runAndJudge } from '../judge/index.js';
import {
  buryCase,
  type Candidate,
  contractOf,
  DatabaseOracle,
  type FindingOracle,
  type RawFinding,
  type ReductionResult,
  rawFinding,
  reduceFinding,
  renderTable,
  type SeenFinding,
  type StrategyName,
  sizeOf,
} from '../reduce/index.js';
import { openTarget, type Target } from '../targets/index.js';
import { startMariadbServer } from '../targets/mariadb/index.js';
import type { Figure } from './measure.js';
import { rawCase } from './raw-cases.js';

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

const contestants: readonly Contestant[] = [
  { strategy: 'pisco', order: 'schedule' },
  { strategy: 'witness', order: 'schedule' },
  { strategy: 'ddmin', order: 'free', most: 8 },
  { strategy: 'creduce', order: 'free', most: 8 },
  { strategy: 'ddmin', order: 'schedule', most: 3.5 },
  { strategy: 'creduce', order: 'schedule', most: 5.5 },
];

/** A strategy stopped later than that is slow enough for any comparison. */
const mostSeconds = 300;

interface Row {
  readonly title: string;
  readonly contestant: Contestant;
  readonly result: ReductionResult;
  readonly stopped: boolean;
  /** Statements that the strategy's trials sent. */
  readonly statements: number;
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
    const cases: readonly (readonly [string, () => Promise<Start>])[] = [
      ['duckdb #17223, spread, 500', spread('duckdb:', lostToDelete, 500)],
      ['no-op update, spread, 5,000', spread(mariadb, noOpUpdate, 5_000)],
      ['no-op update, raw, 5,000', raw(5_000)],
      ['no-op update, raw, 10,000', raw(10_000)],
      ['no-op update, raw, 20,000', raw(20_000)],
    ];
    for (const [title, prepare] of cases) rows.push(...(await compete(title, prepare, log)));
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

async function compete(title: string, prepare: () => Promise<Start>, log: Log): Promise<Row[]> {
  const { url, start, seen: given } = await prepare();
  const rows: Row[] = [];
  const open = (order: Contestant['order']) =>
    DatabaseOracle.open({
      ...{ open: () => openTarget(url), order },
      ...(order === 'free' && { repeat: { agree: 1 } }),
    });
  const ordered = await open('schedule');
  const seen = given ?? (await seenBy(ordered, start));
  let piscoSeconds = Number.POSITIVE_INFINITY;
  for (const contestant of contestants) {
    const oracle = contestant.order === 'schedule' ? ordered : await open('free');
    const limit = Math.min(mostSeconds, (contestant.most ?? Number.POSITIVE_INFINITY) * piscoSeconds);
    const sent = countSent(oracle);
    log(`${title}: ${nameOf(contestant)} …`);
    const signal = AbortSignal.timeout(Math.ceil(1000 * limit));
    const outcome = await reduceFinding(start, {
      ...{ oracle: sent.oracle, seen, strategy: contestant.strategy, startShows: true, signal },
      onProgress: ({ stage }) => sent.at(stage),
    });
    if (contestant.order === 'free') await oracle.close();
    if (outcome.kind !== 'reduced') throw new Error(`${title}, ${nameOf(contestant)}: ${outcome.kind}`);
    const { result } = outcome;
    const stopped = result.afterStrategy === undefined;
    const row = { title, contestant, result, stopped, statements: sent.during(contestant.strategy) };
    if (contestant.strategy === 'pisco') piscoSeconds = costOf(row).seconds;
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

/** Counts what trials send, by the stage of the reduction. */
function countSent(inner: DatabaseOracle) {
  const sent = new Map<string, number>();
  let stage = '';
  const oracle: FindingOracle = {
    lanes: inner.lanes,
    subject: inner.subject,
    observe: (candidate) => inner.observe(candidate),
    identity: (finding, history) => inner.identity(finding, history),
    lookFor: (identity) => inner.lookFor(identity),
    run: (candidate, lane) => {
      sent.set(stage, (sent.get(stage) ?? 0) + sizeOf(candidate.case).operations);
      return inner.run(candidate, lane);
    },
  };
  return {
    oracle,
    at: (now: string) => {
      stage = now;
    },
    during: (asked: string) => sent.get(asked) ?? 0,
  };
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
      const place = { target, scratch };
      const { history, findings } = await runAndJudge({ case: program, oracle: 'mechanism' }, place);
      await scratch.drop();
      const raw = await replayed(rawFinding(history, contractOf(history, target), findings), target);
      log(`raw run of ${operations} operations, seed ${seed}: ${raw?.findings ?? 'no'} findings that replay`);
      if (raw === undefined || (best !== undefined && best.findings <= raw.findings)) continue;
      best = { url, start: raw.candidate, seen: raw, findings: raw.findings };
    }
    if (best === undefined) throw new Error(`no raw run of ${operations} operations shows a finding`);
    return best;
  } finally {
    await target.close();
  }
}

/** A finding of a raw run, if a replay shows it: the others are not for reduction. */
async function replayed(raw: RawFinding | undefined, target: Target): Promise<RawFinding | undefined> {
  if (raw === undefined) return undefined;
  const scratch = await target.createScratch();
  const place = { target, scratch };
  const run = await runAndJudge({ ...raw.candidate, oracle: 'mechanism' }, place);
  await scratch.drop();
  const wanted = identityOf(raw.finding, raw.history);
  const isShown = run.findings.some((finding) => identityOf(finding, run.history) === wanted);
  return isShown ? raw : undefined;
}

function nameOf({ strategy, order }: Contestant): string {
  return order === 'free' ? `${strategy}, free order` : strategy;
}

type Cost = 'trials' | 'statements' | 'seconds';

/** What a strategy itself cost. */
function costOf({ result, statements }: Row): Readonly<Record<Cost, number>> {
  const { counts, seconds } = result.afterStrategy ?? result;
  return { trials: counts.trials, statements, seconds };
}

function cells({ title, contestant, result, stopped, statements }: Row): string[] {
  const { counts, seconds, operations } = result.afterStrategy ?? result;
  const after = result.counts.trials - counts.trials;
  const bound = stopped ? '> ' : '';
  return [
    title,
    nameOf(contestant),
    `${bound}${counts.trials}`,
    String(counts.accepted),
    String(counts.redundant),
    `${bound}${statements}`,
    `${bound}${seconds.toFixed(1)}`,
    String(operations),
    stopped ? '' : String(after),
    stopped ? '' : (result.seconds - seconds).toFixed(1),
    String(result.operations),
    stopped ? 'stopped' : result.minimal ? 'minimal' : (result.whyNotMinimal ?? 'not minimal'),
  ];
}

function table(rows: readonly Row[]): string {
  const head = ['case', 'strategy', 'trials', 'accepted', 'redundant', 'statements', 'seconds', 'operations'];
  return renderTable([
    [...head, 'clean-up trials', 'clean-up seconds', 'operations', 'result'],
    ...rows.map((row, i) => [row.title === rows[i - 1]?.title ? '' : row.title, ...cells(row).slice(1)]),
  ]);
}

const kinds = ['spread', 'raw'] as const;

function figures(rows: readonly Row[]): Figure[] {
  const of = (strategy: StrategyName, order: Contestant['order'] = 'schedule') =>
    rows.filter(({ contestant }) => contestant.strategy === strategy && contestant.order === order);
  const figure = (
    name: string,
    by: Cost,
    [some, others]: readonly [readonly Row[], readonly Row[]],
    target?: number,
  ): Figure[] =>
    kinds.map((kind) => {
      // Sums over the cases both took part in.
      const theirs = others.filter(({ title }) => title.includes(kind));
      const titles = new Set(theirs.map(({ title }) => title));
      const matching = some.filter(({ title }) => titles.has(title));
      const sum = (list: readonly Row[]) => list.reduce((total, row) => total + costOf(row)[by], 0);
      const value = sum(matching) / sum(theirs);
      // What was stopped would have cost more.
      const isBound = (list: readonly Row[]) => list.some(({ stopped }) => stopped);
      const bound = isBound(theirs) ? (isBound(matching) ? 'about ' : '< ') : isBound(matching) ? '> ' : '';
      // An upper bound above the target, or a lower bound below it, settles nothing; it is not called a success.
      return {
        name: `${by} of ${name}, ${kind} cases`,
        measured: `${bound}${value.toFixed(3)}`,
        ...(target !== undefined && {
          target: `≤ ${target.toFixed(3)}`,
          pass: value <= target && !isBound(matching),
        }),
      };
    });
  const largest = of('witness').at(-1)!.result;
  const [pisco, witness] = [of('pisco'), of('witness')];
  return [
    ...figure('pisco ÷ ddmin in free order', 'seconds', [pisco, of('ddmin', 'free')], 1 / 3),
    ...figure('pisco ÷ creduce in free order', 'seconds', [pisco, of('creduce', 'free')], 1 / 5),
    ...figure('pisco ÷ ddmin by schedule', 'seconds', [pisco, of('ddmin')]),
    ...figure('pisco ÷ ddmin by schedule', 'statements', [pisco, of('ddmin')]),
    ...figure('pisco ÷ creduce by schedule', 'seconds', [pisco, of('creduce')]),
    ...figure('witness ÷ pisco', 'trials', [witness, pisco], 1 / 10),
    ...figure('witness ÷ pisco', 'seconds', [witness, pisco], 1 / 10),
    {
      name: 'witness at 20,000 operations, clean-up included',
      measured: `${largest.seconds.toFixed(1)} s, ${largest.counts.trials} trials, ${largest.operations} operations left`,
      target: '≤ 5 s',
      pass: largest.seconds <= 5 && largest.minimal,
    },
  ];
}
