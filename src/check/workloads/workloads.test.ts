import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readContent } from '../../histories/formats/import.case.js';
import { kv, PlainMap, type PlainOperation, type PlainValue, plainKey } from '../../histories/index.js';
import { check } from '../check.js';
import { explain } from '../explain.js';
import { longFork } from './long-fork.js';
import { checkOperations, op, simulate } from './operations.case.js';
import type { WorkloadName } from './workload.js';

const balances = (...list: number[]): PlainMap =>
  new PlainMap(list.map((balance, i) => [i, balance] as const));
const transfer = (from: number, to: number, amount: number): PlainMap =>
  new PlainMap([
    [':from', from],
    [':to', to],
    [':amount', amount],
  ]);

describe('bank', () => {
  it.each([
    [
      'wrong-total',
      [op(0, 1, 'read', balances(5, 5)), op(2, 3, 'read', balances(5, 5)), op(4, 5, 'read', balances(5, 4))],
    ],
    ['negative-balance', [op(0, 1, 'read', balances(11, -1))]],
    ['missing-account', [op(0, 1, 'read', balances(5, 5, 0)), op(2, 3, 'read', balances(5, 5))]],
    [
      'missing-account',
      [
        op(
          0,
          1,
          'read',
          new PlainMap([
            [0, 10],
            [1, null],
          ]),
        ),
      ],
    ],
  ] as const)('finds %s', (kind, reads) => {
    const operations = [op(10, 11, 'transfer', transfer(0, 1, 1)), ...reads];
    expect(checkOperations('bank', operations)).toMatchObject({ kinds: [kind], recognized: 'bank' });
  });

  it('takes the total and whether balances may be negative from whoever knows', () => {
    const operations = [op(0, 1, 'read', balances(11, -1))];
    expect(checkOperations('bank', operations, { negativeBalances: true }).kinds).toEqual([]);
    expect(checkOperations('bank', operations, { negativeBalances: true, total: 12 }).kinds).toEqual([
      'wrong-total',
    ]);
  });

  it('finds nothing while transfers are atomic, and the one read that saw half a transfer', () => {
    for (let seed = 0; seed < 30; seed++) {
      const accounts = [10, 10, 10];
      const operations = simulate(
        seed,
        200,
        (random) =>
          random(2) === 0
            ? { f: 'read', value: null }
            : { f: 'transfer', value: transfer(random(3), random(3), 1 + random(3)) },
        (f, value) => {
          if (f === 'read') return balances(...accounts);
          const [from, to, amount] = ['from', 'to', 'amount'].map(
            (name) => (value as PlainMap).get(name) as number,
          );
          if (accounts[from!]! < amount!) return undefined;
          accounts[from!] = accounts[from!]! - amount!;
          accounts[to!] = accounts[to!]! + amount!;
          return value;
        },
      );
      expect(checkOperations('bank', operations)).toMatchObject({ kinds: [], unknownReasons: [] });
      const reads = operations.flatMap(({ f, status }, at) => (f === 'read' && status === 'ok' ? [at] : []));
      const at = reads[seed % reads.length]!;
      const planted = operations.map((each, i) => {
        if (i !== at) return each;
        const entries = (each.value as PlainMap).entries;
        return {
          ...each,
          value: new PlainMap(
            entries.map(([key, balance], j) => [key, j === 0 ? (balance as number) + 1 : balance] as const),
          ),
        };
      });
      const { findings } = checkOperations('bank', planted);
      expect(findings.map(({ kind, witnesses }) => [kind, witnesses[0]])).toEqual([['wrong-total', at]]);
    }
  });
});

/** What a set shows, said plainly: every element against every read. */
function slowSetFull(operations: readonly PlainOperation[], linearizable: boolean): string[] {
  const reads = operations
    .filter(({ f, status }) => f === 'read' && status === 'ok')
    .sort((a, b) => a.start - b.start);
  const has = (read: PlainOperation, key: string): boolean =>
    (read.value as readonly PlainValue[]).some((each) => plainKey(each) === key);
  const keys = new Set([
    ...operations.filter(({ f }) => f === 'add').map(({ value }) => plainKey(value)),
    ...reads.flatMap(({ value }) => (value as readonly PlainValue[]).map(plainKey)),
  ]);
  const kinds = new Set<string>();
  for (const key of keys) {
    const adds = operations.filter(({ f, value }) => f === 'add' && plainKey(value) === key);
    const known = Math.min(
      ...adds.filter(({ status }) => status === 'ok').map(({ end }) => end),
      ...reads.filter((read) => has(read, key)).map(({ end }) => end),
    );
    const late = reads.filter(({ start }) => start > known);
    const missing = late.filter((read) => !has(read, key));
    if (missing.length > 0) {
      const last = missing.at(-1)!;
      const later = reads.filter((read) => read.start > last.start);
      if (later.length === 0) kinds.add('lost-element');
      else if (linearizable) kinds.add('stale-element');
    }
    if (reads.some((read) => has(read, key)) && adds.every(({ status }) => status === 'fail'))
      kinds.add('unexpected-element');
  }
  for (const { value } of reads) {
    const list = (value as readonly PlainValue[]).map(plainKey);
    if (new Set(list).size < list.length) kinds.add('duplicate-element');
  }
  return [...kinds].sort();
}

