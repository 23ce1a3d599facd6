import { describe, expect, it } from 'vitest';
import type { Case } from '../cases/index.js';
import { type Finding, judgedHistory, type OracleName } from '../check/index.js';
import { findContract } from '../contracts/index.js';
import { Database, type Observe } from '../judge/index.js';
import { makeBug } from '../report/index.js';
import { openTarget, type Target } from '../targets/index.js';
import type { HuntRequest } from './hunt-request.js';
import { type Outcome, pursue } from './pursue.js';
import { lookAgain, serialOrders } from './second-look.js';

const contract = findContract('duckdb:snapshot')!;
const program: Case = {
  name: 'two sessions',
  setup: ['CREATE TABLE t (id INT PRIMARY KEY, v INT)', 'INSERT INTO t VALUES (1, 10), (2, 20)'],
  sessions: [
    { name: 'T1', statements: ['BEGIN', 'UPDATE t SET v = 11 WHERE id = 1', 'COMMIT'] },
    { name: 'T2', statements: ['BEGIN', 'SELECT * FROM t WHERE id = 1'] },
    { name: 'after', statements: ['SELECT * FROM t'] },
  ],
};
const schedule = {
  batches: [[[0, 0]], [[1, 0]], [[0, 1]], [[0, 2]], [[1, 1]], [[2, 0]]] as const,
};

describe('serial orders', () => {
  it('are all orders of the sessions, open transactions ended and the closing read last', () => {
    const orders = serialOrders(program, 'duckdb');
    expect(orders.map(({ schedule: order }) => order!.batches.flat().map(([s]) => s))).toEqual([
      [0, 0, 0, 1, 1, 1, 2],
      [1, 1, 1, 0, 0, 0, 2],
    ]);
    expect(orders[0]!.case.sessions[1]!.statements.at(-1)).toBe('ROLLBACK');
    expect(orders[0]!.case.sessions[0]).toEqual(program.sessions[0]);
  });
});

/** DuckDB, except that the answers to queries on t are changed: always, or only while another transaction is open. */
async function lying(when: 'always' | 'concurrent'): Promise<Target> {
  const target = await openTarget('duckdb:');
  let open = 0;
  const createScratch = async () => {
    const scratch = await target.createScratch();
    const openSession = async (limits: Parameters<typeof scratch.openSession>[0]) => {
      const session = await scratch.openSession(limits);
      const execute = async (sql: string) => {
        const others = open - (inside ? 1 : 0);
        const answer = await session.execute(sql);
        const isOpen = answer.transaction !== 'none';
        if (isOpen !== inside) open += isOpen ? 1 : -1;
        inside = isOpen;
        const lies = when === 'always' || others > 0;
        return lies && /^\s*SELECT/i.test(sql) && answer.rows !== undefined
          ? { ...answer, rows: answer.rows.map((row) => row.map((cell) => (cell === 10 ? 77 : cell))) }
          : answer;
      };
      let inside = false;
      return Object.assign(Object.create(session), { execute, close: () => session.close() });
    };
    return Object.assign(Object.create(scratch), {
      openSession,
      reset: (setup: readonly string[]) => scratch.reset(setup),
      waiting: () => scratch.waiting(),
      drop: () => scratch.drop(),
    });
  };
  return { ...target, createScratch };
}

async function pursued(when: 'always' | 'concurrent'): Promise<Outcome> {
  const database = await Database.open({ open: () => lying(when) });
  try {
    const request: HuntRequest = {
      ...{ case: readsLast, schedule: concurrent, oracle: 'mechanism' },
      ...{ level: 'snapshot', contract },
    };
    const observed = await database.observe(request, 0);
    if (observed.kind !== 'ran') throw new Error(observed.kind);
    const { history, findings } = observed;
    expect(findings.length).toBeGreaterThan(0);
    return await pursue(
      { request, finding: findings[0]!, history },
      { database, lane: 0, confirmRuns: 1, vendor: contract },
    );
  } finally {
    await database.close();
  }
}

/** T2 reads while T1 is open. */
const readsLast: Case = { ...program, sessions: program.sessions.slice(0, 2) };
const concurrent = { batches: [[[0, 0]], [[0, 1]], [[1, 0]], [[1, 1]], [[0, 2]]] as const };

