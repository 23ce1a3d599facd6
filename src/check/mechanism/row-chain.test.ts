import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Operation } from '../../histories/index.js';
import { type Image, type Interval, never, type Tx } from '../../rows/index.js';
import { InFlight, mayTouch, type PendingWrite } from './in-flight.js';
import { grantLock } from './locks.js';
import { comesBefore, imagesOf, imagesOfAll, oldKept, RowChain, type View } from './row-chain.js';
import { SnapshotBounds } from './snapshot-bounds.js';

const span = (start: number, end: number): Interval => ({ start, end });

/** A transaction that committed in a span, or rolled back in it. */
function tx(id: number, ends: Interval, fate: Tx['fate'] = 'committed'): Tx {
  const commit = fate === 'aborted' ? never : ends;
  return { id, session: id, fate, commit, end: ends, holdsLocksUntil: ends.start, start: 0 } as unknown as Tx;
}

const state = (operation: number, at: Interval, image: Image, certain = true) => ({
  operation,
  span: at,
  images: [image],
  certain,
});

const at = (time: number, more: Partial<View> = {}): View => ({
  span: span(time, time),
  current: false,
  dirty: false,
  ...more,
});

describe('the versions of a row', () => {
  const a = tx(1, span(10, 12));
  const b = tx(2, span(20, 22));
  const reader = tx(9, span(90, 91));

  function chain(): RowChain {
    const row = new RowChain('t', '1', [0]);
    row.write(a, state(1, span(5, 6), [1]));
    row.write(b, state(2, span(15, 16), [2]));
    return row;
  }
  const seen = (row: RowChain, view: View, by: Tx = reader) =>
    row.allowed(view, by, true).flatMap((version) => imagesOf(version));

  it('show what was committed by then, and both where that is open', () => {
    const row = chain();
    expect(seen(row, at(1))).toEqual([[0]]);
    expect(seen(row, at(11))).toEqual([[0], [1]]);
    expect(seen(row, at(15))).toEqual([[1]]);
    expect(seen(row, { ...at(0), span: span(11, 21) })).toEqual([[0], [1], [2]]);
    expect(seen(row, at(30))).toEqual([[2]]);
  });

  it('show a transaction its own write alone', () => {
    expect(seen(chain(), at(1), b)).toEqual([[2]]);
  });

  it('show uncommitted states to those who read them, all states of each', () => {
    const row = chain();
    row.write(b, state(3, span(17, 18), [3]));
    const view = at(17, { dirty: true, current: true });
    const versions = row.allowed(view, reader, true);
    expect(imagesOfAll(versions, view)).toEqual(expect.arrayContaining([[1], [2], [3]]));
    expect(seen(row, at(17))).toEqual([[1]]);
  });

  it('a write that may have missed the row leaves the values before it possible', () => {
    const row = chain();
    const c = tx(3, span(40, 41));
    row.write(c, state(4, span(30, 31), [7], false));
    expect(seen(row, at(50))).toEqual([[2], [7]]);
    row.write(c, state(5, span(32, 33), [8]));
    expect(seen(row, at(50))).toEqual([[8]]);
  });

  it('ROLLBACK TO takes back what came after its savepoint, and the version with the last state', () => {
    const row = new RowChain('t', '1', [0]);
    row.write(a, state(1, span(1, 2), [1]));
    row.write(a, state(3, span(3, 4), [2]));
    row.undo(a, 2, 5);
    expect(imagesOf(row.own(a)!)).toEqual([[1]]);
    row.undo(a, 0, 6);
    expect(row.own(a)).toBeUndefined();
    expect(row.undone.map(({ images, until }) => [images, until])).toEqual([
      [[[2]], 5],
      [[[1]], 6],
    ]);
  });

  it('come one after the other by their commits, or by the locks of their writers', () => {
    const row = new RowChain('t', '1', [0]);
    const first = tx(1, span(10, 30));
    const second = tx(2, span(20, 40));
    const one = row.write(first, state(1, span(1, 2), [1]));
    const two = row.write(second, state(2, span(21, 22), [2]));
    expect(comesBefore(one, two, false)).toBe(false);
    // The first had written before the second began to commit, and not the other way round.
    expect(comesBefore(one, two, true)).toBe(true);
    expect(comesBefore(two, one, true)).toBe(false);
    expect(comesBefore(row.versions[0]!, one, false)).toBe(true);
  });

  it('are forgotten when nobody can see them any more, and kept to name their writers', () => {
    const row = chain();
    row.prune(50, true);
    expect(row.versions.flatMap((version) => imagesOf(version))).toEqual([[2]]);
    expect(row.retired.map(({ tx: by, images }) => [by?.id, images])).toEqual([
      [undefined, [[0]]],
      [1, [[1]]],
    ]);
  });

  it('pruning changes nothing for those who look later', () => {
    const write = fc.record({
      start: fc.nat(30),
      length: fc.nat(6),
      certain: fc.boolean(),
      writers: fc.boolean(),
    });
    fc.assert(
      fc.property(
        fc.array(write, { maxLength: 16 }),
        fc.nat(40),
        fc.tuple(fc.nat(20), fc.nat(4)),
        fc.boolean(),
        (writes, watermark, [later, length], exclusive) => {
          const row = new RowChain('t', '1', [0]);
          writes.forEach(({ start, length: took, certain, writers }, i) => {
            const by = tx(i + 1, span(start + 1, start + 1 + took), writers ? 'committed' : 'aborted');
            row.write(by, state(i, span(start, start), [i + 1], certain));
          });
          const view = at(0, { span: span(watermark + later, watermark + later + length) });
          const images = () => new Set(row.allowed(view, reader, exclusive).flatMap(imagesOf).map(String));
          const before = images();
          row.prune(watermark, exclusive);
          expect(images()).toEqual(before);
        },
      ),
      { numRuns: 1000 },
    );
  });

  it('joins old versions that nothing certain came after, however many doubtful writes there are', () => {
    const row = new RowChain('t', '1', [0]);
    const sizes: number[] = [];
    for (let i = 1; i <= 40; i++) {
      row.write(tx(i, span(10 * i + 5, 10 * i + 6)), state(i, span(10 * i, 10 * i + 1), [i % 3], false));
      row.prune(10 * i, true);
      sizes.push(row.versions.length);
    }
    expect(Math.max(...sizes)).toBe(oldKept + 1);
    const [joined] = row.versions;
    expect(joined).toMatchObject({ tx: undefined, certain: true, joined: true });
    expect(new Set(imagesOf(joined!).map(String))).toEqual(new Set(['0', '1', '2']));
    // Where an old value came from is still said of its writer, never of the initial state.
    expect(row.retired.every(({ tx: by }) => by !== undefined)).toBe(true);
  });
});