const anySetHistory = fc
  .array(
    fc.record({
      start: fc.nat(9),
      length: fc.integer({ min: 1, max: 3 }),
      status: fc.constantFrom('ok' as const, 'ok' as const, 'info' as const, 'fail' as const),
      element: fc.option(fc.nat(2)),
      read: fc.array(fc.nat(2), { maxLength: 3 }),
    }),
    { minLength: 3, maxLength: 10 },
  )
  .map((all) =>
    all.map(({ start, length, status, element, read }, i) =>
      op(
        start * 40 + i * 2,
        (start + length) * 40 + i * 2 + 1,
        element === null ? 'read' : 'add',
        element ?? read,
        status,
      ),
    ),
  )
  .filter((operations) => operations.some(({ f, status }) => f === 'read' && status === 'ok'));

describe('set', () => {
  it.each([
    ['lost-element', [op(0, 1, 'add', 1), op(2, 3, 'add', 2), op(4, 5, 'read', [1])]],
    ['unexpected-element', [op(0, 1, 'add', 1), op(4, 5, 'read', [1, 7])]],
    ['unexpected-element', [op(0, 1, 'add', 1), op(2, 3, 'add', 7, 'fail'), op(4, 5, 'read', [1, 7])]],
    ['duplicate-element', [op(0, 1, 'add', 1), op(4, 5, 'read', [1, 1])]],
  ] as const)('finds %s in the last read', (kind, operations) => {
    expect(checkOperations('set', operations)).toMatchObject({ kinds: [kind], recognized: 'set' });
  });

  it('does not hold against it what was added while it was read, or perhaps', () => {
    const operations = [op(0, undefined, 'add', 1), op(2, 9, 'add', 2), op(3, 8, 'read', [1])];
    expect(checkOperations('set', operations)).toMatchObject({
      kinds: [],
      notes: ['1 additions of unknown outcome took effect'],
    });
  });

  it('is unknown without a read', () => {
    expect(checkOperations('set', [op(0, 1, 'add', 1)]).unknownReasons).toHaveLength(1);
  });

  it('agrees with looking at every element of the last read', () => {
    const seen = new Map<string, number>();
    fc.assert(
      fc.property(anySetHistory, (operations) => {
        const expected = slowSet(operations);
        for (const kind of expected) seen.set(kind, (seen.get(kind) ?? 0) + 1);
        expect(checkOperations('set', operations).kinds.sort()).toEqual(expected);
      }),
      { numRuns: 2000, seed: 17 },
    );
    for (const kind of ['lost-element', 'unexpected-element', 'duplicate-element'])
      expect(seen.get(kind)).toBeGreaterThan(20);
  });
});

/** What is wrong with the read that began last, element by element. */
function slowSet(operations: readonly PlainOperation[]): string[] {
  const reads = operations.filter(({ f, status }) => f === 'read' && status === 'ok');
  const last = reads.sort((a, b) => a.start - b.start).at(-1)!;
  const list = (last.value as readonly PlainValue[]).map(plainKey);
  const adds = operations.filter(({ f }) => f === 'add');
  const kinds = new Set<string>();
  for (const { status, end, value } of adds) {
    if (status === 'ok' && end < last.start && !list.includes(plainKey(value))) kinds.add('lost-element');
  }
  list.forEach((key, i) => {
    if (list.indexOf(key) < i) kinds.add('duplicate-element');
    else if (!adds.some(({ status, value }) => status !== 'fail' && plainKey(value) === key))
      kinds.add('unexpected-element');
  });
  return [...kinds].sort();
}

