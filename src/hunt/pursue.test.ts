import { describe, expect, it } from 'vitest';
import { judgedHistory } from '../check/index.js';
import { findContract } from '../contracts/index.js';
import { Database, type Observe } from '../judge/index.js';
import { probeCases } from '../probe/index.js';
import { findingsOf, rawRun, replayed } from '../reduce/learnt-order.case.js';
import { openTarget, type Target } from '../targets/index.js';
import { fragile } from './fragile-target.case.js';
import { type Pursued, type PursueOptions, pursue, type Raw } from './pursue.js';

it('a crash in an instrumented run is pursued to its end, and other lanes go on afterwards', async () => {
  const database = await Database.open({ open: fragile, onReopen: () => undefined });
  try {
    const contract = findContract('duckdb:snapshot')!;
    const { case: program, schedule } = probeCases.find(({ id }) => id === 'lost-update')!;
    const request = {
      case: program,
      schedule,
      oracle: 'dependency-graph',
      level: 'snapshot',
      contract,
    } as const;
    const observed = await database.observe(request, 0);
    if (observed.kind !== 'ran') throw new Error(`the case did not run: ${observed.kind}`);
    const { history, findings } = observed;
    expect(findings).toMatchObject([{ kind: 'server-crash', oracle: 'server' }]);
    const options = { database, lane: 0, confirmRuns: 2, vendor: contract };
    const pursued = pursue({ request, finding: findings[0]!, history }, options);
    const beside = database.observe({ ...request, oracle: 'mechanism' }, 1);
    const outcome = await pursued;
    if (outcome.kind !== 'bug') throw new Error(`it ended as ${outcome.kind}`);
    // The plain run dies as well, so no added SQL is reported.
    expect(outcome.bug).toMatchObject({ oracle: 'mechanism', finding: { kind: 'server-crash' } });
    expect(outcome.bug.result.operations).toBe(1);
    expect((await beside).kind).toBe('ran');
  } finally {
    await database.close();
  }
}, 30_000);

/** DuckDB, and a run in which it updates a row that is deleted. */
async function deletedRow(signal = new AbortController().signal): Promise<{ database: Database; raw: Raw }> {
  const database = await Database.open({
    open: () => openTarget('duckdb:'),
    signal,
    onReopen: () => undefined,
  });
  const contract = findContract('duckdb:snapshot')!;
  const { case: program, schedule } = probeCases.find(({ id }) => id === 'lost-update-deleted-row')!;
  const request = { case: program, schedule, oracle: 'mechanism', level: 'snapshot', contract } as const;
  const observed = await database.observe(request, 0);
  if (observed.kind !== 'ran') throw new Error(`the case did not run: ${observed.kind}`);
  const { history, findings } = observed;
  const finding = findings.find(({ kind }) => kind === 'update-of-changed-row')!;
  return { database, raw: { request, finding, history } };
}

it('a pursuit stopped in mid-reduction tells of a case, a finding and a run that belong together', async () => {
  const stop = new AbortController();
  const { database, raw } = await deletedRow(stop.signal);
  try {
    let runs = 0;
    const stopping: PursueOptions['database'] = {
      target: database.target,
      alone: (use) => database.alone(use),
      observe: (asked, lane) => {
        // The first confirms, the second and third are of the reduction.
        if (++runs === 4) stop.abort();
        return database.observe(asked, lane);
      },
    };
    const options = { lane: 0, confirmRuns: 1, vendor: raw.request.contract, signal: stop.signal };
    const outcome = await pursue(raw, { ...options, database: stopping });
    if (outcome.kind !== 'bug') throw new Error(`it ended as ${outcome.kind}`);
    const { result, history: stored } = outcome.bug;
    expect(result.minimal).toBe(false);
    const { sessions } = result.result.case;
    for (const { statement, sql, kind } of stored.operations) {
      const [session, position] = statement!;
      const run = sessions[session]?.statements[position];
      // Engines begin transactions in words of their own.
      if (kind === 'begin') expect(run).toMatch(/^BEGIN/);
      else expect(run).toBe(sql);
    }
  } finally {
    await database.close();
  }
});

