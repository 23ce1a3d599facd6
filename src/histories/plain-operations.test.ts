import { describe, expect, it } from 'vitest';
import { OperationEvents } from './formats/operation-events.js';
import { PlainMap, type PlainOperation, type PlainValue, plainKey } from './plain-operations.js';

const map = (...entries: [PlainValue, PlainValue][]) => new PlainMap(entries);

describe('values as texts', () => {
  it.each<[string, PlainValue, PlainValue]>([
    ['maps in another order', map([':a', 1], [':b', 2]), map([':b', 2], [':a', 1])],
    ['maps in lists', [map([1, 2])], [map([1, 2])]],
    ['lists', [1, ['x', null]], [1, ['x', null]]],
  ])('equal ones are equal: %s', (_, a, b) => {
    expect(plainKey(a)).toBe(plainKey(b));
  });

  it.each<[string, PlainValue, PlainValue]>([
    ['a number and its digits', 1, '1'],
    ['a keyword and a text', ':a', 'a'],
    ['nothing and a word', null, 'nil'],
    ['nothing and the empty text', null, ''],
    ['nothing and the empty list', null, []],
    ['true and a word', true, 'true'],
    ['lists nested in another way', [[1], 2], [1, [2]]],
    ['a text with a blank and two texts', ['a b'], ['a', 'b']],
    ['a keyword with a blank and two keywords', [':a :b'], [':a', ':b']],
    ['two lists and a keyword that looks like both', [[':a'], [':b']], [[':a] [:b']]],
    ['a map and a list', map([1, 2]), [1, 2]],
    ['maps with keys and values exchanged', map([1, 2]), map([2, 1])],
  ])('different ones are not: %s', (_, a, b) => {
    expect(plainKey(a)).not.toBe(plainKey(b));
  });

  it('maps give what stands under a text or a keyword', () => {
    const value = map([':from', 1], ['to', 2]);
    expect(['from', 'to', 'amount'].map((name) => value.get(name))).toEqual([1, 2, undefined]);
  });
});

const none = Number.NaN;
type Line = readonly [type: 'invoke' | 'ok' | 'fail' | 'info', process: number, f: string, value: PlainValue];

function paired(lines: readonly Line[]): Partial<PlainOperation>[] {
  const events = new OperationEvents();
  lines.forEach(([type, process, f, value], position) => {
    events.take({ type, process, time: none, index: none }, position, f, value);
  });
  events.finish();
  return events.operations.map(({ f, status, start, end, value }) => ({ f, status, start, end, value }));
}

const forever = Number.POSITIVE_INFINITY;

describe('operations that are no transactions', () => {
  it('belong to the next completion of their process', () => {
    const found = paired([
      ['invoke', 1, 'add', 7],
      ['invoke', 2, 'read', null],
      ['ok', 2, 'read', [7]],
      ['ok', 1, 'add', 7],
    ]);
    expect(found).toEqual([
      { f: 'read', status: 'ok', start: 1, end: 2, value: [7] },
      { f: 'add', status: 'ok', start: 0, end: 3, value: 7 },
    ]);
  });

  it('may take effect at any later time if nobody knows their outcome', () => {
    expect(
      paired([
        ['invoke', 1, 'add', 7],
        ['info', 1, 'add', null],
      ]),
    ).toEqual([{ f: 'add', status: 'info', start: 0, end: forever, value: 7 }]);
    expect(paired([['invoke', 1, 'add', 7]])).toEqual([
      { f: 'add', status: 'info', start: 0, end: forever, value: 7 },
    ]);
  });

  it('are lost if their process goes on to another', () => {
    const found = paired([
      ['invoke', 1, 'add', 7],
      ['invoke', 1, 'add', 8],
      ['fail', 1, 'add', 8],
    ]);
    expect(found).toEqual([
      { f: 'add', status: 'info', start: 0, end: forever, value: 7 },
      { f: 'add', status: 'fail', start: 1, end: 2, value: 8 },
    ]);
  });

  it.each<[string, Line[], number]>([
    [
      'by their value',
      [
        ['invoke', none, 'add', 7],
        ['invoke', none, 'add', 8],
        ['ok', none, 'add', 8],
      ],
      1,
    ],
    [
      'by an open value',
      [
        ['invoke', none, 'read', null],
        ['invoke', none, 'add', 8],
        ['ok', none, 'read', [8]],
      ],
      0,
    ],
    [
      'the earliest first',
      [
        ['invoke', none, 'add', 7],
        ['invoke', none, 'add', 7],
        ['ok', none, 'add', 7],
      ],
      0,
    ],
    [
      'by their function',
      [
        ['invoke', none, 'add', 7],
        ['invoke', none, 'remove', 7],
        ['ok', none, 'remove', 7],
      ],
      1,
    ],
    [
      'or not at all',
      [
        ['invoke', none, 'add', 7],
        ['invoke', none, 'add', 8],
        ['ok', none, 'add', 9],
      ],
      2,
    ],
  ])('without a process are paired %s', (_, lines, start) => {
    expect(paired(lines)[0]).toMatchObject({ start, end: 2 });
  });

  it('a completion without an invocation starts where it ends', () => {
    expect(paired([['ok', 1, 'read', [1]]])).toEqual([
      { f: 'read', status: 'ok', start: 0, end: 0, value: [1] },
    ]);
  });

  it('are dropped where a transaction turns out to complete them', () => {
    const events = new OperationEvents();
    events.take({ type: 'invoke', process: 3, time: none, index: 5 }, 0, 'txn', null);
    events.forget(3);
    events.finish();
    expect(events.operations).toEqual([]);
  });

  it('are labelled by the index of their completion, else of their invocation, else by their place', () => {
    const events = new OperationEvents();
    events.take({ type: 'invoke', process: 1, time: none, index: 50 }, 0, 'add', 1);
    events.take({ type: 'ok', process: 1, time: none, index: 60 }, 1, 'add', 1);
    events.take({ type: 'invoke', process: 1, time: none, index: 70 }, 2, 'add', 2);
    events.take({ type: 'ok', process: 1, time: none, index: none }, 3, 'add', 2);
    events.take({ type: 'ok', process: 1, time: none, index: none }, 4, 'add', 3);
    expect(events.operations.map(({ label }) => label)).toEqual([60, 70, 4]);
  });
});