describe('set-full', () => {
  it('agrees with looking at every element in every read', () => {
    const seen = new Map<string, number>();
    fc.assert(
      fc.property(anySetHistory, fc.boolean(), (operations, linearizable) => {
        const expected = slowSetFull(operations, linearizable);
        for (const kind of expected) seen.set(kind, (seen.get(kind) ?? 0) + 1);
        expect(checkOperations('set-full', operations, { linearizable }).kinds.sort()).toEqual(expected);
      }),
      { numRuns: 2000, seed: 13 },
    );
    for (const kind of ['lost-element', 'stale-element', 'unexpected-element', 'duplicate-element']) {
      expect(seen.get(kind)).toBeGreaterThan(20);
    }
  });
});

describe('counter', () => {
  it.each([
    [[op(0, 1, 'add', 2), op(2, 3, 'read', 2)], []],
    [[op(0, 1, 'add', 2), op(2, 3, 'read', 1)], ['counter-bounds']],
    [[op(0, 1, 'add', 2), op(2, 3, 'read', 3)], ['counter-bounds']],
    [[op(0, 9, 'add', 2), op(2, 3, 'read', 0), op(4, 5, 'read', 2)], []],
    [[op(0, undefined, 'add', 2), op(2, 3, 'read', 0), op(4, 5, 'read', 2)], []],
    [[op(0, 9, 'add', 2, 'fail'), op(2, 3, 'read', 2)], ['counter-bounds']],
    [[op(0, 1, 'add', 5), op(2, 9, 'add', -3), op(3, 4, 'read', 2)], []],
    [[op(0, 1, 'add', 5), op(2, 9, 'add', -3), op(3, 4, 'read', 1)], ['counter-bounds']],
  ] as const)('judges %j', (operations, kinds) => {
    expect(checkOperations('counter', operations)).toMatchObject({ kinds, recognized: 'counter' });
  });

  it('finds nothing in a counter that takes each addition at one moment', () => {
    for (let seed = 0; seed < 30; seed++) {
      let state = 0;
      const operations = simulate(
        seed,
        300,
        (random) => (random(2) === 0 ? { f: 'read', value: null } : { f: 'add', value: random(7) - 2 }),
        (f, value) => {
          if (f === 'read') return state;
          state += value as number;
          return value;
        },
      );
      expect(checkOperations('counter', operations)).toMatchObject({ kinds: [], unknownReasons: [] });
      const planted = [...operations, op(1e6, 1e6 + 1, 'read', 5000)];
      expect(checkOperations('counter', planted).findings.map(({ witnesses }) => witnesses[0])).toEqual([
        operations.length,
      ]);
    }
  });
});

describe('sequential', () => {
  it.each([
    [[null, null], []],
    [[null, 'a_0'], []],
    [['a_1', 'a_0'], []],
    [['a_1', null], ['missing-earlier-write']],
    [[null, 'a_1', null], ['missing-earlier-write']],
  ] as const)('judges the answers %j', (answers, kinds) => {
    const operations = [op(0, 1, 'write', 'a'), op(2, 3, 'read', ['a', answers])];
    expect(checkOperations('sequential', operations)).toMatchObject({ kinds, recognized: 'sequential' });
  });

  it('agrees with comparing every two answers', () => {
    const answer = fc.option(fc.constantFrom('a_0', 'a_1'));
    let broken = 0;
    fc.assert(
      fc.property(
        fc.array(
          fc.record({
            answers: fc.array(answer, { maxLength: 5 }),
            status: fc.constantFrom('ok' as const, 'ok' as const, 'fail' as const),
          }),
          { minLength: 1, maxLength: 4 },
        ),
        (reads) => {
          const operations = reads.map(({ answers, status }, i) =>
            op(i, i + 1, 'read', ['a', answers], status),
          );
          const wrong = reads.some(
            ({ answers, status }) =>
              status === 'ok' &&
              answers.some((seen, i) => seen !== null && answers.some((later, j) => j > i && later === null)),
          );
          if (wrong) broken++;
          expect(checkOperations('sequential', operations).kinds).toEqual(
            wrong ? ['missing-earlier-write'] : [],
          );
        },
      ),
      { numRuns: 1000, seed: 19 },
    );
    expect(broken).toBeGreaterThan(200);
    expect(broken).toBeLessThan(900);
  });
});