it('a bug that is passed over is not reduced to the end', async () => {
  const { database, raw } = await deletedRow();
  try {
    const runs = { all: 0, passing: 0 };
    const counted = (key: keyof typeof runs): PursueOptions['database'] => ({
      target: database.target,
      alone: (use) => database.alone(use),
      observe: (asked, lane) => {
        runs[key]++;
        return database.observe(asked, lane);
      },
    });
    const options = { lane: 0, confirmRuns: 1, vendor: raw.request.contract };
    const whole = await pursue(raw, { ...options, database: counted('all'), passesOver: async () => false });
    expect(whole.kind).toBe('bug');
    const shown: number[] = [];
    const passed = await pursue(raw, {
      ...options,
      database: counted('passing'),
      passesOver: async ({ case: { sessions } }) => {
        shown.push(sessions.flatMap(({ statements }) => statements).length);
        return true;
      },
    });
    expect(passed).toEqual({ kind: 'passed-over' });
    expect(shown).toHaveLength(1);
    expect(runs.passing).toBeLessThan(runs.all / 2);
  } finally {
    await database.close();
  }
});

it('a finding of a free run that the inferred order does not bring back is confirmed in one learnt from replays', async () => {
  const contract = findContract('postgres:serializable')!;
  const target = { dialect: 'postgres', stamp: { name: 'postgres', version: '18' }, levels: [] };
  const observe: Observe = (request) => {
    const history = replayed(request);
    return Promise.resolve({
      kind: 'ran',
      ...judgedHistory(history, { oracle: 'mechanism', findings: findingsOf(history) }),
    });
  };
  const database: PursueOptions['database'] = {
    target: target as unknown as Target,
    observe,
    alone: (use) => use(observe),
  };
  const sessions = ['A', 'B'].map((name) => ({ name, statements: [] }));
  const raw: Raw = {
    request: {
      ...{ case: { name: 'free', setup: [], sessions }, oracle: 'mechanism' },
      ...{ level: 'serializable', contract },
    },
    finding: findingsOf(rawRun)[0]!,
    history: rawRun,
  };
  const outcome = await pursue(raw, { database, lane: 0, confirmRuns: 2, vendor: contract });
  expect(outcome).toMatchObject({ kind: 'bug', bug: { finding: { kind: 'wrong-result' } } });
});

describe('a plain finding whose consequence only an instrumented run shows', () => {
  /** DuckDB #17223, pursued; `blind`: nobody gets to see what closing reads return. */
  async function pursued(blind: boolean): Promise<Pursued> {
    const database = await Database.open({ open: () => openTarget('duckdb:'), onReopen: () => undefined });
    const observe: Observe = async (request, lane) => {
      const observed = await database.observe(request, lane);
      if (!blind || observed.kind !== 'ran') return observed;
      const after = observed.history.header.sessions.indexOf('after');
      const operations = observed.history.operations.filter(({ session }) => session !== after);
      return { ...observed, history: { ...observed.history, operations } };
    };
    try {
      const contract = findContract('duckdb:snapshot')!;
      const { case: program, schedule } = probeCases.find(({ id }) => id === 'lost-update-deleted-row')!;
      const request = { case: program, schedule, oracle: 'mechanism', level: 'snapshot', contract } as const;
      const observed = await observe(request, 0);
      if (observed.kind !== 'ran') throw new Error(`the case did not run: ${observed.kind}`);
      const { history, findings } = observed;
      const finding = findings.find(({ kind }) => kind === 'update-of-changed-row')!;
      const place = { target: database.target, alone: database.alone.bind(database), observe };
      const outcome = await pursue(
        { request, finding, history },
        { database: place, lane: 0, confirmRuns: 1, vendor: contract },
      );
      if (outcome.kind !== 'bug') throw new Error(`it ended as ${outcome.kind}`);
      return outcome.bug;
    } finally {
      await database.close();
    }
  }

  it('is reported with a closing read that shows the damage', async () => {
    const { oracle, result, secondLook } = await pursued(false);
    expect(oracle).toBe('dependency-graph');
    expect(result.result.case.sessions.at(-1)).toMatchObject({ name: 'after' });
    expect(secondLook!.map(({ by }) => by)).toContain('serial control');
    expect(secondLook!.map(({ by }) => by)).not.toContain('plain run');
  });

  it('is said to have no plain witness where no closing read shows anything', async () => {
    const { oracle, secondLook } = await pursued(true);
    expect(oracle).toBe('dependency-graph');
    expect(secondLook).toContainEqual({
      by: 'plain run',
      says: 'undecided',
      note: expect.stringContaining('no run without added SQL shows it'),
    });
  });
});
