import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { scheduleProblem } from '../cases/index.js';
import { conflictSchedules, findCapabilities, generate, knownTargets } from '../generate/index.js';
import { probeCases } from '../probe/index.js';
import { groupSize, type Round, Rounds } from './round.js';

const rounds = (seed: string, target = 'duckdb') =>
  new Rounds({
    seed,
    capabilities: findCapabilities(target)!,
    levels: ['repeatable read', 'serializable'],
    oracles: [
      { name: 'mechanism', rounds: 5 },
      { name: 'dependency-graph', rounds: 3 },
    ],
  });

const numbers = fc.integer({ min: 0, max: 100_000 });
const targets = fc.constantFrom(...knownTargets);

describe('rounds', () => {
  it('are the same for the same seed and number, whatever was asked for before', () => {
    fc.assert(
      fc.property(fc.string(), numbers, numbers, targets, (seed, number, other, target) => {
        const used = rounds(seed, target);
        used.round(other);
        expect(used.round(number)).toEqual(rounds(seed, target).round(number));
      }),
      { numRuns: 40 },
    );
  });

  it('have an order that fits their case, or run freely', () => {
    fc.assert(
      fc.property(fc.string(), numbers, targets, (seed, number, target) => {
        const { case: program, schedule } = rounds(seed, target).round(number);
        if (schedule !== undefined) expect(scheduleProblem(program, schedule)).toBeUndefined();
      }),
      { numRuns: 100 },
    );
  });

  it('begin with each template once', () => {
    const all = rounds('opening');
    const sources = probeCases.map((_, i) => all.round(i).source);
    expect(sources.toSorted()).toEqual(probeCases.map((probe) => `template ${probe.case.name}`).toSorted());
  });

  it('share a set-up within a group, and differ in their orders', () => {
    const all = rounds('orders');
    const group = Array.from({ length: groupSize }, (_, i) => all.round(30 * groupSize + i));
    expect(new Set(group.map((round) => JSON.stringify(round.case.setup))).size).toBe(1);
    // One of them runs freely, and is observed from outside.
    expect(group.filter(({ schedule }) => schedule === undefined)).toHaveLength(1);
    expect(new Set(group.map((round) => JSON.stringify(round.schedule))).size).toBeGreaterThan(3);
  });

  it('mix templates and profiles, plain and instrumented runs, scheduled and free ones, and take levels in turns', () => {
    const all = rounds('mix');
    const some = Array.from({ length: 200 * groupSize }, (_, i) => all.round(100 * groupSize + i));
    const share = (is: (round: Round) => boolean) => some.filter(is).length / some.length;
    expect(share(({ source }) => source.startsWith('template'))).toBeGreaterThan(0.2);
    expect(new Set(some.map(({ source }) => source.split(' ')[1])).size).toBeGreaterThan(20);
    expect(share(({ oracle }) => oracle === 'mechanism')).toBeCloseTo(5 / 8);
    expect(share(({ level }) => level === 'serializable')).toBeCloseTo(1 / 2);
    const free = share(({ schedule }) => schedule === undefined);
    expect(free).toBeGreaterThan(1 / groupSize);
    expect(free).toBeLessThan(0.2);
  });

  it('let autocommitted statements wait, in the order that makes them wait', () => {
    const all = rounds('autocommit', 'postgres');
    const waits = Array.from({ length: 400 }, (_, i) => all.round((100 + i) * groupSize)).filter(
      ({ source }) => source === 'profile waits',
    );
    const alone = waits.filter(({ case: { sessions } }) =>
      sessions[1]!.statements.every((sql) => !/^(BEGIN|START|COMMIT|ROLLBACK)/.test(sql)),
    );
    // A fifth of those that do not end in a deadlock.
    expect(alone.length).toBeGreaterThan(waits.length / 20);
    for (const { case: program, schedule } of alone) {
      const sent = schedule!.batches.flat().map(([s]) => s);
      expect(sent.slice(sent.indexOf(0), sent.lastIndexOf(0)), program.name).toContain(1);
    }
  });

  it('are drawn again where no two transactions meet, races too, but never those that wait on purpose', () => {
    const names = (profile: string) => {
      const options = {
        ...{ seed: 'meet', profile, capabilities: findCapabilities('postgres')! },
        levels: ['repeatable read'] as const,
        oracles: [{ name: 'mechanism', rounds: 1 }] as const,
      };
      const all = new Rounds(options);
      const cases = Array.from({ length: 100 }, (_, group) => all.round(group * groupSize + 4).case);
      const lonely = cases.filter(
        (each) => [...conflictSchedules(each, { pairs: 1, orders: 1 })].length === 0,
      );
      return { again: cases.filter(({ name }) => /\.\d/.test(name)).length, lonely: lonely.length };
    };
    const races = names('races');
    expect(races.again).toBeGreaterThan(0);
    expect(races.lonely).toBeLessThanOrEqual(1);
    expect(names('waits').again).toBe(0);
  });

  it('walk through everything that can wait and every way to end it, wherever a hunt begins', () => {
    const capabilities = findCapabilities('postgres')!;
    // PostgreSQL has no REPLACE: nine statements, three endings after eight changes, deadlocks after two.
    const plans = 9 * (3 * 8 + 2);
    const all = rounds('walk', 'postgres');
    const waits: Round[] = [];
    for (let group = Math.ceil(probeCases.length / groupSize); waits.length < 60; group++) {
      const round = all.round(group * groupSize);
      if (round.source === 'profile waits') waits.push(round);
    }
    const isPlan = ({ case: program, number, level }: Round, plan: number) => {
      const seed = `walk-${number / groupSize}`;
      const { setup, sessions } = generate(seed, { capabilities, profile: 'waits', level, plan }).case;
      const texts = program.sessions.slice(0, 2).map(({ statements }) => statements);
      return isDeepStrictEqual([setup, sessions.map(({ statements }) => statements)], [program.setup, texts]);
    };
    // Some plans differ in their order alone, so that a single program does not tell where the walk began.
    const starts = Array.from({ length: plans }, (_, plan) => plan).filter((start) =>
      waits.every((round, n) => isPlan(round, start + n)),
    );
    expect(starts).toHaveLength(1);
    // Whoever begins in the middle gives the same ones.
    for (const round of waits.slice(-3))
      expect(rounds('walk', 'postgres').round(round.number)).toEqual(round);
  });

  it('read all tables when everything else is over', () => {
    const { case: program, schedule } = rounds('closing').round(0);
    const last = schedule!.batches.at(-1)![0]![0];
    expect(program.sessions[last]!.name).toBe('after');
    expect(program.sessions[last]!.statements.every((sql) => sql.startsWith('SELECT'))).toBe(true);
  });
});
