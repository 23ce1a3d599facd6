import { readFile } from 'node:fs/promises';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { parseScript, type ScheduledCase } from '../cases/index.js';
import { type Finding, judgedHistory, type Oracle, oracleNamed, registerOracle } from '../check/index.js';
import { findContract } from '../contracts/index.js';
import { IsoldeError } from '../errors.js';
import { fakeTarget } from '../execute/fake-target.case.js';
import type { History } from '../histories/index.js';
import type { Observe } from '../judge/index.js';
import { openTarget, type Target } from '../targets/index.js';
import { describeLive } from '../targets/mariadb/live-mariadb.case.js';
import { buryCase } from './bury.js';
import { candidateOf, sizeOf } from './candidate.js';
import { DatabaseOracle, type DatabaseOracleOptions } from './database-oracle.js';
import { rawFinding } from './from-history.js';
import type { ReductionResult } from './reduce.js';
import { type FindingOptions, reduceFinding } from './reduce-finding.js';
import { type StrategyName, strategies } from './strategies/index.js';
import { contractOf } from './translate-history.js';

const names = Object.keys(strategies) as StrategyName[];
let oracle: DatabaseOracle | undefined;
afterEach(async () => {
  await oracle?.close();
  oracle = undefined;
});

async function open(url: string, more: Partial<DatabaseOracleOptions> = {}): Promise<DatabaseOracle> {
  oracle = await DatabaseOracle.open({ open: () => openTarget(url), ...more });
  return oracle;
}

async function reduced(start: ScheduledCase, options: FindingOptions): Promise<ReductionResult> {
  const outcome = await reduceFinding(candidateOf(start), { confirmRuns: 20, ...options });
  if (outcome.kind !== 'reduced') throw new Error(`nothing was reduced: ${outcome.kind}`);
  expect(outcome.result).toMatchObject({
    minimal: true,
    sameFinding: true,
    confirmed: { shown: 20, runs: 20 },
  });
  return outcome.result;
}

function script(text: string, dialect: 'duckdb' | 'mysql'): ScheduledCase {
  return parseScript(text, { file: 'test.sql', dialect });
}

function statementsOf({ result }: ReductionResult): string[] {
  return result.schedule.batches
    .flat()
    .map(([s, p]) => `${result.case.sessions[s]!.name}: ${result.case.sessions[s]!.statements[p]}`);
}

describe('a smaller case', () => {
  const finding = { kind: 'stale-read', oracle: 'mechanism', operations: [] } as unknown as Finding;
  /** Every run shows the finding; statements about `gone` do not run. */
  const showing =
    (shown: Finding): Observe =>
    async ({ case: program }) => {
      const operations = program.sessions.flatMap(({ statements }, session) =>
        statements.map((sql, index) => ({
          ...{ index, session, transaction: session, kind: 'select', sql, start: 0, end: 1 },
          ...(/gone/.test(sql)
            ? { outcome: 'error', error: { class: 'syntax', message: 'no such column: gone' } }
            : { outcome: 'ok' }),
        })),
      );
      const history = { header: { sessions: ['A'] }, operations } as unknown as History;
      return { kind: 'ran', ...judgedHistory(history, { oracle: 'mechanism', findings: [shown] }) };
    };
  const candidate = (...statements: string[]) =>
    candidateOf({ case: { name: 'c', setup: [], sessions: [{ name: 'A', statements }] } });
  const trials = async (shown = finding) => {
    const database = { target: await openTarget('duckdb:') };
    const own = DatabaseOracle.inLane({ database, observe: showing(shown), lane: 0 }, {});
    const operations = shown.operations.map(({ index }) => ({ index, kind: 'select', sql: 'SELECT gone' }));
    const history = { header: { sessions: ['A'] }, operations } as unknown as History;
    own.lookFor(own.identity(shown, history));
    return own;
  };

  it('with a statement that does not run any more is refused, although it shows the finding', async () => {
    const own = await trials();
    expect(await own.runOnce(candidate('SELECT a', 'SELECT b'), 0)).toMatchObject({ verdict: 'same' });
    expect(await own.runOnce(candidate('SELECT gone'), 0)).toMatchObject({
      verdict: 'infeasible',
      note: 'a statement does not run: no such column: gone',
    });
    expect(await own.runOnce(candidate('SELECT a'), 0)).toMatchObject({ verdict: 'same' });
  });

  it('may keep statements that failed in the case it comes from', async () => {
    const own = await trials();
    await own.runOnce(candidate('SELECT a', 'SELECT gone'), 0);
    expect(await own.runOnce(candidate('SELECT gone'), 0)).toMatchObject({ verdict: 'same' });
  });

  it('may not break another statement for one of those, nor the same one twice', async () => {
    const own = await trials();
    await own.runOnce(candidate('SELECT a', 'SELECT gone'), 0);
    const refused = { verdict: 'infeasible', note: 'a statement does not run: no such column: gone' };
    expect(await own.runOnce(candidate('UPDATE t SET gone = 1'), 0)).toMatchObject(refused);
    expect(await own.runOnce(candidate('SELECT gone', 'SELECT gone'), 0)).toMatchObject(refused);
    expect(await own.runOnce(candidate('SELECT a', 'SELECT gone'), 0)).toMatchObject({ verdict: 'same' });
  });

  it('may change the statement that the finding is about, which fails', async () => {
    const own = await trials({ ...finding, operations: [{ index: 0, transaction: 0, text: 'SELECT gone' }] });
    await own.runOnce(candidate('SELECT gone, a'), 0);
    expect(await own.runOnce(candidate('SELECT gone'), 0)).toMatchObject({ verdict: 'same' });
  });
});

