import { expect, it } from 'vitest';
import { parseScript, serialOrder } from '../cases/index.js';
import { findContract } from '../contracts/index.js';
import { Database } from '../judge/index.js';
import { runNodeScript } from '../report/exports/run-export.case.js';
import { compareAnswers, makeBug, reportMarkdown } from '../report/index.js';
import { openTarget } from '../targets/index.js';
import { withAllRead, withClosingReads } from './closing-reads.js';
import { pursue } from './pursue.js';

const text = `
CREATE TABLE t (a INT);
INSERT INTO t (a) VALUES (0);
T2: BEGIN
T2: SELECT * FROM t
T1: DELETE FROM t
T2: UPDATE t SET a = 1
T2: COMMIT
`;
const scheduled = parseScript(text, { file: 'lost.sql', dialect: 'duckdb' });
const { case: program } = scheduled;
const schedule = scheduled.schedule ?? serialOrder(program);

it('reads every table once, at the end, and never twice', () => {
  const closed = withAllRead({ case: program, schedule }, 'duckdb');
  expect(closed.case.sessions.at(-1)).toEqual({ name: 'after', statements: ['SELECT * FROM t'] });
  expect(closed.schedule.batches.at(-1)).toEqual([[2, 0]]);
  expect(withAllRead(closed, 'duckdb')).toEqual(closed);
  expect(withClosingReads(program, schedule, [])).toEqual({ case: program, schedule });
});

it('a write that was accepted and is gone is shown by a read in the case, the report and the script', async () => {
  const database = await Database.open({ open: () => openTarget('duckdb:'), onReopen: () => undefined });
  try {
    const contract = findContract('duckdb:snapshot')!;
    const request = {
      case: program,
      schedule,
      oracle: 'dependency-graph',
      level: 'snapshot',
      contract,
      // Of the case before reduction: nobody may read them of a smaller one.
      observe: ['SELECT * FROM gone'],
    } as const;
    const observed = await database.observe({ ...request, observe: [] }, 0);
    if (observed.kind !== 'ran') throw new Error(`the case did not run: ${observed.kind}`);
    const finding = observed.findings.find(({ kind }) => kind === 'lost-write')!;
    const raw = { request, finding, history: observed.history };
    const outcome = await pursue(raw, { database, lane: 0, confirmRuns: 2, vendor: contract });
    if (outcome.kind !== 'bug') throw new Error(`it ended as ${outcome.kind}`);
    const { result, ...found } = outcome.bug;
    expect(result.result.case.sessions.at(-1)).toEqual({ name: 'after', statements: ['SELECT * FROM t'] });
    const at = '2026-01-02T03:04:05.000Z';
    const bug = makeBug({ ...found, ...result.result, reproduced: { shown: 2, runs: 2 }, at });
    expect(compareAnswers(bug).at(-1)).toMatchObject({
      statement: 'SELECT * FROM t',
      actual: 'no rows',
      expected: expect.stringMatching(/^\(\d+\), or an error in T\d$/),
      closing: true,
    });
    expect(reportMarkdown(bug)).toContain('and at the end `SELECT * FROM t` gave `no rows`, where DuckDB');
    // Row versions alone would not have decided it.
    expect(await runNodeScript(bug)).toMatchObject({ code: 1, err: '' });
  } finally {
    await database.close();
  }
}, 60_000);
