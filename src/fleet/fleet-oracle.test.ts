/** Which trials of a reduction run here and which elsewhere, with a database and a desk of no substance. */
import { describe, expect, it } from 'vitest';
import { parseScript } from '../cases/index.js';
import { findContract } from '../contracts/index.js';
import { candidateOf, type DatabaseOracle, type TrialResult } from '../reduce/index.js';
import { FleetOracle } from './fleet-oracle.js';
import { parseJob, type TrialJob } from './job.js';
import type { TrialDesk } from './trial-desk.js';

const candidate = candidateOf(
  parseScript('CREATE TABLE t (a INT);\nT1: SELECT a FROM t;', { file: 'x.sql', dialect: 'duckdb' }),
);

interface Place {
  /** Statements that may fail; absent: nobody knows yet. */
  readonly tolerated?: readonly string[];
  readonly elsewhere?: TrialResult;
  readonly helpers?: boolean;
}

function lab({ tolerated, elsewhere, helpers = true }: Place) {
  const log: string[] = [];
  const payloads: string[] = [];
  const keys: string[] = [];
  const local = {
    tolerated,
    setting: { contract: findContract('duckdb:snapshot'), level: 'snapshot' },
    subject: { name: 'duckdb 1.5', dialect: 'duckdb', levels: ['snapshot'] },
    lookFor: (identity: string) => log.push(`look for ${identity}`),
    run: async (_: unknown, lane: number): Promise<TrialResult> => {
      log.push(`here, lane ${lane}`);
      await Promise.resolve();
      log.push('here, done');
      return { verdict: 'same' };
    },
  };
  const desk = {
    hasHelpers: helpers,
    ask: async (key: string, payload: string) => {
      log.push('elsewhere');
      keys.push(key);
      payloads.push(payload);
      return elsewhere;
    },
  };
  const options = { local: local as unknown as DatabaseOracle, desk: desk as unknown as TrialDesk };
  const oracle = new FleetOracle({ ...options, target: 'duckdb:', lanes: 4 });
  return { oracle, log, keys, payloads, local };
}

describe('a trial', () => {
  it.each<[string, Place, number, readonly string[], number]>([
    [
      'of the first lane runs here',
      { tolerated: [], elsewhere: { verdict: 'none' } },
      0,
      ['here, lane 0', 'here, done'],
      0,
    ],
    [
      'of another lane runs elsewhere',
      { tolerated: [], elsewhere: { verdict: 'none' } },
      1,
      ['elsewhere'],
      1,
    ],
    ['that nobody takes runs here', { tolerated: [] }, 2, ['elsewhere', 'here, lane 0', 'here, done'], 0],
    [
      'runs here while it is not known what may fail',
      { elsewhere: { verdict: 'none' } },
      3,
      ['here, lane 0', 'here, done'],
      0,
    ],
  ])('%s', async (_, place, lane, expected, remote) => {
    const { oracle, log } = lab(place);
    await oracle.run(candidate, lane);
    expect(log).toEqual(expected);
    expect(oracle.remote).toBe(remote);
  });

  it('waits for those before it here: the database is one', async () => {
    const { oracle, log } = lab({});
    await Promise.all([oracle.run(candidate, 0), oracle.run(candidate, 1), oracle.run(candidate, 2)]);
    expect(log).toEqual(Array.from({ length: 3 }, () => ['here, lane 0', 'here, done']).flat());
  });

  it('is sent with all that its answer depends on', async () => {
    const { oracle, payloads } = lab({ tolerated: ['SELECT gone'], elsewhere: { verdict: 'none' } });
    oracle.lookFor('the finding');
    await oracle.run(candidate, 1);
    expect(parseJob(payloads[0]!, 'job') as TrialJob).toMatchObject({
      ...{ kind: 'trial', target: 'duckdb:', identity: 'the finding', tolerated: ['SELECT gone'] },
      ...{ setting: { contract: 'duckdb:snapshot', level: 'snapshot' }, case: candidate.case },
    });
  });

  it('has another key for another finding or other failures that count for nothing', async () => {
    const keyOf = async (identity: string, tolerated: readonly string[]) => {
      const { oracle, keys } = lab({ tolerated, elsewhere: { verdict: 'none' } });
      oracle.lookFor(identity);
      await oracle.run(candidate, 1);
      return keys[0];
    };
    const first = await keyOf('a', []);
    expect(await keyOf('a', [])).toBe(first);
    expect(await keyOf('b', [])).not.toBe(first);
    expect(await keyOf('a', ['SELECT 1'])).not.toBe(first);
  });
});

it('there are as many lanes as asked for until it shows that nobody helps', async () => {
  const { oracle } = lab({ tolerated: [], helpers: false });
  expect(oracle.lanes).toBe(4);
  await oracle.run(candidate, 0);
  expect(oracle.lanes).toBe(1);
  const helped = lab({ tolerated: [] }).oracle;
  await helped.run(candidate, 0);
  expect(helped.lanes).toBe(4);
});
