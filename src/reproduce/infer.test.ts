import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findContract } from '../contracts/index.js';
import { inferSchedule } from './infer.js';
import { simulate } from './simulated-store.case.js';
import { randomOf, randomProgram, replayDifferences } from './simulation-lab.case.js';

const contract = (id: string) => {
  const found = findContract(id);
  if (found?.mechanism === undefined) throw new Error(id);
  return { ...found, mechanism: found.mechanism };
};

const engines = ['postgres:repeatable-read', 'postgres:read-committed', 'mariadb:repeatable-read', 'tidb:repeatable-read', 'duckdb:snapshot'];

describe('order inference on a simulated store', () => {
  describe.each(engines)('%s', (id) => {
    const { mechanism, ...rest } = contract(id);
    it.each([
      ['unique values, rows by key', { rows: 4, sessions: 4, transactions: 4, values: 0, wide: false }],
      ['values that recur', { rows: 3, sessions: 5, transactions: 4, values: 3, wide: false }],
      ['scans, inserts and deletes', { rows: 5, sessions: 4, transactions: 4, values: 0, wide: true }],
      ['many sessions on two rows', { rows: 2, sessions: 12, transactions: 3, values: 0, wide: false }],
    ] as const)('replays to the same results: %s', (_title, mix) => {
      fc.assert(
        fc.property(fc.integer({ min: 0, max: 2 ** 31 }), (seed) => {
          const random = randomOf(seed);
          const program = randomProgram(random, mix);
          const history = simulate(program, mechanism, random);
          const order = inferSchedule(history, { ...rest, mechanism });
          expect(order.broken).toEqual([]);
          expect(replayDifferences(history, order, program, mechanism, random)).toEqual([]);
        }),
        { numRuns: Number(process.env.SIM_RUNS ?? 150), endOnFailure: true },
      );
    });
  });
});
