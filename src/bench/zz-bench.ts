/**
 * Reduction strategies side by side, on real engines, in one run.
 *
 * Buried cases: a bug of a few operations, once, among irrelevant work of twelve sessions, so that the right answer is known.
 * Every strategy removes operations from the same case; passes that simplify statements are left out, for they are
 * the same for all. Raw cases: free runs of random transactions on MariaDB, in which its no-op-update bug shows by
 * itself; there witness-first does the whole job, from the history to the minimal case. A strategy that is stopped at
 * `slowLimit` trials is shown as `>`, and its time is a lower bound.
 *
 * ISOLDE_BENCH_FULL=1 lets all strategies run on the largest case too, which takes the better part of an hour.
 */
import { parseScript, type ScheduledCase } from '../cases/index.js';
import { runFree } from '../execute/index.js';
import {
  buryCase,
  contractOf,
  DatabaseOracle,
  mechanismJudge,
  type ReductionResult,
  rawFinding,
  reduceFinding,
  type SeenFinding,
  type StrategyName,
} from '../reduce/index.js';
import { openTarget } from '../targets/index.js';
import { startMariadbServer } from '../targets/mariadb/index.js';
import type { Figure } from './measure.js';
import { rawCase } from './raw-cases.js';

const slowLimit = 250;
const full = process.env.ISOLDE_BENCH_FULL === '1';
const judge = mechanismJudge();

export const noOpUpdate = parseScript(
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

export async function benchReduce(): Promise<Figure[]> {
  const server = await startMariadbServer();
  const mariadb = `mariadb://root@localhost/?socket=${server.address.socket}`;
  try {
    const all: readonly StrategyName[] = ['witness', 'pisco', 'ddmin', 'creduce'];
    return [
      ...(await benchBuried('duckdb #17223', 'duckdb:', lostToDelete, 500, all)),
      ...(await benchBuried('no-op update', mariadb, noOpUpdate, 5_000, all)),
      ...(await benchBuried('no-op update', mariadb, noOpUpdate, 20_000, full ? all : ['witness', 'pisco'])),
      ...(await benchRaw(mariadb, 5_000)),
      ...(await benchRaw(mariadb, 20_000)),
    ];
  } finally {
    await server.stop();
  }
}

export async function benchBuried(
  name: string,
  url: string,
  core: ScheduledCase,
  operations: number,
  strategies: readonly StrategyName[],
): Promise<Figure[]> {
  const start = buryCase(core, { operations, sessions: 12 });
  const oracle = await DatabaseOracle.open({ open: () => openTarget(url), judge });
  try {
    const { history, findings } = await oracle.observe(start);
    const seen: SeenFinding = { history, finding: findings[0]! };
    const results = new Map<StrategyName, ReductionResult>();
    for (const strategy of strategies) {
      const mostTrials = full || strategy === 'witness' ? {} : { mostTrials: slowLimit };
      const outcome = await reduceFinding(start, {
        oracle,
        seen,
        strategy,
        operationsOnly: true,
        ...mostTrials,
      });
      if (outcome.kind !== 'reduced') throw new Error(`${name}, ${strategy}: ${outcome.kind}`);
      results.set(strategy, outcome.result);
      console.log(name, operations, strategy, describe(outcome.result));
    }
    const title = `${name}, ${operations} operations`;
    return [
      ...[...results].map(([strategy, result]) => ({
        name: `${title}: ${strategy}`,
        measured: describe(result),
      })),
      ...(operations < 5_000 ? [] : ratios(title, results, operations)),
    ];
  } finally {
    await oracle.close();
  }
}

/** What a strategy is measured by: its own trials and time, without the check that nothing can go. */
function costOf(result: ReductionResult): { readonly trials: number; readonly seconds: number } {
  const { counts, seconds } = result.afterStrategy ?? result;
  return { trials: counts.trials, seconds };
}

/** The paper's claims are about thousands of operations; ours about twenty thousand. */
function ratios(
  title: string,
  results: ReadonlyMap<StrategyName, ReductionResult>,
  operations: number,
): Figure[] {
  const ratio = (a: StrategyName, b: StrategyName, by: 'trials' | 'seconds', target: number): Figure[] => {
    const [one, other] = [results.get(a), results.get(b)];
    if (one === undefined || other === undefined) return [];
    const value = costOf(one)[by] / costOf(other)[by];
    const bound = other.afterStrategy === undefined ? '< ' : '';
    return [
      {
        name: `${title}: ${by} of ${a} ÷ ${b}`,
        measured: `${bound}${value.toFixed(2)}`,
        target: `≤ ${target.toFixed(2)}`,
        pass: value <= target,
      },
    ];
  };
  return [
    ...ratio('pisco', 'ddmin', 'seconds', 1 / 3),
    ...ratio('pisco', 'creduce', 'seconds', 1 / 5),
    ...(operations < 20_000 ? [] : ratio('witness', 'pisco', 'trials', 1 / 10)),
    ...ratio('witness', 'pisco', 'seconds', 1 / 10),
  ];
}

function describe(result: ReductionResult): string {
  const { counts, seconds, operations } = result.afterStrategy ?? result;
  const stopped = result.afterStrategy === undefined ? '> ' : '';
  const minimal = stopped !== '' ? 'stopped' : result.minimal ? 'minimal' : 'not minimal';
  return `${stopped}${counts.trials} trials (${counts.accepted} accepted, ${counts.redundant} redundant), ${stopped}${seconds.toFixed(1)} s, ${operations} operations left, ${minimal}`;
}

/** From a history to the minimal case, passes and twenty runs of the result included. */
async function benchRaw(url: string, operations: number): Promise<Figure[]> {
  const oracle = await DatabaseOracle.open({ open: () => openTarget(url), judge });
  try {
    const { target } = oracle;
    const program = rawCase({
      ...{
        name: 'raw',
        dialect: target.dialect,
        level: 'repeatable read' as const,
        operations,
        sessions: 12,
      },
      ...{ rows: 32, values: 3, deletes: 0, inserts: 0, primaryKey: true, seed: 5 },
    });
    const scratch = await target.createScratch();
    const history = await runFree(scratch, program, { target });
    await scratch.drop();
    const began = performance.now();
    const raw = rawFinding(history, contractOf(history, target), judge, target);
    if (raw === undefined) throw new Error('the raw run shows no finding');
    const inferredSeconds = (performance.now() - began) / 1000;
    const outcome = await reduceFinding(raw.candidate, { oracle, seen: raw, confirmRuns: 20 });
    if (outcome.kind !== 'reduced') throw new Error(`raw case: ${outcome.kind}`);
    const { result } = outcome;
    const { shown, runs } = result.confirmed;
    const small = result.operations <= 10 && result.transactions <= 3 && result.minimal && shown === runs;
    const title = `raw no-op update, ${history.operations.length} operations`;
    return [
      {
        name: `${title}: minimal case`,
        measured: `${result.operations} operations, ${result.transactions} transactions, ${result.minimal ? 'minimal' : 'not minimal'}, shown ${shown} of ${runs}`,
        target: '≤ 10, ≤ 3, minimal, 20 of 20',
        pass: small,
      },
      {
        name: `${title}: reduction (${result.counts.trials} trials)`,
        measured: `${result.seconds.toFixed(1)} s`,
        target: '≤ 5 s',
        pass: result.seconds <= 5,
      },
      { name: `${title}: check and order inference before it`, measured: `${inferredSeconds.toFixed(1)} s` },
    ];
  } finally {
    await oracle.close();
  }
}