describe('locks', () => {
  const operation = (start: number, end: number) => ({ index: 0, start, end }) as Operation;

  it.each([
    ['sent after the grant, answered before the holder ends', [5, 6], 'exclusive', true],
    ['answered after the holder began to end', [5, 11], 'exclusive', false],
    ['answered in the tick in which it begins to end', [5, 10], 'exclusive', false],
    ['sent before the first was answered', [2, 6], 'exclusive', false],
    ['sent after the end', [12, 13], 'exclusive', false],
    ['a share beside an exclusive lock', [5, 6], 'share', true],
  ] as const)('%s', (_, [start, end], mode, conflict) => {
    const { locks } = new RowChain('t', '1', [0]);
    const holder = tx(1, span(10, 11));
    grantLock(locks, holder, operation(1, 3), 'exclusive');
    expect(grantLock(locks, tx(2, span(50, 51)), operation(start, end), mode)?.owner === holder).toBe(
      conflict,
    );
  });

  it('shares go together', () => {
    const { locks } = new RowChain('t', '1', [0]);
    grantLock(locks, tx(1, span(10, 11)), operation(1, 3), 'share');
    expect(grantLock(locks, tx(2, span(50, 51)), operation(5, 6), 'share')).toBeUndefined();
  });
});

describe('the instant of a snapshot', () => {
  const hint = (of: Tx) => ({ tx: of, operation: of.id, object: 't/1' });

  it('lies after what was seen and before what was missed', () => {
    const bounds = new SnapshotBounds();
    bounds.seen(hint(tx(1, span(10, 12))));
    bounds.missed(hint(tx(2, span(20, 22))));
    expect(bounds.narrow(span(0, 100))).toEqual(span(10, 22));
    expect(bounds.narrow(span(15, 18))).toEqual(span(15, 18));
  });

  it('is nowhere if a later transaction is seen and an earlier one is missed', () => {
    const bounds = new SnapshotBounds();
    expect(bounds.seen(hint(tx(2, span(20, 22))))).toBeUndefined();
    expect(bounds.missed(hint(tx(1, span(10, 12))))).toMatchObject({
      seen: { tx: { id: 2 } },
      missed: { tx: { id: 1 } },
    });
  });

  it('is nowhere if one transaction is both seen and missed', () => {
    const bounds = new SnapshotBounds();
    const both = tx(1, span(10, 12));
    expect(bounds.missed(hint(both))).toBeUndefined();
    expect(bounds.seen(hint(both))).toMatchObject({ seen: { tx: both }, missed: { tx: both } });
  });

  it('contradicts itself exactly if no instant is left', () => {
    const commit = fc.tuple(fc.nat(20), fc.nat(8), fc.boolean());
    fc.assert(
      fc.property(fc.array(commit, { maxLength: 6 }), (commits) => {
        const bounds = new SnapshotBounds();
        let fractured = false;
        let [low, high] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
        commits.forEach(([start, length, isSeen], i) => {
          const by = tx(i, span(start, start + length));
          if (isSeen) low = Math.max(low, start);
          else high = Math.min(high, start + length);
          const found = isSeen ? bounds.seen(hint(by)) : bounds.missed(hint(by));
          fractured ||= found !== undefined;
        });
        expect(fractured).toBe(low > high);
      }),
    );
  });
});

