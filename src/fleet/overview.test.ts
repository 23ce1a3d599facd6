/** What is made of the rows of a fleet's tables. Results come from other machines: what is odd in them is refused by name. */
import { describe, expect, it } from 'vitest';
import { IsoldeError } from '../errors.js';
import { newCounters } from '../hunt/index.js';
import { fakeDatabase } from './fake-database.case.js';
import { batchLine, batchResults, fleetStatus, isOver, logLines } from './overview.js';

const line = {
  ...{ id: '7', kind: 'hunt', title: 'a hunt', created: '2026-01-01T00:00:00Z', stranded: [] },
  ...{ ready: 0, running: 0, done: 2, failed: 0, cancelled: 0 },
};
const batches = 'FROM isolde_shared.batches';
const results = 'SELECT id, kind, result';

/** The results of jobs `1`, `2`, … of a kind. */
function resultsOf(kind: string, ...texts: readonly (object | string)[]) {
  const rows = texts.map((each, i) => {
    return { id: `${i + 1}`, kind, result: typeof each === 'string' ? each : JSON.stringify(each) };
  });
  const { database } = fakeDatabase([batches, [{ ...line, kind }]], [results, rows]);
  return batchResults(database, '7');
}

const check = {
  file: 'a.jsonl',
  format: 'isolde',
  valid: false,
  kinds: ['G1a'],
  strongest: [],
  unknownReasons: [],
};
const cell = { subject: 'x', target: 'duckdb:', outcome: 'shows', why: '', shown: 3, runs: 3 };
const reduced = {
  ...{ operations: 4, minimal: true, sameFinding: true, shown: 5, runs: 5, trials: 20, remote: 8 },
  ...{ kind: 'lost-update', file: '{}', script: 'T1: SELECT 1' },
};

describe('the results of a batch', () => {
  it('of a hunt are the sums of its jobs, and no sum of moments', async () => {
    const counters = { ...newCounters(), rounds: 5, statements: 40, seconds: 1.5, firstBugSeconds: 3 };
    const { counters: sum } = await resultsOf('hunt', { counters }, { counters });
    expect(sum).toEqual({ ...newCounters(), rounds: 10, statements: 80, seconds: 3 });
  });

  it('of a hunt say how many rounds were undecided and why, also beside jobs that did not count them', async () => {
    const open = { rounds: 2, undecided: 2, undecidedReasons: [{ reason: 'a window function', rounds: 2 }] };
    const { undecided: _, undecidedReasons: __, ...older } = newCounters();
    const all = [{ ...newCounters(), ...open }, older, { ...newCounters(), ...open }];
    const { counters: sum } = await resultsOf('hunt', ...all.map((counters) => ({ counters })));
    expect(sum).toMatchObject({
      undecided: 4,
      undecidedReasons: [{ reason: 'a window function', rounds: 4 }],
    });
  });

  it('have counters for hunts only', async () => {
    expect(await resultsOf('check', check)).not.toHaveProperty('counters');
  });

  it.each([
    ['check', check, 'checks'],
    ['matrix', cell, 'cells'],
    ['matrix', { ...cell, level: 'snapshot', version: '1.5' }, 'cells'],
    ['reduce', reduced, 'reductions'],
  ] as const)('of a %s are read as they were written: %j', async (kind, result, where) => {
    expect((await resultsOf(kind, result))[where]).toEqual([result]);
  });

  it('keep an open verdict open', async () => {
    const { checks } = await resultsOf('check', { ...check, valid: 'unknown' });
    expect(checks[0]!.valid).toBe('unknown');
  });

  it.each([
    ['check', 'not JSON'],
    ['check', { ...check, kinds: 'G1a' }],
    ['check', { ...check, file: 7 }],
    ['matrix', { ...cell, outcome: 'maybe' }],
    ['matrix', { ...cell, level: 'strong' }],
    ['matrix', { ...cell, shown: -1 }],
    ['reduce', { ...reduced, trials: 'many' }],
    ['reduce', { ...reduced, script: null }],
    ['hunt', { stopped: 'done' }],
    ['hunt', { counters: null }],
    ['hunt', { counters: { ...newCounters(), undecidedReasons: [{ reason: 7, rounds: 1 }] } }],
    ['check', 'null'],
    ['matrix', '7'],
  ])('of a %s are refused, with the job’s number: %j', async (kind, result) => {
    const asked = resultsOf(kind, result);
    await expect(asked).rejects.toThrow(IsoldeError);
    await expect(asked).rejects.toThrow('the result of job 1');
  });

  it('are read page by page, each from the last one’s end', async () => {
    const page = (from: number, count: number) =>
      Array.from({ length: count }, (_, i) => ({
        id: `${from + i}`,
        kind: 'check',
        result: JSON.stringify(check),
      }));
    const { database, asked } = fakeDatabase(
      [batches, [line]],
      [results, ([, after]) => (after === '0' ? page(1, 1000) : page(1001, 3))],
    );
    expect((await batchResults(database, '7')).checks).toHaveLength(1003);
    const pages = asked.filter(({ sql }) => sql.startsWith(results));
    expect(pages.map(({ values }) => values)).toEqual([
      ['7', '0'],
      ['7', '1000'],
    ]);
  });

  it('leave out the trials of a reduction: they are its own business', async () => {
    const { database, asked } = fakeDatabase([batches, [line]]);
    await batchResults(database, '7');
    const ofJobs = asked.filter(({ sql }) => sql.includes('isolde_shared.jobs'));
    expect(ofJobs.length).toBeGreaterThan(2);
    for (const { sql } of ofJobs) expect(sql).toContain("kind <> 'trial'");
  });
});