describe('DuckDB #17223 among 200 irrelevant statements of six sessions', () => {
  it.each(names)('is found again by %s', async (strategy) => {
    const text = await readFile('examples/scripts/duckdb-17223.sql', 'utf8');
    const start = buryCase(script(text, 'duckdb'), { operations: 200, sessions: 6 });
    const result = await reduced(start, { oracle: await open('duckdb:', { lanes: 2 }), strategy });
    expect(result.transactions).toBeLessThanOrEqual(3);
    expect(result.operations).toBeLessThanOrEqual(6);
    const kinds = statementsOf(result).map((sql) => sql.split(' ')[1]!.replace(';', ''));
    expect(kinds).toEqual(expect.arrayContaining(['DELETE', 'UPDATE']));
    expect(result.result.case.setup).toEqual(['CREATE TABLE t (v INT)', 'INSERT INTO t VALUES (0)']);
  });
});

describeLive('bugs of InnoDB at REPEATABLE READ', (live) => {
  const options = (): Partial<DatabaseOracleOptions> => ({ level: 'repeatable read' });

  it('the no-op update, among 300 irrelevant operations, is reduced to the five statements of its report', async () => {
    const core = script(
      `CREATE TABLE t (id INT PRIMARY KEY, v INT);
       INSERT INTO t VALUES (1, 10), (2, 20), (3, 30);
       A: BEGIN;
       A: SELECT id, v FROM t WHERE v >= 0 ORDER BY id LIMIT 5;
       B: BEGIN;
       B: UPDATE t SET v = 99 WHERE id = 1 AND v < 50;
       B: COMMIT;
       A: UPDATE t SET v = 99 WHERE id IN (1, 2);
       A: SELECT id, v FROM t ORDER BY v;
       A: COMMIT;`,
      'mysql',
    );
    const start = buryCase(core, { operations: 300, sessions: 12 });
    const result = await reduced(start, { oracle: await open(live().url(), options()) });
    expect(statementsOf(result)).toEqual([
      'T1: BEGIN',
      'T1: SELECT * FROM t',
      expect.stringMatching(/^T2: UPDATE t SET v = \d$/),
      expect.stringMatching(/^T1: UPDATE t SET v = \d$/),
      'T1: SELECT * FROM t',
    ]);
    expect(result.rows).toBe(1);
    expect(result.finding?.kind).toBe('own-write-missed');
    expect(result.afterStrategy!.counts.trials).toBeLessThan(15);
  });

  it('a raw history of a free run is reduced without running all of it', async () => {
    const target = live().target;
    const program = script(
      `CREATE TABLE t (id INT PRIMARY KEY, v INT);
       INSERT INTO t VALUES (1, 10), (2, 20);
       A: BEGIN;
       A: SELECT id, v FROM t;
       B: UPDATE t SET v = 99;
       A: UPDATE t SET v = 99;
       A: SELECT id, v FROM t;
       A: COMMIT;`,
      'mysql',
    );
    const start = buryCase(program, { operations: 100, sessions: 4 });
    // By schedule, so that the interleaving is sure; order inference has nothing but the history all the same.
    const seen = await (await open(live().url(), options())).observe(start);
    const raw = rawFinding(seen.history, contractOf(seen.history, target), seen.findings)!;
    expect(raw.findings).toBeGreaterThan(0);
    await oracle!.close();
    const trials = await open(live().url(), options());
    const sent: number[] = [];
    const { run, observe } = trials;
    trials.run = (candidate, lane) => {
      sent.push(sizeOf(candidate.case).operations);
      return run.call(trials, candidate, lane);
    };
    trials.observe = (candidate, lane) => {
      sent.push(sizeOf(candidate.case).operations);
      return observe.call(trials, candidate, lane);
    };
    const result = await reduced(raw.candidate, { oracle: trials, seen: raw });
    expect(result.operations).toBe(5);
    expect(Math.max(...sent)).toBeLessThan(20);
  });

  it('finds nothing where the server is told to keep its promise', async () => {
    const fine = await DatabaseOracle.open({
      open: () => openTarget(live().url()),
      level: 'serializable',
    });
    const outcome = await reduceFinding(
      candidateOf(
        script('CREATE TABLE t (a INT);\nA: INSERT INTO t VALUES (1);\nB: SELECT * FROM t;', 'mysql'),
      ),
      { oracle: fine },
    );
    await fine.close();
    expect(outcome.kind).toBe('no-finding');
  });
});

