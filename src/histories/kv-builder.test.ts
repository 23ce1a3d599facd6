import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { KvBuilder } from './kv-builder.js';
import {
  firstNamedValue,
  type KvHistory,
  type KvName,
  kvInitial,
  kvReadList,
  kvUnseen,
  listOf,
  printKvOp,
  statusOf,
  txName,
  valueName,
} from './kv-history.js';
import { kv } from './kv-shorthand.js';

/** Transactions as their operations are printed. */
function printed(history: KvHistory): string[] {
  return Array.from({ length: history.txCount }, (_, tx) => {
    const ops: string[] = [];
    for (let op = history.opOffsets[tx]!; op < history.opOffsets[tx + 1]!; op++)
      ops.push(printKvOp(history, op));
    return ops.join(' ');
  });
}

function mainChain(history: KvHistory, key: KvName): KvName[] {
  const id = history.keyNames.indexOf(key);
  const values = history.chainValues.subarray(history.chainOffsets[id], history.chainOffsets[id + 1]);
  return Array.from(values, (value) => valueName(history, value));
}

const options = { seed: 91, numRuns: 300 };
const name = fc.constantFrom<KvName>(0, 1, 2, '1', 'x', -1, 1.5, firstNamedValue, firstNamedValue - 1);
const list = fc.array(name, { maxLength: 4 });
const read = fc.record({ key: fc.constantFrom('x', 'y'), values: list });
const transactions = fc.array(
  fc.record({
    session: fc.nat(2),
    status: fc.constantFrom('committed' as const, 'aborted' as const, 'unknown' as const),
    reads: fc.array(read, { maxLength: 3 }),
  }),
  { maxLength: 8 },
);

describe('list reads', () => {
  it('give back the lists that were read, whatever else was read before and after', () => {
    fc.assert(
      fc.property(transactions, (all) => {
        const builder = new KvBuilder();
        for (const { session, status, reads } of all) {
          builder.begin(session);
          for (const { key, values } of reads) builder.readList(key, values);
          builder.end(status);
        }
        const history = builder.build();
        const found = Array.from({ length: history.opCount }, (_, op) =>
          Array.from(listOf(history, op), (id) => valueName(history, id)),
        );
        expect(found).toEqual(all.flatMap(({ reads }) => reads.map(({ values }) => values)));
      }),
      options,
    );
  });

  it('of committed transactions alone decide the order of versions', () => {
    fc.assert(
      fc.property(transactions, (all) => {
        const builder = new KvBuilder();
        const committed = new KvBuilder();
        for (const { session, status, reads } of all) {
          for (const one of status === 'committed' ? [builder, committed] : [builder]) {
            one.begin(session);
            for (const { key, values } of reads) one.readList(key, values);
            one.end(status);
          }
        }
        const history = builder.build();
        const alone = committed.build();
        for (const key of alone.keyNames) expect(mainChain(history, key)).toEqual(mainChain(alone, key));
        const isCommitted = history.otherChains.filter((chain) => chain.committed);
        expect(isCommitted).toHaveLength(alone.otherChains.length);
      }),
      options,
    );
  });

  it.each([
    ['prefixes, in any order', 'T1: rx[1] | T2: rx[1,2,3] | T3: rx[1,2] | T4: rx[]', 0],
    ['lists that disagree', 'T1: rx[1,2] | T2: rx[2,1]', 1],
    ['two that disagree in the same way', 'T1: rx[1,2] | T2: rx[2] | T3: rx[2,1]', 1],
    ['the same disagreement seen by an aborted transaction too', 'T1: rx[1] | T2: rx[2] | T3!: rx[2]', 2],
    ['an aborted transaction that saw more', 'T1: rx[1] | T2!: rx[1,2]', 1],
    ['an aborted transaction that saw less', 'T1: rx[1,2] | T2!: rx[1]', 0],
  ])('%s need so many chains besides the first', (_, text, others) => {
    expect(kv(text).otherChains).toHaveLength(others);
  });

  it('of integers in a column are those of a list', () => {
    const builder = new KvBuilder();
    builder.begin('s');
    builder.readIntegers('x', Int32Array.of(9, 1, 2, 9), 1, 3);
    builder.readList('x', [1, 2]);
    builder.end('committed');
    expect(printed(builder.build())).toEqual(['r(x, [1 2]) r(x, [1 2])']);
  });

  it('of nothing are empty, and of nobody knows what are not', () => {
    const builder = new KvBuilder();
    builder.begin('s');
    builder.readList('x', null);
    builder.readList('x', undefined);
    builder.end('committed');
    const history = builder.build();
    expect([...history.opKind]).toEqual([kvReadList, kvReadList]);
    expect([...history.opValue]).toEqual([0, kvUnseen]);
  });
});

