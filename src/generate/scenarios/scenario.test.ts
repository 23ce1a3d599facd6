import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { scheduleProblem } from '../../cases/index.js';
import { parseStatement } from '../../sql/index.js';
import { findCapabilities, knownTargets } from '../capabilities.js';
import { generate } from '../generate-case.js';
import { Random } from '../random.js';
import { changes, drawWaitChain, endings, waiters, waitPlans } from './wait-chains.js';

const targets = fc.constantFrom(...knownTargets);
const scenarios = fc.constantFrom('races', 'waits');

describe('scenarios', () => {
  it('write only statements we can read, in an order that fits', () => {
    fc.assert(
      fc.property(fc.nat(100_000), scenarios, targets, (seed, profile, target) => {
        const capabilities = findCapabilities(target)!;
        const { case: program, schedule } = generate(String(seed), {
          capabilities,
          profile,
          interleaving: 'own',
        });
        const all = [...program.setup, ...program.sessions.flatMap(({ statements }) => statements)];
        const opaque = all.filter(
          (sql) => !/^SET enable/i.test(sql) && parseStatement(sql, capabilities.dialect).type === 'opaque',
        );
        expect(opaque).toEqual([]);
        if (schedule !== undefined) expect(scheduleProblem(program, schedule)).toBeUndefined();
      }),
      { numRuns: 300 },
    );
  });

  it('are the same for the same seed', () => {
    const options = {
      capabilities: findCapabilities('postgres')!,
      profile: 'races',
      interleaving: 'own',
    } as const;
    expect(generate('12', options)).toEqual(generate('12', options));
  });

  it('let every kind of statement wait for every change and every ending, taken in turn', () => {
    const postgres = findCapabilities('postgres')!;
    const plans = waitPlans(postgres);
    // PostgreSQL has no REPLACE.
    expect(plans).toHaveLength((waiters.length - 1) * changes.length * endings.length);
    const drawn = plans.map((_, i) => drawWaitChain(new Random(String(i)), postgres, i).plan);
    expect(new Set(drawn.map((plan) => JSON.stringify(plan))).size).toBe(plans.length);
    expect(waitPlans(findCapabilities('duckdb')!).some(({ waiter }) => waiter === 'lock')).toBe(false);
  });

  it('let the waiter come between the blocker’s write and its end', () => {
    const { case: program, schedule } = drawWaitChain(new Random('order'), findCapabilities('mariadb')!, 0);
    const sent = schedule.batches
      .flat()
      .map(([s, p]) => `${s} ${program.sessions[s]!.statements[p]!.split(' ')[0]}`);
    const [write, wait, end] = [sent.indexOf('0 UPDATE'), sent.indexOf('1 UPDATE'), sent.indexOf('0 COMMIT')];
    expect(write).toBeGreaterThanOrEqual(0);
    expect(wait).toBeGreaterThan(write);
    expect(end).toBeGreaterThan(wait);
  });
});
