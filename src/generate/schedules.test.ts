import { describe, expect, it } from 'vitest';
import type { Case } from '../cases/index.js';
import { Random } from './random.js';
import { randomSchedule } from './schedules.js';

const program = (...lengths: readonly number[]): Case => ({
  name: 'test',
  setup: [],
  sessions: lengths.map((length, s) => ({
    name: `S${s}`,
    statements: Array.from({ length }, (_, i) => `SELECT ${i}`),
  })),
});

/** The order of a schedule as the sessions it takes statements from; each batch must hold one statement. */
function sessionsOf(lengths: readonly number[], seed: string): number[] {
  const schedule = randomSchedule(program(...lengths), new Random(seed));
  const refs = schedule.batches.map((batch) => {
    expect(batch).toHaveLength(1);
    return batch[0]!;
  });
  const next = lengths.map(() => 0);
  for (const [session, position] of refs) expect(position).toBe(next[session]!++);
  expect(next).toEqual(lengths);
  return refs.map(([session]) => session);
}

describe('random schedules', () => {
  it('hold every statement once, in the order of its session', () => {
    for (let seed = 0; seed < 50; seed++) sessionsOf([3, 0, 5, 1], String(seed));
  });

  it('are the same for the same seed', () => {
    expect(sessionsOf([4, 4], 'a')).toEqual(sessionsOf([4, 4], 'a'));
  });

  it('take every order of the statements equally often', () => {
    const counts = new Map<string, number>();
    for (let seed = 0; seed < 6_000; seed++) {
      const order = sessionsOf([2, 2], `uniform ${seed}`).join('');
      counts.set(order, (counts.get(order) ?? 0) + 1);
    }
    // Six orders of two and two, a thousand each; five standard deviations are about 145.
    expect([...counts.keys()].sort()).toEqual(['0011', '0101', '0110', '1001', '1010', '1100']);
    for (const count of counts.values()) expect(Math.abs(count - 1_000)).toBeLessThan(150);
  });
});
