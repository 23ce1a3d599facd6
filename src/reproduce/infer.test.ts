import { describe, expect, it } from 'vitest';
import { scheduleProblem } from '../cases/index.js';
import { type Contract, findContract, type Mechanism } from '../contracts/index.js';
import type { History, Operation } from '../histories/index.js';
import { inferSchedule } from './infer.js';
import { simulate } from './simulated-store.case.js';
import { type Mix, randomOf, randomProgram, replayDifferences } from './simulation-lab.case.js';

function contract(id: string): Contract & { mechanism: Mechanism } {
  const found = findContract(id);
  if (found?.mechanism === undefined) throw new Error(id);
  return { ...found, mechanism: found.mechanism };
}

const mixes: Readonly<Record<string, Mix>> = {
  'unique values, rows by key': { rows: 4, sessions: 4, transactions: 4, values: 0, wide: false },
  'values that recur': { rows: 3, sessions: 5, transactions: 4, values: 3, wide: false },
  'scans, inserts and deletes': { rows: 5, sessions: 4, transactions: 4, values: 0, wide: true },
  'twelve sessions on two rows': { rows: 2, sessions: 12, transactions: 3, values: 0, wide: false },
};

/**
 * Every interval is widened at random up to its neighbours in the session, far beyond what a client sees. Where a second
 * writer must fail, that can leave several opponents for a failure and no telling which; there a few histories
 * in a hundred come out otherwise.
 */
const engines: readonly (readonly [id: string, allowed: Readonly<Record<string, number>>])[] = [
  ['postgres:read-committed', {}],
  ['mariadb:repeatable-read', {}],
  ['tidb:repeatable-read', {}],
  ['duckdb:snapshot', { 'scans, inserts and deletes': 0 }],
  ['postgres:repeatable-read', { 'unique values, rows by key': 0.02, 'values that recur': 0.03, 'scans, inserts and deletes': 0.05, 'twelve sessions on two rows': 0.1 }],
];

const runs = Number(process.env.SIM_RUNS ?? 120);

describe.each(engines)('order inference on a simulated store as %s', (id, allowed) => {
  const rules = contract(id);
  it.each(Object.entries(mixes))('replays to the same results: %s', (title, mix) => {
    const told: string[] = [];
    for (let seed = 1; seed <= runs; seed++) {
      const random = randomOf(seed);
      const program = randomProgram(random, mix);
      const history = simulate(program, rules.mechanism, random);
      const order = inferSchedule(history, rules);
      const differences = replayDifferences(history, order, program, rules.mechanism, random);
      if (differences.length > 0 || order.broken.length > 0)
        told.push(`seed ${seed}: ${[...order.broken.map(({ what }) => what), ...differences].slice(0, 3).join('; ')}`);
    }
    if (process.env.SIM_LOG) console.log(id, title, told.length, runs);
    if (told.length > runs * (allowed[title] ?? 0)) expect(told).toEqual([]);
  });
});