describe('names', () => {
  it.each<[string, KvName, KvName, boolean]>([
    ['a number and its digits', 1, '1', false],
    ['0 and -0', 0, -0, true],
    ['numbers beyond the small ones', 2 ** 23, 2 ** 23, true],
    ['numbers that differ in the last place', 2 ** 53 - 1, 2 ** 53 - 2, false],
    ['texts', 'a', 'a', true],
  ])('%s are the same: %s and %s', (_, a, b, same) => {
    const builder = new KvBuilder();
    builder.begin(a);
    builder.write(a, a);
    builder.end('committed');
    builder.begin(b);
    builder.write(b, b);
    builder.end('committed');
    const { keyNames, opValue, sessionNames } = builder.build();
    expect(keyNames).toHaveLength(same ? 1 : 2);
    expect(sessionNames).toHaveLength(same ? 1 : 2);
    expect(opValue[0] === opValue[1]).toBe(same);
  });

  it.each<[KvName, boolean]>([
    [0, true],
    [firstNamedValue - 1, true],
    [firstNamedValue, false],
    [-1, false],
    [0.5, false],
    ['0', false],
  ])('the value %s is its own id: %s', (value, own) => {
    const builder = new KvBuilder();
    builder.begin('s');
    builder.write('x', value);
    builder.end('committed');
    const history = builder.build();
    expect(history.valueNames).toEqual(own ? [] : [value]);
    expect(valueName(history, history.opValue[0]!)).toBe(value);
  });
});

describe('reads of the initial state', () => {
  it('are told from reads without a result, and from values', () => {
    const builder = new KvBuilder();
    builder.begin('s');
    builder.read('x', null);
    builder.read('x', undefined);
    builder.read('x', 0);
    builder.end('committed');
    expect([...builder.build().opValue]).toEqual([kvInitial, kvUnseen, 0]);
  });

  it('may be of somebody who wrote nothing: the history says so', () => {
    const builder = new KvBuilder();
    builder.begin('a');
    builder.write('x', null);
    builder.end('committed');
    builder.begin('b');
    builder.read('x', null);
    builder.end('committed');
    const history = builder.build();
    expect(history.opValue[1]).toBe(history.initialValue);
    expect(printed(history)).toEqual(['w(x, nothing)', 'r(x, nothing)']);
  });

  it('are so where only an aborted transaction wrote nothing', () => {
    const builder = new KvBuilder();
    builder.begin('a');
    builder.write('x', null);
    builder.end('aborted');
    builder.begin('b');
    builder.read('x', null);
    builder.end('committed');
    expect(builder.build()).toMatchObject({ opValue: Int32Array.of(firstNamedValue, kvInitial) });
    expect(builder.build().initialValue).toBeUndefined();
  });
});

describe('a builder', () => {
  it.each<[string, (builder: KvBuilder) => void, RegExp]>([
    ['an operation without a transaction', (b) => b.write('x', 1), /outside begin/],
    ['an end without a beginning', (b) => b.end('committed'), /without begin/],
    [
      'a beginning without the end before it',
      (b) => {
        b.begin('s');
        b.begin('s');
      },
      /before the last transaction/,
    ],
    [
      'a history that is not finished',
      (b) => {
        b.begin('s');
        b.build();
      },
      /before the last transaction/,
    ],
  ])('refuses %s', (_, misuse, message) => {
    expect(() => misuse(new KvBuilder())).toThrow(message);
  });

  it('goes on after a history was built, and leaves that as it was', () => {
    const builder = new KvBuilder();
    builder.begin('s', 1);
    builder.append('x', 1);
    builder.readList('x', [1]);
    builder.end('committed', 2);
    const before = builder.build();
    const text = printed(before);
    builder.begin('s', 3);
    builder.readList('x', [1, 2]);
    builder.end('committed', 4);
    expect(printed(before)).toEqual(text);
    expect(mainChain(before, 'x')).toEqual([1]);
    expect(printed(builder.build())).toEqual([...text, 'r(x, [1 2])']);
  });

  it('has times and labels only where some transaction has', () => {
    expect(kv('T1: wx1').txStart).toBeUndefined();
    expect([...kv('T1: wx1 | T2[5-]: wx2').txStart!]).toEqual([Number.NaN, 5]);
    const builder = new KvBuilder();
    builder.begin('s', undefined, 40);
    builder.end('committed');
    builder.begin('s');
    builder.end('unknown');
    const history = builder.build();
    expect([txName(history, 0), txName(history, 1)]).toEqual(['T40', 'T2']);
    expect([statusOf(history, 0), statusOf(history, 1)]).toEqual(['committed', 'unknown']);
  });

  it('holds more operations than its columns begin with', () => {
    const builder = new KvBuilder();
    const count = 5000;
    for (let i = 0; i < count; i++) {
      builder.begin(i % 7, i);
      builder.write(`k${i % 3}`, i);
      builder.end('committed', i + 1);
    }
    const { txCount, opValue, txStart, opOffsets } = builder.build();
    expect([txCount, opValue[count - 1], txStart![count - 1], opOffsets[count]]).toEqual([
      count,
      count - 1,
      count - 1,
      count,
    ]);
  });
});

describe('the shorthand', () => {
  it('says sessions, outcomes and times in any order', () => {
    const history = kv('T1@a![1-2]: wx1 | T2[3-]?@a: ry_ rz? | T3: ax1');
    expect(history.sessionNames).toEqual(['a', 'session of 3']);
    expect([0, 1, 2].map((tx) => statusOf(history, tx))).toEqual(['aborted', 'unknown', 'committed']);
    expect(printed(history)).toEqual(['w(x, 1)', 'r(y, initial) r(z, ?)', 'append(x, 1)']);
    expect([...history.txEnd!]).toEqual([2, Number.NaN, Number.NaN]);
  });

  it.each(['wx1', 'T1 wx1', 'T1: zx1', 'T1: wx', 'T1: wx_', 'T1: ax[1]', 'T1: wX1', '1: wx1', 'T1: wx1 |'])(
    'refuses %j',
    (text) => {
      expect(() => kv(text)).toThrow(/^cannot read ".*" in a history/);
    },
  );
});