describe('a batch', () => {
  it.each([
    ['7', [['7']]],
    [undefined, [[]]],
  ])('is found by its number or is the last one: %j', async (number, values) => {
    const { database, asked } = fakeDatabase([batches, [line]]);
    expect(await batchLine(database, number)).toEqual(line);
    expect(asked.map((each) => each.values)).toEqual(values);
  });

  it.each(['', '7; DROP TABLE jobs', '-1', '1e3', '9'.repeat(19), ' 7'])(
    'has a number that is not %j, and nobody is asked for it',
    async (number) => {
      const { database, asked } = fakeDatabase([batches, [line]]);
      await expect(batchLine(database, number)).rejects.toThrow('a batch has a number');
      expect(asked).toEqual([]);
    },
  );

  it.each([
    ['9', 'there is no batch 9'],
    [undefined, 'nothing was submitted yet'],
  ])('that is not there is an error of its own: %j', async (number, why) => {
    await expect(batchLine(fakeDatabase().database, number)).rejects.toThrow(why);
  });

  it.each([
    [{}, true],
    [{ ready: 1 }, false],
    [{ running: 1 }, false],
    [{ failed: 3, cancelled: 2 }, true],
  ])('with %j is over: %j', (more, over) => {
    expect(isOver({ ...line, ...more })).toBe(over);
  });
});

it('the status has workers and the last batches, as many as asked for', async () => {
  const worker = { id: '1', name: 'w', has: ['check'], slots: 2, running: 1, alive: true, silent: 0.5 };
  const { database, asked } = fakeDatabase([batches, [line]], ['FROM isolde_shared.workers', [worker]]);
  expect(await fleetStatus(database, 3)).toEqual({ workers: [worker], batches: [line] });
  expect(asked.at(-1)!.values).toEqual([3]);
});

it.each([
  [{}, [null, '0', 1_000]],
  [{ batch: '7', after: '40', most: 5 }, ['7', '40', 5]],
])('the log is asked for with %j', async (options, values) => {
  const { database, asked } = fakeDatabase();
  await logLines(database, options);
  expect(asked.map((each) => each.values)).toEqual([values]);
});
