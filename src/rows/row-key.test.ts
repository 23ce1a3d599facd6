import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cellKey, joinKey, rowKey } from './row-key.js';

describe('names of rows', () => {
  it.each([
    [1, '1'],
    ['1', '1'],
    [-0.5, '-0.5'],
    ['', ''],
    [null, undefined],
    [undefined, undefined],
    [{ undecidable: 'test' }, undefined],
    [{ decimal: '1.50' }, '1.50'],
    [{ int: '9007199254740993' }, '9007199254740993'],
  ] as const)('%j is %j', (cell, name) => {
    expect(cellKey(cell)).toBe(name);
  });

  it('need every column of the identity, and an identity', () => {
    expect(rowKey([1, 'a', null], [])).toBeUndefined();
    expect(rowKey([1, 'a', null], [1])).toBe('a');
    expect(rowKey([1, 'a', null], [1, 0])).toBe('a,1');
    expect(rowKey([1, 'a', null], [0, 2])).toBeUndefined();
    expect(rowKey([1], [3])).toBeUndefined();
  });

  it('are equal only for equal cells, whatever texts these hold', () => {
    const cell = fc.string({ unit: fc.constantFrom('a', ',', '\\', ' '), maxLength: 4 });
    const cells = fc.array(cell, { minLength: 2, maxLength: 3 });
    fc.assert(
      fc.property(cells, cells, (a, b) => {
        expect(joinKey(a) === joinKey(b)).toBe(JSON.stringify(a) === JSON.stringify(b));
      }),
      { numRuns: 500 },
    );
  });
});
