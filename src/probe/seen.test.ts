import { describe, expect, it } from 'vitest';
import type { History, Operation } from '../histories/index.js';
import { seenIn, showRows, Unclear } from './seen.js';
import { replayLine, showSettings, showTarget } from './summary.js';

function history(operations: readonly Partial<Operation>[], nodes?: readonly string[]): History {
  const sessions = nodes === undefined ? ['T1', 'T2'] : ['T1', 'T2'].map((name, i) => `${name}@${nodes[i]}`);
  return {
    header: { sessions, ...(nodes !== undefined && { nodes }) },
    operations: operations.map((more, index) => ({
      ...{ index, session: 0, transaction: 0, kind: 'select', start: index, end: index, outcome: 'ok' },
      ...more,
    })),
  };
}

describe('what sessions saw', () => {
  const seen = seenIn(
    history([
      { kind: 'begin' },
      {
        rows: [
          [1, 10],
          [2, 20],
        ],
      },
      { session: 1, rows: [[1, 99]] },
      { kind: 'update', matched: 2, changed: 1 },
      { rows: [] },
      { kind: 'delete', changed: 3 },
    ]),
  );

  it('is counted session by session, SELECTs and writes apart', () => {
    expect([...seen.rows('T1')]).toEqual([
      [1, 10],
      [2, 20],
    ]);
    expect([...seen.rows('T1', 2)]).toEqual([]);
    expect([...seen.rows('T2')]).toEqual([[1, 99]]);
    expect([seen.count('T1'), seen.count('T1', 2)]).toEqual([2, 3]);
  });

  it.each<[string, () => unknown, RegExp]>([
    ['a SELECT that was not sent', () => seen.rows('T1', 3), /SELECT 3 of T1/],
    ['a session that is not there', () => seen.rows('T9'), /SELECT 1 of T9/],
    ['a write without a count', () => seen.count('T2'), /write 1 of T2/],
  ])('is not clear of %s', (_, ask, message) => {
    expect(ask).toThrow(Unclear);
    expect(ask).toThrow(message);
  });

  it.each([[[1, null]], [['1', 10]], [[1, 1.5]], [[1]], [[]]])('is not clear where a row is %j', (row) => {
    expect(() => seenIn(history([{ rows: [row] }])).rows('T1')).toThrow(/where two integers were expected/);
  });

  it('is found by the names of the case where sessions are named after nodes', () => {
    const there = seenIn(history([{ session: 1, rows: [[7, 7]] }], ['n1', 'n2']));
    expect(showRows(there.rows('T2'))).toBe('(7, 7)');
  });

  it('is shown by id', () => {
    expect(
      showRows(
        new Map([
          [10, 1],
          [2, 2],
        ]),
      ),
    ).toBe('(2, 2) (10, 1)');
    expect(showRows(new Map())).toBe('no rows');
  });
});

describe('a target in a report', () => {
  const hostile = { name: 'my\nsql', version: '8\u001b[31m', settings: { a: '1\n2' } };

  it.each([
    ['its name', showTarget(hostile)],
    ['its settings', showSettings(hostile).join()],
    ['the line that shows it again', replayLine({ ...hostile, url: 'mysql:\n//x' }, 'serializable', 'G0')],
  ])('is one line without control characters: %s', (_, text) => {
    expect(text).not.toMatch(/\p{Cc}/u);
  });

  it('is one word of a shell in the line that shows it again', () => {
    const url = "sqlite:it's; rm -rf x";
    expect(replayLine({ name: 'x', version: '1', url }, 'read committed', 'G1a')).toBe(
      String.raw`isolde probe 'sqlite:it'\''s; rm -rf x' --level RC --explain G1a`,
    );
  });

  it('is not named in the line that shows it again where it has no URL', () => {
    expect(replayLine({ name: 'x', version: '1' }, 'read committed', 'G1a')).toBe(
      'isolde probe --level RC --explain G1a',
    );
    expect(showSettings({ name: 'x', version: '1' })).toEqual([]);
  });
});