/** Judges by what was sent: the finding is that session A sent `LOCK x` and `LOCK y`. */
const lockOracle: Oracle = {
  ...oracleNamed('mechanism'),
  name: 'locks',
  judge: (history) => {
    const sent = (sql: string) =>
      history.operations.find((operation) => operation.sql === sql && operation.outcome === 'ok');
    const [x, y] = [sent('LOCK x'), sent('LOCK y')];
    const findings: Finding[] =
      x === undefined || y === undefined
        ? []
        : [
            {
              kind: 'lock-violated',
              oracle: 'locks',
              certainty: 'proved',
              rulesOut: [],
              transactions: [],
              operations: [x, y].map(({ index, transaction, sql }) => ({ index, transaction, text: sql! })),
              explanation: [],
            },
          ];
    const none = { beyond: [], strongest: [], unknownReasons: [], skipped: [], notes: [] };
    return { valid: findings.length === 0, oracle: 'locks', findings, history, ...none };
  },
  identity: ({ kind }) => kind,
};
const byLocks = { oracle: 'locks', contract: findContract('duckdb:snapshot')! };
beforeAll(() => {
  const remove = registerOracle(lockOracle);
  return remove;
});

const lockCase = candidateOf(
  parseScript(
    'A: BEGIN;\nA: LOCK x;\nA: LOCK z;\nA: LOCK y;\nA: COMMIT;\nB: BEGIN;\nB: LOCK w;\nB: COMMIT;',
    {
      file: 'locks.sql',
    },
  ),
);