describe('comments', () => {
  it.each([
    [[op(0, 1, 'write', 1), op(2, 3, 'write', 2), op(0.5, 9, 'read', [2])], ['missing-earlier-write']],
    [[op(0, 1, 'write', 1), op(2, 3, 'write', 2), op(0.5, 9, 'read', [1])], []],
    [[op(0, 3, 'write', 1), op(2, 5, 'write', 2), op(0.5, 9, 'read', [2])], []],
    [[op(0, undefined, 'write', 1), op(2, 5, 'write', 2), op(0.5, 9, 'read', [2])], []],
    [[op(0, 1, 'write', 1), op(2, 5, 'read', [7])], ['unexpected-element']],
  ] as const)('judges %j', (operations, kinds) => {
    expect(checkOperations('comments', operations)).toMatchObject({ kinds, recognized: 'comments' });
  });

  it('agrees with comparing every two writes in every read', () => {
    const any = fc
      .array(
        fc.record({
          start: fc.nat(9),
          length: fc.integer({ min: 1, max: 3 }),
          read: fc.option(fc.array(fc.nat(6))),
        }),
        { minLength: 2, maxLength: 7 },
      )
      .map((all) => {
        const ids = all.map((_, i) => i);
        return all.map(({ start, length, read }, i) =>
          op(
            start * 40 + i * 2,
            (start + length) * 40 + i * 2 + 1,
            read === null ? 'write' : 'read',
            read === null ? i : read.filter((id) => ids.includes(id) && all[id]!.read === null),
          ),
        );
      });
    let broken = 0;
    fc.assert(
      fc.property(any, (operations) => {
        const writes = operations.filter(({ f }) => f === 'write');
        const expected = operations.some(
          ({ f, value }) =>
            f === 'read' &&
            writes.some((a) =>
              writes.some(
                (b) =>
                  a.end < b.start &&
                  (value as readonly PlainValue[]).includes(b.value) &&
                  !(value as readonly PlainValue[]).includes(a.value),
              ),
            ),
        );
        if (expected) broken++;
        expect(checkOperations('comments', operations).kinds).toEqual(
          expected ? ['missing-earlier-write'] : [],
        );
      }),
      { numRuns: 2000, seed: 13 },
    );
    expect(broken).toBeGreaterThan(100);
  });
});

describe('long-fork', () => {
  const forks = (text: string) => longFork.check({ operations: [], transactions: kv(text) }, {});

  it('finds reads that saw writes in opposite orders', () => {
    expect(forks('A: wx1 | B: wy1 | C: rx1 ry_ | D: rx_ ry1').findings.map(({ kind }) => kind)).toEqual([
      'long-fork',
    ]);
    expect(forks('A: wx1 | B: wy1 | C: rx1 ry_ | D: rx1 ry1 | E: rx_ ry_').findings).toEqual([]);
    expect(forks('A: wx1 | B: wx2 | C: rx1 ry_').unknownReasons[0]).toContain('x is written more than once');
  });

  it('agrees with comparing every two reads', () => {
    let broken = 0;
    fc.assert(
      fc.property(
        fc.array(fc.array(fc.boolean(), { minLength: 3, maxLength: 3 }), { minLength: 1, maxLength: 5 }),
        (reads) => {
          const text = [
            'A: wx1 | B: wy1 | C: wz1',
            ...reads.map(
              (seen, i) => `R${i}: ${seen.map((each, k) => `r${'xyz'[k]}${each ? 1 : '_'}`).join(' ')}`,
            ),
          ].join(' | ');
          const expected = reads.some((a) =>
            reads.some((b) => a.some((each, k) => each && !b[k]) && b.some((each, k) => each && !a[k])),
          );
          if (expected) broken++;
          expect(forks(text).findings.length > 0).toBe(expected);
        },
      ),
      { numRuns: 500, seed: 13 },
    );
    expect(broken).toBeGreaterThan(50);
  });
});

