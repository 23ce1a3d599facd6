/** What each check says of answers, of answers that are missing, and of the shadow state in their place. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isUndecidable, type Row, undecidable } from '../sql/index.js';
import type { Check } from './interaction.js';
import { expectedOf, type Judged, judgeCheck, keyOfRow, type ResultSeen, sameBag } from './judge-check.js';

const failed = (kind: 'duplicate-key' | 'busy'): ResultSeen => ({ error: { class: kind, message: kind } });

/** #1 and #2 are one bag in two orders, #3 has a row once more, #4 and #5 failed, #6 wrote, #7 told nothing. */
const answers: Readonly<Record<number, ResultSeen>> = {
  1: {
    rows: [
      [1, 'a'],
      [2, null],
      [2, null],
    ],
  },
  2: {
    rows: [
      [2, null],
      [1, 'a'],
      [2, null],
    ],
  },
  3: {
    rows: [
      [1, 'a'],
      [1, 'a'],
      [2, null],
    ],
  },
  4: failed('duplicate-key'),
  5: failed('busy'),
  6: { matched: 3, changed: 2 },
  7: {},
  8: { rows: [[true], [1], [0], [null], [false], [-2], ['yes']] },
  9: { changed: 2 },
};
const judged: Judged = {
  seen: (id) => answers[id],
  predicted: (id) => (id === 1 ? [[1, 'a']] : undecidable(`#${id} is not known`)),
};

/** True, false, or the reason why it is open. */
function told(verdict: ReturnType<typeof judgeCheck>): boolean | string {
  return isUndecidable(verdict) ? verdict.undecidable : (verdict as boolean);
}

describe('a check', () => {
  it.each<[string, Check, boolean]>([
    ['same: whatever the order', { type: 'same', left: 1, right: 2 }, true],
    ['same: as often', { type: 'same', left: 1, right: 3 }, false],
    ['contains', { type: 'contains', result: 1, row: [2, null] }, true],
    ['contains: NULL is no 0', { type: 'contains', result: 1, row: [2, 0] }, false],
    ['contains: a number is no text', { type: 'contains', result: 1, row: ['1', 'a'] }, false],
    ['lacks', { type: 'lacks', result: 1, row: [3, null] }, true],
    ['lacks: it is there', { type: 'lacks', result: 1, row: [1, 'a'] }, false],
    [
      'differs: in a count',
      {
        type: 'differs',
        result: 1,
        rows: [
          [1, 'a'],
          [2, null],
        ],
      },
      true,
    ],
    ['differs: only in the order', { type: 'differs', result: 1, rows: answers[2]!.rows! }, false],
    ['equal: rows', { type: 'equal', left: { rows: 1 }, right: 3 }, true],
    ['equal: sums', { type: 'equal', left: { sum: [{ rows: 1 }, { rows: 3 }, 1] }, right: 7 }, true],
    ['equal: truths, of engines without booleans too', { type: 'equal', left: { trues: 8 }, right: 3 }, true],
    ['fails', { type: 'fails', result: 4 }, true],
    ['fails: with a class', { type: 'fails', result: 4, classes: ['busy', 'duplicate-key'] }, true],
    ['fails: with another class', { type: 'fails', result: 5, classes: ['duplicate-key'] }, false],
    ['fails: it worked', { type: 'fails', result: 1 }, false],
    ['works', { type: 'works', result: 6 }, true],
    ['works: it failed', { type: 'works', result: 5 }, false],
    ['one fails', { type: 'one-fails', results: [1, 4] }, true],
    ['one fails: none does', { type: 'one-fails', results: [1, 6] }, false],
    ['another count: matched before changed', { type: 'other-count', result: 6, count: 3 }, false],
    [
      'another count: changed where nothing else is told',
      { type: 'other-count', result: 9, count: 2 },
      false,
    ],
    ['another count', { type: 'other-count', result: 6, count: 2 }, true],
    ['predicted: it is not', { type: 'predicted', result: 1 }, false],
    ['own', { type: 'that', results: [1, 3], holds: (a, b) => a!.length === b!.length }, true],
    ['own: it does not hold', { type: 'that', results: [1], holds: (a) => a!.length === 0 }, false],
  ])('%s', (_, check, expected) => {
    expect(judgeCheck(check, judged)).toBe(expected);
  });

  it.each<[string, Check]>([
    ['statement #99 was not sent', { type: 'same', left: 1, right: 99 }],
    ['statement #99 was not sent', { type: 'fails', result: 99 }],
    ['statement #4 failed', { type: 'contains', result: 4, row: [1] }],
    ['statement #4 failed', { type: 'other-count', result: 4, count: 1 }],
    ['statement #6 returned no rows', { type: 'equal', left: { rows: 6 }, right: 0 }],
    ['the engine does not tell how many rows #7 wrote', { type: 'other-count', result: 7, count: 1 }],
    ['#2 is not known', { type: 'predicted', result: 2 }],
    ['the property’s own check needs the property’s file', { type: 'that', results: [1] }],
    [
      'the property’s own check threw: no such row',
      {
        type: 'that',
        results: [1],
        holds: () => {
          throw new Error('no such row');
        },
      },
    ],
  ])('is open, for %s', (why, check) => {
    expect(told(judgeCheck(check, judged))).toBe(why);
  });

  it('does not hide an error of ours', () => {
    const broken: Judged = {
      ...judged,
      seen: () => {
        throw new TypeError('ours');
      },
    };
    expect(() => judgeCheck({ type: 'works', result: 1 }, broken)).toThrow(TypeError);
  });
});

