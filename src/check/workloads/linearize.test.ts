import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { PlainOperation, PlainValue } from '../../histories/index.js';
import { linearize, type Model } from './linearize.js';
import { checkOperations, op, simulate } from './operations.case.js';

/** Tries every order of every choice of operations of unknown outcome. */
function isLinearizable(operations: readonly PlainOperation[]): boolean {
  const ok = operations.filter(({ status }) => status !== 'fail');
  const visit = (left: readonly PlainOperation[], state: PlainValue): boolean => {
    if (left.every(({ status }) => status === 'info')) return true;
    return left.some((next) => {
      // It may come next if none that is left ended before it began.
      if (left.some((other) => other !== next && other.end < next.start)) return false;
      const rest = left.filter((other) => other !== next);
      const value = next.value as PlainValue | readonly PlainValue[];
      if (next.f === 'write') return visit(rest, value as PlainValue);
      if (next.f === 'read')
        return next.status === 'info' ? visit(rest, state) : value === state && visit(rest, state);
      const [old, changed] = value as readonly [PlainValue, PlainValue];
      return old === state && visit(rest, changed);
    });
  };
  return visit(ok, null);
}

const anyOperation = fc.record({
  start: fc.nat(20),
  length: fc.integer({ min: 1, max: 8 }),
  call: fc.oneof(
    fc.record({ f: fc.constant('write'), value: fc.nat(2) as fc.Arbitrary<PlainValue> }),
    fc.record({ f: fc.constant('read'), value: fc.nat(2) as fc.Arbitrary<PlainValue> }),
    fc.record({ f: fc.constant('cas'), value: fc.tuple(fc.nat(2), fc.nat(2)) as fc.Arbitrary<PlainValue> }),
  ),
  status: fc.constantFrom('ok' as const, 'ok' as const, 'ok' as const, 'info' as const, 'fail' as const),
});

/** Begins and ends at different positions: an even one for a begin, an odd one for an end. */
const anyHistory = fc
  .array(anyOperation, { minLength: 1, maxLength: 6 })
  .map((all) =>
    all.map(({ start, length, call, status }, i) =>
      op(start * 40 + i * 2, (start + length) * 40 + i * 2 + 1, call.f, call.value, status),
    ),
  );

