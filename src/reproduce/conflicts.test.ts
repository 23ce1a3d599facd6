import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as role from './conflicts.js';
import { groupBy, Ints } from './ints.js';
import { LatestAccesses } from './latest-accesses.js';
import { wilsonInterval } from './wilson.js';

const single = {
  read: role.read,
  snapshot: role.snapshot,
  share: role.share,
  lock: role.lock,
  write: role.write,
  publish: role.publish,
  releaseShare: role.releaseShare,
  release: role.release,
};
type Role = keyof typeof single;

/** Which roles must keep their order, by what they do to a row; read downwards and across. */
const table: Readonly<Record<Role, readonly Role[]>> = {
  read: ['write', 'publish'],
  snapshot: ['publish'],
  share: ['lock', 'write', 'publish', 'release'],
  lock: ['share', 'lock', 'write', 'publish', 'releaseShare', 'release'],
  write: ['read', 'share', 'lock', 'write', 'publish', 'releaseShare', 'release'],
  publish: ['read', 'snapshot', 'share', 'lock', 'write', 'publish', 'releaseShare', 'release'],
  releaseShare: ['lock', 'write', 'publish'],
  release: ['share', 'lock', 'write', 'publish'],
};
const names = Object.keys(single) as Role[];
const roles = fc.integer({ min: 1, max: 0xff });

describe('roles of accesses', () => {
  it.each(names)('%s conflicts with what the table says, and the other way round', (name) => {
    for (const other of names) {
      expect(role.inConflict(single[name], single[other])).toBe(table[name].includes(other));
      expect(role.inConflict(single[other], single[name])).toBe(table[name].includes(other));
    }
  });

  it('sets of roles conflict if some of their roles do', () => {
    fc.assert(
      fc.property(roles, roles, (a, b) => {
        const of = (set: number) => names.filter((name) => (set & single[name]) !== 0);
        const expected = of(a).some((one) => of(b).some((other) => table[one].includes(other)));
        expect(role.inConflict(a, b)).toBe(expected);
      }),
    );
  });

  it('two accesses to some row of a table are for their rows to decide; a whole table meets both', () => {
    fc.assert(
      fc.property(roles, roles, (a, b) => {
        expect(role.inConflict(role.onTable(a), role.onTable(b))).toBe(false);
        expect(role.inConflict(a, role.onTable(b))).toBe(role.inConflict(a, b));
        expect(role.inConflict(role.onTable(a), b)).toBe(role.inConflict(a, b));
      }),
    );
  });
});

describe('the latest accesses to an object', () => {
  it('leave out only what a later access stands in for', () => {
    const accesses = fc.array(roles, { maxLength: 12 });
    fc.assert(
      fc.property(accesses, roles, (list, asked) => {
        const latest = new LatestAccesses(1);
        for (const [step, each] of list.entries()) latest.add(0, step, each, () => true);
        const met: number[] = [];
        latest.eachConflicting(0, asked, (step) => met.push(step));
        // Whatever conflicts is met itself, or a later access is met in its place.
        list.forEach((each, step) => {
          if (role.inConflict(each, asked)) expect(met.some((other) => other >= step)).toBe(true);
        });
        for (const step of met) expect(role.inConflict(list[step]!, asked)).toBe(true);
      }),
    );
  });

  it('keep what did not come before for certain', () => {
    const latest = new LatestAccesses(2);
    latest.add(0, 1, role.write, () => true);
    latest.add(0, 2, role.write, () => false);
    latest.add(1, 3, role.write, () => true);
    const met: number[] = [];
    latest.eachConflicting(0, role.read, (step) => met.push(step));
    expect(met).toEqual([1, 2]);
  });
});

describe('lists of integers', () => {
  it('hold what was pushed, however often they grow', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer(), { maxLength: 50 }),
        fc.integer({ min: 1, max: 4 }),
        (values, capacity) => {
          const ints = new Ints(capacity);
          for (const value of values) ints.push(value);
          expect([...ints.view()]).toEqual(values);
          expect(values.map((_, i) => ints.at(i))).toEqual(values);
          expect(ints.length).toBe(values.length);
        },
      ),
    );
  });

  it('are grouped by key in their order', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(5), { maxLength: 40 }), (keys) => {
        const { first, order } = groupBy(Int32Array.from(keys), 6);
        for (let key = 0; key < 6; key++) {
          const entries = [...order.subarray(first[key], first[key + 1])];
          expect(entries).toEqual(keys.flatMap((each, i) => (each === key ? [i] : [])));
        }
      }),
    );
  });
});

describe('the interval of a ratio', () => {
  it.each([
    [0, 0, 0, 1],
    [20, 20, 0.84, 1],
    [0, 20, 0, 0.16],
    [10, 20, 0.3, 0.7],
    [4, 4, 0.51, 1],
  ])('%i of %i lies between %f and %f', (successes, runs, low, high) => {
    const interval = wilsonInterval(successes, runs);
    expect(interval[0]).toBeCloseTo(low, 2);
    expect(interval[1]).toBeCloseTo(high, 2);
  });

  it('holds the ratio observed, and narrows with the number of runs', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 50 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (runs, part) => {
          const successes = Math.round(runs * part);
          const [low, high] = wilsonInterval(successes, runs);
          const ratio = successes / runs;
          expect(low).toBeLessThanOrEqual(ratio + 1e-9);
          expect(high).toBeGreaterThanOrEqual(ratio - 1e-9);
          const [narrowLow, narrowHigh] = wilsonInterval(successes * 10, runs * 10);
          expect(narrowHigh - narrowLow).toBeLessThan(high - low);
        },
      ),
    );
  });
});