describe('what has to hold', () => {
  it.each<[string, Check, boolean | string]>([
    ['by the rows predicted, not by those seen', { type: 'contains', result: 1, row: [2, null] }, false],
    ['for a count', { type: 'equal', left: { rows: 1 }, right: 1 }, true],
    ['for the prediction itself', { type: 'predicted', result: 2 }, true],
    ['open where a table is not known', { type: 'same', left: 1, right: 2 }, '#2 is not known'],
    ['open for errors', { type: 'fails', result: 4 }, 'the shadow state predicts no errors'],
    ['open for success', { type: 'works', result: 6 }, 'the shadow state predicts no errors'],
    ['open for conflicts', { type: 'one-fails', results: [4] }, 'the shadow state predicts no errors'],
    [
      'open for counts of writes',
      { type: 'other-count', result: 6, count: 1 },
      'the shadow state predicts no counts of writes',
    ],
    ['for an own check', { type: 'that', results: [1], holds: (rows) => rows!.length === 1 }, true],
  ])('is %s', (_, check, expected) => {
    expect(told(expectedOf(check, judged))).toBe(expected);
  });
});

describe('bags of rows', () => {
  const value = fc.constantFrom(null, true, false, 0, 1, '', '0', '1', 'a\u0000b');
  const rows = fc.array(fc.array(value, { minLength: 1, maxLength: 2 }), { maxLength: 5 });
  /** The slow way: take each row out of a copy of the other side. */
  const twin = (left: readonly Row[], right: readonly Row[]): boolean => {
    const rest = right.map((row) => JSON.stringify(row));
    for (const row of left) {
      const at = rest.indexOf(JSON.stringify(row));
      if (at < 0) return false;
      rest.splice(at, 1);
    }
    return rest.length === 0;
  };

  it('are the same if each row of the one can be struck out of the other (seed 10)', () => {
    fc.assert(
      fc.property(rows, rows, (left, right) => {
        expect(sameBag(left, right)).toBe(twin(left, right));
        expect(sameBag(left, [...left].reverse())).toBe(true);
      }),
      { seed: 10, numRuns: 300 },
    );
  });

  it('know rows apart by their values and where one ends', () => {
    const different: Row[] = [['a', 'b'], ['ab'], ['a', 'b', ''], [null], ['null'], [1], ['1'], [true]];
    expect(new Set(different.map(keyOfRow)).size).toBe(different.length);
  });
});