describe('linearizability', () => {
  it('is found exactly where trying every order finds it', () => {
    let [yes, no] = [0, 0];
    fc.assert(
      fc.property(anyHistory, (operations) => {
        const expected = isLinearizable(operations);
        const { kinds, unknownReasons } = checkOperations('cas-register', operations);
        if (expected) yes++;
        else no++;
        const judged = operations.some(({ status }) => status === 'ok');
        expect(kinds).toEqual(expected ? [] : ['not-linearizable']);
        if (judged) expect(unknownReasons).toEqual([]);
      }),
      { numRuns: 2000, seed: 13 },
    );
    expect(Math.min(yes, no)).toBeGreaterThan(200);
  });

  it('is never denied to a register that takes each operation at one moment', () => {
    for (let seed = 0; seed < 30; seed++) {
      let state: PlainValue = null;
      const operations = simulate(
        seed,
        300,
        (random) =>
          [
            { f: 'read', value: null },
            { f: 'write', value: random(4) },
            { f: 'cas', value: [random(4), random(4)] },
          ][random(3)]!,
        (f, value) => {
          if (f === 'read') return state;
          if (f === 'write') {
            state = value;
            return value;
          }
          const [old, next] = value as readonly [PlainValue, PlainValue];
          if (old !== state) return undefined;
          state = next;
          return value;
        },
      );
      expect(checkOperations('cas-register', operations)).toMatchObject({ kinds: [], unknownReasons: [] });
      // A read of what was never written is found wherever it is put.
      const reads = operations.flatMap(({ f, status }, at) => (f === 'read' && status === 'ok' ? [at] : []));
      const at = reads[seed % reads.length]!;
      const planted = operations.map((each, i) => (i === at ? { ...each, value: 99 } : each));
      const found = checkOperations('cas-register', planted);
      expect(found.kinds).toEqual(['not-linearizable']);
      expect(found.findings[0]!.witnesses[0]).toBe(at);
    }
  });

  it('takes keys of independent registers apart', () => {
    const operations = [op(0, 1, 'write', [1, 5]), op(2, 3, 'write', [2, 6]), op(4, 5, 'read', [1, 5])];
    expect(checkOperations('register', operations)).toMatchObject({ kinds: [], recognized: 'register' });
    const wrong = checkOperations('register', [...operations, op(6, 7, 'read', [2, 5])]);
    expect(wrong.findings[0]!.because).toContain('register 2 could hold only 6');
  });

  it('leaves open what a read of nil means after a write', () => {
    const operations = [op(0, 1, 'write', 5), op(2, 3, 'read', null)];
    const { kinds, unknownReasons } = checkOperations('register', operations);
    expect(kinds).toEqual([]);
    expect(unknownReasons[0]).toContain('linearizable only if reads of nil');
    expect(checkOperations('register', [op(0, 1, 'read', null), op(2, 3, 'write', 5)])).toMatchObject({
      kinds: [],
      unknownReasons: [],
    });
  });

  it('lets a mutex be held by one at a time', () => {
    const twice = [op(0, 1, 'acquire'), op(2, 3, 'acquire')];
    expect(checkOperations('mutex', twice)).toMatchObject({
      kinds: ['not-linearizable'],
      recognized: 'mutex',
    });
    expect(checkOperations('mutex', [...twice, op(4, 5, 'release')]).kinds).toEqual(['not-linearizable']);
    const handed = [op(0, 1, 'acquire'), op(2, 5, 'acquire'), op(3, 4, 'release')];
    expect(checkOperations('mutex', handed)).toMatchObject({ kinds: [], unknownReasons: [] });
    expect(
      checkOperations('mutex', [op(0, 1, 'acquire'), op(2, undefined, 'release'), op(3, 4, 'acquire')]).kinds,
    ).toEqual([]);
  });

  it('says what was too much for it, and decides nothing then', () => {
    const open = Array.from({ length: 31 }, (_, i) => op(i, 100 + i, 'write', i));
    const crowded = checkOperations('register', [...open, op(200, 201, 'read', 99)]);
    expect(crowded.kinds).toEqual([]);
    expect(crowded.unknownReasons[0]).toContain('more than 30 operations were open at once');
    // Twelve writes at once leave 12 · 2^11 configurations before the first of them ends.
    const writes = Array.from({ length: 12 }, (_, i) => op(i, 100 + i, 'write', i));
    const model: Model<PlainValue> = {
      initial: null,
      step: (state, { f, value }) => (f === 'write' ? value : value === state ? state : undefined),
      isRead: ({ f }) => f === 'read',
      isBlind: ({ f }) => f === 'write',
      key: String,
    };
    const all = writes.map((_, i) => i);
    const limited = linearize(writes, all, model, { open: 30, configurations: 1_000 });
    expect(limited).toEqual({
      outcome: 'unknown',
      reason: 'more than 1000 orders would have to be followed',
    });
    expect(linearize(writes, all, model)).toEqual({ outcome: 'linearizable' });
  });

  it('decides 20,000 operations of one key, and finds the one that is wrong', () => {
    let state: PlainValue = null;
    const operations = simulate(
      11,
      20_000,
      (random, position) => (random(2) === 0 ? { f: 'read', value: null } : { f: 'write', value: position }),
      (f, value) => {
        if (f === 'write') state = value;
        return state;
      },
    );
    expect(checkOperations('register', operations)).toMatchObject({ kinds: [], unknownReasons: [] });
    const reads = operations.flatMap(({ f, status }, at) => (f === 'read' && status === 'ok' ? [at] : []));
    const at = reads.at(-100)!;
    const stale = operations.map((each, i) =>
      i === at ? { ...each, value: operations[reads[5]!]!.value } : each,
    );
    expect(checkOperations('register', stale).kinds).toEqual(['not-linearizable']);
  });

  it('decides a long history with hundreds of lost writes', () => {
    let state: PlainValue = null;
    const operations = simulate(
      7,
      5_000,
      (random, position) =>
        random(2) === 0 ? { f: 'read', value: null } : { f: 'write', value: position % 50 },
      (f, value) => {
        if (f === 'write') state = value;
        return state;
      },
    );
    expect(operations.filter(({ status }) => status === 'info').length).toBeGreaterThan(200);
    expect(checkOperations('register', operations)).toMatchObject({ kinds: [], unknownReasons: [] });
  });
});
