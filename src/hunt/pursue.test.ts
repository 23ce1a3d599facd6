import { expect, it } from 'vitest';
import { judgedHistory } from '../check/index.js';
import { findContract } from '../contracts/index.js';
import { Database, type Observe } from '../judge/index.js';
import { probeCases } from '../probe/index.js';
import { findingsOf, rawRun, replayed } from '../reduce/learnt-order.case.js';
import { type Answer, openTarget, type Target } from '../targets/index.js';
import { type PursueOptions, pursue, type Raw } from './pursue.js';

/** DuckDB, except that it dies of every UPDATE. */
async function fragile(): Promise<Target> {
  const target = await openTarget('duckdb:');
  const answer: Answer = {
    error: { class: 'crash', message: 'the server closed the connection' },
    transaction: 'lost',
  };
  return overriding(target, {
    createScratch: async () => {
      const scratch = await target.createScratch();
      return overriding(scratch, {
        openSession: async (limits) => {
          const session = await scratch.openSession(limits);
          return overriding(session, {
            execute: (sql) => (/^\s*UPDATE/i.test(sql) ? Promise.resolve(answer) : session.execute(sql)),
          });
        },
      });
    },
  });
}

/** An object with some members replaced. */
function overriding<T extends object>(real: T, members: Partial<T>): T {
  return new Proxy(real, {
    get(_, name) {
      const member: unknown = Reflect.get(name in members ? members : real, name);
      return typeof member === 'function' ? member.bind(real) : member;
    },
  });
}

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

it('a pursuit stopped in mid-reduction tells of a case, a finding and a run that belong together', async () => {
  const stop = new AbortController();
  const database = await Database.open({
    open: () => openTarget('duckdb:'),
    signal: stop.signal,
    onReopen: () => undefined,
  });
  try {
    const contract = findContract('duckdb:snapshot')!;
    const { case: program, schedule } = probeCases.find(({ id }) => id === 'lost-update-deleted-row')!;
    const request = { case: program, schedule, oracle: 'mechanism', level: 'snapshot', contract } as const;
    const observed = await database.observe(request, 0);
    if (observed.kind !== 'ran') throw new Error(`the case did not run: ${observed.kind}`);
    const { history, findings } = observed;
    const finding = findings.find(({ kind }) => kind === 'update-of-changed-row')!;
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
    const outcome = await pursue(
      { request, finding, history },
      { database: stopping, lane: 0, confirmRuns: 1, vendor: contract, signal: stop.signal },
    );
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