describe('writes that are not answered yet', () => {
  const pending = (index: number, start: number, more: Partial<PendingWrite> = {}): PendingWrite => ({
    operation: { index, start, end: start + 10 } as Operation,
    tx: tx(index, span(start, start + 10)),
    tables: ['t'],
    keys: undefined,
    addsUnknown: false,
    ...more,
  });

  it('may be seen from when they were sent until they are answered', () => {
    const write = pending(1, 5);
    const flight = new InFlight([write]);
    const reader = tx(9, span(90, 91));
    flight.advance(4);
    expect(flight.on('t', reader, span(0, 4))).toEqual([]);
    flight.advance(6);
    expect(flight.on('t', reader, span(0, 6))).toEqual([write]);
    expect(flight.on('u', reader, span(0, 6))).toEqual([]);
    expect(flight.on('t', write.tx, span(0, 6))).toEqual([]);
    flight.settle(write.operation);
    expect(flight.on('t', reader, span(0, 20))).toEqual([]);
  });

  it('that failed may have been seen by who overlaps them, until nobody does', () => {
    const write = pending(1, 5, { tables: undefined });
    const flight = new InFlight([write]);
    const reader = tx(9, span(90, 91));
    flight.advance(5);
    flight.fade(write.operation);
    expect(flight.on('anything', reader, span(10, 30))).toEqual([write]);
    expect(flight.on('anything', reader, span(16, 30))).toEqual([]);
    flight.prune(16);
    expect(flight.on('anything', reader, span(10, 30))).toEqual([]);
  });

  it('touch the rows they name, or any', () => {
    expect(mayTouch([], '1')).toBe(false);
    expect(mayTouch([pending(1, 5)], '1')).toBe(true);
    expect(mayTouch([pending(1, 5, { keys: new Set(['2']) })], '1')).toBe(false);
    expect(mayTouch([pending(1, 5, { keys: new Set(['1']) })], '1')).toBe(true);
  });
});
