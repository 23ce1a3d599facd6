import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { scheduleProblem } from '../cases/index.js';
import { findCapabilities, knownTargets } from '../generate/index.js';
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

  it('read all tables when everything else is over', () => {
    const { case: program, schedule } = rounds('closing').round(0);
    const last = schedule!.batches.at(-1)![0]![0];
    expect(program.sessions[last]!.name).toBe('after');
    expect(program.sessions[last]!.statements.every((sql) => sql.startsWith('SELECT'))).toBe(true);
  });
});
