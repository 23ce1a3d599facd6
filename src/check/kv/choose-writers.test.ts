import { describe, expect, it } from 'vitest';
import { KvBuilder, type KvHistory } from '../../histories/index.js';
import { verifyCertificate } from './certificate/verify.js';
import { checkKv } from './check-kv.js';
import { seededRandom } from './slow/random-history.js';

/** A serial run in which every fifth write repeats a value of its key; sessions stand one after the other if asked. */
function repeatedValues(seed: number, txCount: number, bySession: boolean): KvHistory {
  const random = seededRandom(seed);
  const below = (n: number): number => Math.floor(random() * n);
  const sessions = Array.from(
    { length: 20 },
    (): (readonly [key: number, value: number | null, isWrite: boolean])[][] => [],
  );
  const order: number[] = [];
  const values = new Map<number, number[]>();
  let fresh = 1;
  for (let tx = 0; tx < txCount; tx++) {
    const session = below(sessions.length);
    order.push(session);
    sessions[session]!.push(
      Array.from({ length: 6 }, () => {
        const key = below(txCount / 10);
        const held = values.get(key) ?? [];
        if (below(2) === 0) return [key, held.at(-1) ?? null, false] as const;
        const value = held.length > 0 && below(5) === 0 ? held[below(held.length)]! : fresh++;
        values.set(key, [...held, value]);
        return [key, value, true] as const;
      }),
    );
  }
  const builder = new KvBuilder({ definitions: 'axiomatic' });
  const next = sessions.map(() => 0);
  for (const session of bySession ? order.toSorted((a, b) => a - b) : order) {
    builder.begin(session);
    for (const [key, value, isWrite] of sessions[session]![next[session]!++]!) {
      if (isWrite) builder.write(key, value);
      else builder.read(key, value);
    }
    builder.end('committed');
  }
  return builder.build();
}

describe('values that were written more than once', () => {
  it('are decided where a fifth of the writes repeats one', () => {
    for (const level of ['read committed', 'causal', 'serializable'] as const) {
      const history = repeatedValues(3, 400, false);
      const options = { level, strongest: false, certificate: true, now: () => 0 };
      const { valid, certificate } = checkKv(history, options);
      expect([level, valid]).toEqual([level, true]);
      expect(verifyCertificate(history, certificate!)).toEqual({ accepted: true });
    }
  });

  it('are decided where sessions stand one after the other, so that the file does not say who came before', () => {
    for (const level of ['read committed', 'causal', 'serializable'] as const) {
      const history = repeatedValues(3, 150, true);
      const { valid, certificate } = checkKv(history, { level, strongest: false, certificate: true });
      expect([level, valid]).toEqual([level, true]);
      expect(verifyCertificate(history, certificate!)).toEqual({ accepted: true });
    }
  });

  it('are given up when time is up', () => {
    let now = 0;
    const history = repeatedValues(3, 400, true);
    const { valid } = checkKv(history, { level: 'causal', strongest: false, budget: 0, now: () => now++ });
    expect(valid).toBe('unknown');
  });
});
