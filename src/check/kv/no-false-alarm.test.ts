import { describe, expect, it } from 'vitest';
import type { CheckLevel } from '../levels.js';
import { checkKv } from './check-kv.js';
import { seededRandom } from './slow/random-history.js';
import { type StorePromise, simulateStore } from './slow/simulated-store.js';

const promises: readonly (readonly [StorePromise, CheckLevel])[] = [
  ['serial', 'strict serializable'],
  ['snapshot', 'strong snapshot'],
  ['snapshot', 'causal'],
  ['read committed', 'strong read committed'],
  ['read committed', 'monotonic atomic view'],
];

describe('a store that keeps its promise', () => {
  const seed = 31_415;
  for (const [promise, level] of promises) {
    for (const lists of [true, false]) {
      it(`${promise}, ${lists ? 'lists' : 'registers'}: ${level} is never denied (seed ${seed})`, () => {
        const random = seededRandom(seed);
        let concurrent = 0;
        for (let i = 0; i < 60; i++) {
          const history = simulateStore(random, { promise, lists, txCount: 60, sessions: 5, keys: 6 });
          const result = checkKv(history, { level, definitions: 'adya' });
          expect(result.findings).toEqual([]);
          expect(result.valid).toBe(true);
          if (result.levels['strict serializable'] !== 'holds') concurrent++;
        }
        // The weaker stores must really be weaker, or nothing is tested.
        if (promise === 'serial') expect(concurrent).toBe(0);
        else expect(concurrent).toBeGreaterThan(20);
      });
    }
  }
});
