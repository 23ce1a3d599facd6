import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { scheduleProblem } from '../../cases/index.js';
import { parseStatement } from '../../sql/index.js';
import { capabilitiesOf, findCapabilities, knownTargets } from '../capabilities.js';
import { generate } from '../generate-case.js';
import { Random } from '../random.js';
import { changes, deadlockChanges, drawWaitChain, endings, waiters, waitPlans } from './wait-chains.js';

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
          (sql) =>
            !/^(SET (enable|optimizer)|CREATE SEQUENCE)/i.test(sql) &&
            parseStatement(sql, capabilities.dialect).type === 'opaque',
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
    const usual = endings.length - 1;
    expect(plans).toHaveLength((waiters.length - 1) * (changes.length * usual + deadlockChanges.length));
    const drawn = plans.map((_, i) => drawWaitChain(new Random(String(i)), postgres, i).plan);
    expect(new Set(drawn.map((plan) => JSON.stringify(plan))).size).toBe(plans.length);
    // The first lap has met every pair of statement and ending.
    const pairs = (some: typeof plans) => new Set(some.map(({ waiter, ending }) => `${waiter} ${ending}`));
    expect(pairs(plans.slice(0, pairs(plans).size))).toEqual(pairs(plans));
    expect(waitPlans(findCapabilities('duckdb')!).some(({ waiter }) => waiter === 'lock')).toBe(false);
  });

  it('let transactions fail by every kind of constraint, and end waits by deadlocks', () => {
    const capabilities = findCapabilities('postgres')!;
    const texts = Array.from({ length: 400 }, (_, i) =>
      JSON.stringify(generate(String(i), { capabilities, profile: 'races' })),
    );
    expect(texts.some((text) => /UPDATE t SET v = -\d+/.test(text))).toBe(true);
    expect(texts.some((text) => /UPDATE t SET v = NULL/.test(text))).toBe(true);
    const number = waitPlans(capabilities).findIndex(({ ending }) => ending === 'deadlock');
    const { case: program } = drawWaitChain(new Random('deadlock'), capabilities, number);
    const inserted = program.sessions.map(({ statements }) =>
      statements.filter((sql) => sql.startsWith('INSERT')),
    );
    expect(inserted.every((statements) => statements.length > 0)).toBe(true);
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

  it('take the plan they are told, whatever their seed ends in', () => {
    const options = { capabilities: findCapabilities('postgres')!, profile: 'waits' } as const;
    expect(generate('1-57.1', { ...options, plan: 57 })).not.toEqual(generate('1-57.1', options));
    expect(generate('1-57.1', { ...options, plan: 1 })).toEqual(generate('1-57.1', options));
  });

  it.each([
    [
      'postgres',
      ['BEGIN', 'BEGIN READ ONLY', 'BEGIN READ ONLY, DEFERRABLE', 'BEGIN READ WRITE', 'START TRANSACTION'],
    ],
    [
      'mariadb',
      [
        'BEGIN',
        'START TRANSACTION',
        'START TRANSACTION READ ONLY',
        'START TRANSACTION READ WRITE',
        'START TRANSACTION WITH CONSISTENT SNAPSHOT',
      ],
    ],
    ['sqlite', ['BEGIN', 'BEGIN DEFERRED', 'BEGIN EXCLUSIVE', 'BEGIN IMMEDIATE']],
    ['turso', ['BEGIN', 'BEGIN DEFERRED', 'BEGIN EXCLUSIVE', 'BEGIN IMMEDIATE']],
  ])('and generated statements begin transactions in every form that %s has', (target, forms) => {
    const capabilities = findCapabilities(target)!;
    const seen = new Set<string>();
    for (let seed = 0; seed < 300 && seen.size < forms.length; seed++)
      for (const profile of ['races', 'mixed'])
        for (const { statements } of generate(String(seed), { capabilities, profile }).case.sessions)
          for (const sql of statements) if (/^(BEGIN|START) ?/.test(sql)) seen.add(sql);
    expect([...seen].sort()).toEqual(forms);
  });

  it('and spell a plain BEGIN as the target needs it where it is another thing', () => {
    const levels = [
      {
        level: 'snapshot',
        contract: 'turso:snapshot+mvcc',
        begin: 'BEGIN CONCURRENT',
        plainBeginDiffers: true,
      },
    ] as const;
    const capabilities = capabilitiesOf({ name: 'turso', dialect: 'sqlite', levels });
    const count = new Map<string, number>();
    for (let seed = 0; seed < 200; seed++)
      for (const profile of ['races', 'mixed'])
        for (const { statements } of generate(String(seed), { capabilities, profile, level: 'snapshot' }).case
          .sessions)
          for (const sql of statements)
            if (/^(BEGIN|START) ?/.test(sql)) count.set(sql, (count.get(sql) ?? 0) + 1);
    expect([...count.keys()].sort()).toEqual([
      'BEGIN CONCURRENT',
      'BEGIN DEFERRED',
      'BEGIN EXCLUSIVE',
      'BEGIN IMMEDIATE',
    ]);
    const all = [...count.values()].reduce((sum, each) => sum + each, 0);
    expect(count.get('BEGIN CONCURRENT')! / all).toBeGreaterThan(0.7);
  });
});