describe('files of Jepsen', () => {
  const lines = (events: readonly string[]): string =>
    events.map((event, i) => `{:index ${i}, ${event}}`).join('\n');
  const pair = (process: number, f: string, invoked: string, value: string): string[] => [
    `:type :invoke, :process ${process}, :f :${f}, :value ${invoked}`,
    `:type :ok, :process ${process}, :f :${f}, :value ${value}`,
  ];
  const files: readonly (readonly [WorkloadName, string[], string[], string])[] = [
    [
      'bank',
      [
        ...pair(0, 'transfer', '{:from 0, :to 1, :amount 3}', '{:from 0, :to 1, :amount 3}'),
        ...pair(1, 'read', 'nil', '{0 7, 1 13}'),
      ],
      pair(1, 'read', 'nil', '{0 7, 1 10}'),
      'wrong-total',
    ],
    [
      'set',
      [...pair(0, 'add', '1', '1'), ...pair(0, 'add', '2', '2')],
      pair(1, 'read', 'nil', '#{1}'),
      'lost-element',
    ],
    [
      'set-full',
      [...pair(0, 'add', '1', '1'), ...pair(1, 'read', 'nil', '#{1}'), ...pair(2, 'read', 'nil', '#{1}')],
      pair(1, 'read', 'nil', '#{}'),
      'lost-element',
    ],
    [
      'counter',
      [...pair(0, 'add', '1', '1'), ...pair(1, 'read', 'nil', '1')],
      pair(1, 'read', 'nil', '2'),
      'counter-bounds',
    ],
    [
      'sequential',
      [...pair(0, 'write', '1', '1'), ...pair(1, 'read', '1', '[1 [nil nil]]')],
      pair(1, 'read', '1', '[1 ["1_1" nil]]'),
      'missing-earlier-write',
    ],
    [
      'comments',
      [...pair(0, 'write', '1', '1'), ...pair(0, 'write', '2', '2'), ...pair(1, 'read', 'nil', '#{1 2}')],
      pair(1, 'read', 'nil', '#{2}'),
      'missing-earlier-write',
    ],
    [
      'register',
      [...pair(0, 'write', '1', '1'), ...pair(1, 'read', 'nil', '1')],
      pair(1, 'read', 'nil', '3'),
      'not-linearizable',
    ],
    [
      'cas-register',
      [...pair(0, 'write', '1', '1'), ...pair(1, 'cas', '[1 2]', '[1 2]')],
      pair(1, 'read', 'nil', '1'),
      'not-linearizable',
    ],
    ['mutex', pair(0, 'acquire', 'nil', 'nil'), pair(1, 'acquire', 'nil', 'nil'), 'not-linearizable'],
  ];

  it.each(files)('%s is recognised, holds, and shows what is wrong', async (name, right, wrong, kind) => {
    if (name !== 'set') {
      const good = check(await readContent(lines(right)));
      expect(good).toMatchObject({ valid: true, oracle: 'workload', unknownReasons: [] });
      expect(good.notes[0]).toContain(`judged as the workload ${name}:`);
    }
    const bad = check(await readContent(lines([...right, ...wrong])));
    expect(bad).toMatchObject({ valid: false, oracle: 'workload' });
    expect(bad.notes[0]).toContain(`judged as the workload ${name}:`);
    expect(bad.findings.map((finding) => finding.kind)).toEqual([kind]);
    expect(explain(bad.findings[0]!)).toMatch(/^Let op \d+ = \w+/);
    expect(check(await readContent(lines(right)), {}, { workload: { name: 'long-fork' } }).valid).toBe(
      'unknown',
    );
  });

  it('reads them from JSON too', async () => {
    const events = [
      { type: 'invoke', process: 0, f: 'transfer', value: { from: 0, to: 1, amount: 3 } },
      { type: 'ok', process: 0, f: 'transfer', value: { from: 0, to: 1, amount: 3 } },
      { type: 'ok', process: 1, f: 'read', value: { 0: 7, 1: 13 } },
      { type: 'ok', process: 1, f: 'read', value: { 0: 7, 1: 13 } },
      { type: 'ok', process: 2, f: 'read', value: { 0: 10, 1: 13 } },
    ];
    expect(check(await readContent(JSON.stringify(events))).findings.map(({ kind }) => kind)).toEqual([
      'wrong-total',
    ]);
  });

  it('says what a workload does not speak of', async () => {
    const text = lines([
      ...pair(0, 'transfer', '{}', '{}'),
      ...pair(1, 'read', 'nil', '{0 7}'),
      ...pair(1, 'drain', 'nil', '4'),
    ]);
    expect(check(await readContent(text))).toMatchObject({ valid: 'unknown', oracle: 'key-value' });
    const asked = check(await readContent(text), {}, { workload: { name: 'bank' } });
    expect(asked).toMatchObject({ valid: 'unknown', oracle: 'workload' });
    expect(asked.unknownReasons).toEqual([
      'operations that are not of the workload bank were skipped: 1 drain',
    ]);
  });

  it('finds long forks where that is asked', async () => {
    const text = lines([
      ':type :ok, :process 0, :f :txn, :value [[:w 1 1]]',
      ':type :ok, :process 1, :f :txn, :value [[:w 2 1]]',
      ':type :ok, :process 2, :f :txn, :value [[:r 1 1] [:r 2 nil]]',
      ':type :ok, :process 3, :f :txn, :value [[:r 1 nil] [:r 2 1]]',
    ]);
    expect(check(await readContent(text), {}, { workload: { name: 'long-fork' } })).toMatchObject({
      valid: false,
      findings: [{ kind: 'long-fork', transactions: [{ name: 'T2' }, { name: 'T3' }] }],
    });
  });
});