describe('a finding', () => {
  it('that shows with its sessions one after another is marked and grouped as not isolation', async () => {
    const outcome = await pursued('always');
    expect(outcome).toMatchObject({
      kind: 'bug',
      bug: { notIsolation: true, secondLook: [{ by: 'serial control', says: 'not isolation' }] },
    });
    if (outcome.kind !== 'bug') return;
    const { result, ...seen } = outcome.bug;
    const reproduced = { shown: 1, runs: 1 };
    const bug = makeBug({ ...seen, ...result.result, reproduced, at: '2026-01-01T00:00:00.000Z' });
    expect(bug.id).toMatch(/^duckdb-not-isolation-/);
  }, 30_000);

  it('that needs concurrency is said to, and other oracles are asked', async () => {
    const outcome = await pursued('concurrent');
    if (outcome.kind !== 'bug') throw new Error(outcome.kind);
    expect(outcome.bug.notIsolation).toBeUndefined();
    const [control, ...others] = outcome.bug.secondLook!;
    expect(control).toMatchObject({ by: 'serial control', says: 'agrees' });
    expect(others.map(({ by }) => by)).toContain('dependency-graph');
  }, 30_000);

  /** Who sees it with the sessions one after another, and what cannot be run. */
  const lookOf = (
    oracle: OracleName,
    seenBy: readonly OracleName[],
    fails: (oracle: OracleName, run: number) => boolean = () => false,
    seenAs: Finding['kind'] = 'result-differs',
  ) => {
    const finding = { kind: 'result-differs', oracle } as Finding;
    let run = 0;
    const observe: Observe = async (request) => {
      if (fails(request.oracle, run++)) return { kind: 'bad-setup', message: 'no space' };
      const history = { header: { sessions: [] }, operations: [] } as unknown as Parameters<
        typeof judgedHistory
      >[0];
      const findings = seenBy.includes(request.oracle) ? [{ ...finding, kind: seenAs }] : [];
      return { kind: 'ran', ...judgedHistory(history, { oracle: request.oracle, findings }) };
    };
    const request: HuntRequest = { case: program, schedule, oracle, level: 'snapshot', contract };
    return lookAgain(request, finding, { observe, lane: 0, dialect: 'duckdb' });
  };

  it('is undecided where a control did not run', async () => {
    const [all] = (await lookOf('mechanism', [])).looks;
    expect(all).toMatchObject({ says: 'agrees', note: expect.stringContaining('none of 2 orders') });
    const none = await lookOf('mechanism', [], () => true);
    expect(none.notIsolation).toBe(false);
    expect(none.looks.map(({ says }) => says)).toEqual(none.looks.map(() => 'undecided'));
    expect(none.looks[0]!.note).toBe('none of 2 orders of its sessions, one after another, could be run');
    expect(none.looks[1]!.note).toBe('could not be asked');
    const [some] = (await lookOf('mechanism', [], (_, run) => run === 0)).looks;
    expect(some).toMatchObject({ says: 'undecided', note: expect.stringContaining('only 1 of 2 orders') });
  });

  it('is undecided where the sessions one after another show something else', async () => {
    const { looks, notIsolation, refused } = await lookOf(
      'mechanism',
      ['mechanism'],
      undefined,
      'stale-read',
    );
    expect(looks[0]).toEqual({
      by: 'serial control',
      says: 'undecided',
      note: 'no order of its sessions, one after another, shows it, but something else is wrong there: stale-read',
    });
    expect({ notIsolation, refused }).toEqual({ notIsolation: false, refused: undefined });
  });

  describe('that shows without concurrency, but only with added SQL', () => {
    it('is none', async () => {
      const seen = { refused: expect.stringContaining('SQL that only the oracle adds'), notIsolation: false };
      expect(await lookOf('dependency-graph', ['dependency-graph'])).toMatchObject(seen);
      const inPlain = await lookOf('dependency-graph', ['dependency-graph', 'mechanism']);
      expect(inPlain.refused).toBeUndefined();
      expect(inPlain.notIsolation).toBe(true);
    });

    it('is none either where the runs without that SQL fail', async () => {
      const seen = await lookOf('dependency-graph', ['dependency-graph'], (name) => name === 'mechanism');
      expect(seen).toMatchObject({
        refused: expect.stringContaining('could not be found out'),
        notIsolation: false,
      });
    });

    it('is one where the oracle has compared the same SQL with and without transactions', async () => {
      const seen = await lookOf('statement', ['statement']);
      expect(seen.refused).toBeUndefined();
      expect(seen.notIsolation).toBe(true);
    });
  });
});