describe('a database that goes away', () => {
  /** A target under which every n-th run of a case loses a connection, and reopening fails once. */
  function dying(every: number): { readonly open: () => Promise<Target>; opened: number } {
    const state = { opened: 0, runs: 0, refuse: false };
    const opener = async (): Promise<Target> => {
      if (state.refuse) {
        state.refuse = false;
        throw new IsoldeError('connect', 'connection refused');
      }
      state.opened++;
      const { target } = fakeTarget();
      return {
        ...target,
        createScratch: async () => {
          if (state.refuse) throw new IsoldeError('connect', 'the server is gone');
          const scratch = await target.createScratch();
          return {
            ...scratch,
            openSession: async (limits) => {
              const session = await scratch.openSession(limits);
              return {
                id: session.id,
                cancel: () => session.cancel(),
                close: () => session.close(),
                execute: (sql) => {
                  const dies = sql === 'LOCK x' && ++state.runs % every === 0;
                  if (dies) state.refuse = true;
                  return session.execute(dies ? 'DIE' : sql);
                },
              };
            },
          };
        },
      };
    };
    return {
      open: opener,
      get opened() {
        return state.opened;
      },
    };
  }

  it('is opened again, and the reduction ends as if nothing had happened', async () => {
    const calm = await open('', { open: async () => fakeTarget().target, ...byLocks });
    const expected = await reduced(lockCase, { oracle: calm, confirmRuns: 20 });
    await calm.close();
    const target = dying(4);
    const result = await reduced(lockCase, {
      oracle: await open('', { open: target.open, ...byLocks }),
      confirmRuns: 20,
    });
    expect(target.opened).toBeGreaterThan(1);
    expect(result.result).toEqual(expected.result);
    expect(result.counts).toEqual(expected.counts);
  });

  it('every time a candidate runs makes that candidate another bug', async () => {
    const target = dying(1);
    const fragile = await open('', { open: target.open, ...byLocks });
    fragile.lookFor('lock-violated');
    expect((await fragile.run(lockCase, 0)).verdict).toBe('another');
    expect(target.opened).toBe(4);
  });

  it('for good ends the reduction with the reason', async () => {
    let opened = 0;
    const { target } = fakeTarget();
    const gone = await open('', {
      ...byLocks,
      reopenMs: 150,
      open: async () => {
        if (opened++ > 0) throw new IsoldeError('connect', 'connection refused');
        return {
          ...target,
          createScratch: async () => ({
            ...(await target.createScratch()),
            reset: () => Promise.reject(new IsoldeError('connect', 'the server is gone')),
          }),
        };
      },
    });
    await expect(reduceFinding(lockCase, { oracle: gone })).rejects.toThrow('connection refused');
  });
});

describe('trials in free order', () => {
  it('run sessions without regard to the schedule', async () => {
    const oneAfterAnother = candidateOf(
      parseScript('B: BEGIN;\nB: LOCK w;\nB: COMMIT;\nA: BEGIN;\nA: LOCK x;\nA: COMMIT;', {
        file: 'turns.sql',
      }),
    );
    const sentIn = async (order: 'schedule' | 'free') => {
      const { target, log } = fakeTarget();
      const oracle = await open('', { open: async () => target, ...byLocks, order });
      await oracle.observe(oneAfterAnother);
      await oracle.close();
      return JSON.stringify(log.sent);
    };
    const [scheduled, free] = [await sentIn('schedule'), await sentIn('free')];
    expect(scheduled.indexOf('LOCK w')).toBeLessThan(scheduled.lastIndexOf('BEGIN'));
    expect(free.indexOf('LOCK w')).toBeGreaterThan(free.lastIndexOf('BEGIN'));
  });
});

describe('a schedule that cannot run', () => {
  it('is infeasible, and ends', async () => {
    const { target } = fakeTarget();
    const limits = { statementTimeoutMs: 1, lockTimeoutMs: 1 };
    const stuck = await open('', { open: async () => target, ...byLocks, limits });
    stuck.lookFor('lock-violated');
    const hanging = parseScript('A: BEGIN;\nA: LOCK x;\nB: BEGIN;\nB: HANG;\nA: COMMIT;', {
      file: 'hang.sql',
    });
    expect(await stuck.run(candidateOf(hanging), 0)).toMatchObject({
      verdict: 'infeasible',
      note: 'a statement was never answered',
    });
  });

  it('because its set-up fails is infeasible, and the database is not taken for dead', async () => {
    let opened = 0;
    const counting = await open('', {
      open: () => {
        opened++;
        return openTarget('duckdb:');
      },
    });
    const broken = script('INSERT INTO t VALUES (1);\nA: SELECT * FROM t;', 'duckdb');
    const { verdict, note } = await counting.run(candidateOf(broken), 0);
    expect(verdict).toBe('infeasible');
    expect(note).toContain('INSERT INTO t VALUES (1)');
    expect(opened).toBe(1);
  });
});
