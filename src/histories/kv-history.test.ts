import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { KvBuilder } from './kv-builder.js';
import { type KvName, listOf, printKvOp, statusOf, txName, valueName } from './kv-history.js';
import { kv } from './kv-shorthand.js';

const ops = (history: ReturnType<typeof kv>): string[] =>
  Array.from({ length: history.opCount }, (_, op) => printKvOp(history, op));

describe('key-value histories', () => {
  it('keep every operation as it was told', () => {
    const builder = new KvBuilder();
    builder.begin('alice', 5, 40);
    builder.write('x', 'a "quoted" value');
    builder.read('y', null);
    builder.read('y', undefined);
    builder.append(7, -1.5);
    builder.readList(7, undefined);
    builder.end('unknown');
    const history = builder.build();
    expect(ops(history)).toEqual([
      'w(x, "a \\"quoted\\" value")',
      'r(y, initial)',
      'r(y, ?)',
      'append(7, -1.5)',
      'r(7, ?)',
    ]);
    expect(statusOf(history, 0)).toBe('unknown');
    expect(txName(history, 0)).toBe('T40');
    expect(history.txStart?.[0]).toBe(5);
    expect(history.txEnd?.[0]).toBeNaN();
  });

  it('tell the number 1 from the word 1', () => {
    const builder = new KvBuilder();
    builder.begin(0);
    builder.write(1, 1);
    builder.write('1', '1');
    builder.end('committed');
    const history = builder.build();
    expect(new Set(history.opKey).size).toBe(2);
    expect(new Set(history.opValue).size).toBe(2);
  });

  it('store lists that agree once, and lists that disagree apart', () => {
    const history = kv('A: rx[1] | B: rx[1,2,3] | C: rx[1,3] | D: rx[] | E: rx[1,2]');
    expect(ops(history)).toEqual(['r(x, [1])', 'r(x, [1 2 3])', 'r(x, [1 3])', 'r(x, [])', 'r(x, [1 2])']);
    expect(history.chainValues.length).toBe(3);
    expect(history.otherChains.length).toBe(1);
  });

  it('do not let an aborted read decide the order of versions', () => {
    const history = kv('A!: rx[2,1] | B: rx[1,2] | C!: rx[2,1,3]');
    expect(Array.from(history.chainValues)).toEqual([1, 2]);
    expect(history.otherChains.map((chain) => chain.committed)).toEqual([false]);
    expect(ops(history)).toEqual(['r(x, [2 1])', 'r(x, [1 2])', 'r(x, [2 1 3])']);
  });

  it('give back any lists, whatever their order', () => {
    const name = fc.oneof(fc.nat({ max: 3 }), fc.constantFrom('a', 'b', ''), fc.constant(-1));
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat({ max: 1 }), fc.array(name), fc.boolean())), (reads) => {
        const builder = new KvBuilder();
        for (const [key, list, ok] of reads) {
          builder.begin('s');
          builder.readList(key, list);
          builder.end(ok ? 'committed' : 'aborted');
        }
        const history = builder.build();
        const back = reads.map((_, op): KvName[] =>
          Array.from(listOf(history, op), (id) => valueName(history, id)),
        );
        expect(back).toEqual(reads.map(([, list]) => list));
      }),
    );
  });

  it('refuse operations outside a transaction', () => {
    const builder = new KvBuilder();
    expect(() => builder.write('x', 1)).toThrow('outside begin()');
    builder.begin(1);
    expect(() => builder.begin(1)).toThrow('before the last transaction');
    expect(() => builder.build()).toThrow('before the last transaction');
  });

  it('say what is wrong with a shorthand', () => {
    expect(() => kv('T1: zx1')).toThrow('cannot read "zx1"');
    expect(() => kv('T1 wx1')).toThrow('expected a transaction such as');
  });
});
