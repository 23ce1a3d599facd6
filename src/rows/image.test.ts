import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  bagOf,
  type Image,
  imageKey,
  isHit,
  isVague,
  mergeImages,
  overlay,
  sameCell,
  unknownCell,
} from './image.js';

const open = { undecidable: 'test' };

describe('images', () => {
  it.each<[Image, boolean]>([
    ['absent', false],
    ['unknown', true],
    [[1, null], false],
    [[1, open], true],
  ])('%j is vague: %s', (image, vague) => {
    expect(isVague(image)).toBe(vague);
  });

  it('satisfy a condition only where there is a row, and where that is known', () => {
    const where = (row: readonly unknown[]) => (row[0] === null ? undefined : row[0] === 1);
    expect([isHit('absent', where), isHit('unknown', where)]).toEqual([false, undefined]);
    expect([isHit([1], where), isHit([2], where), isHit([null], where)]).toEqual([true, false, undefined]);
  });

  it('are merged each once; one that is unknown, or too many, make all unknown', () => {
    expect(mergeImages([[1], 'absent', [1], [2]])).toEqual([[1], 'absent', [2]]);
    expect(mergeImages([[1], 'unknown'])).toEqual(['unknown']);
    expect(mergeImages([])).toEqual([]);
    const many = Array.from({ length: 17 }, (_, i): Image => [i]);
    expect(mergeImages(many)).toEqual(['unknown']);
    expect(mergeImages(many.slice(1))).toHaveLength(16);
  });

  it('keep what a write does not say', () => {
    expect(overlay([1, 2, 3], [unknownCell, 9])).toEqual([1, 9, 3]);
    expect(overlay([1], [unknownCell, 9])).toEqual([1, 9]);
    expect(overlay('absent', [7])).toEqual([7]);
  });

  it('have keys that tell them apart', () => {
    const cell = fc.constantFrom<unknown>(1, '1', null, 'absent', '', { decimal: '1' });
    const image = fc.oneof(fc.constantFrom('absent', 'unknown'), fc.array(cell, { maxLength: 3 }));
    fc.assert(
      fc.property(image, image, (a, b) => {
        const same = JSON.stringify(a) === JSON.stringify(b);
        expect(imageKey(a as Image) === imageKey(b as Image)).toBe(same);
      }),
    );
  });
});

describe('a stored cell and what a result shows', () => {
  it.each([
    [1, 1, true],
    [1, 2, false],
    [1, '1', true],
    ['a', 'b', false],
    [null, null, true],
    [null, 0, false],
    ['', null, false],
    [open, 1, undefined],
    [1, open, undefined],
    [true, true, true],
    [true, 1, undefined],
    [{ decimal: '1.50' }, { decimal: '1.50' }, true],
    [{ decimal: '1.50' }, { decimal: '1.5' }, undefined],
    [{ decimal: '1.50' }, 'x', undefined],
  ] as const)('%j and %j are the same: %s', (stored, shown, same) => {
    expect(sameCell(stored, shown)).toBe(same);
  });
});

it('bags are equal for the same rows in any order, as often', () => {
  const rows = fc.array(fc.array(fc.constantFrom(1, 2, null), { minLength: 1, maxLength: 2 }), {
    maxLength: 5,
  });
  fc.assert(
    fc.property(rows, rows, fc.nat(), (a, b, seed) => {
      const turned = a.map((_, i) => a[(i + seed) % a.length]!);
      expect(bagOf(turned)).toBe(bagOf(a));
      const counts = (list: readonly unknown[]) =>
        JSON.stringify(list.map((row) => JSON.stringify(row)).sort());
      expect(bagOf(a) === bagOf(b)).toBe(counts(a) === counts(b));
    }),
  );
});

it('a whole number is the same in results, integer or decimal', () => {
  expect(bagOf([[1, { decimal: '2' }]])).toBe(bagOf([[1, 2]]));
  expect(bagOf([[{ decimal: '-3.00' }]])).toBe(bagOf([[-3]]));
  expect(bagOf([[{ decimal: '9007199254740993' }]])).toBe(bagOf([[{ int: '9007199254740993' }]]));
  expect(bagOf([[{ decimal: '2.5' }]])).not.toBe(bagOf([[2]]));
  expect(bagOf([['2']])).not.toBe(bagOf([[2]]));
});
