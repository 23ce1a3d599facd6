import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NumberColumn, TextColumn } from './text-column.js';

describe('a column of numbers', () => {
  it('gives back what was pushed, beyond its first size', () => {
    const column = new NumberColumn((length) => new Int32Array(length));
    for (let i = 0; i < 5000; i++) column.push(i * 3);
    expect(column.count).toBe(5000);
    const taken = column.take();
    expect(taken).toHaveLength(5000);
    expect([taken[0], taken[1023], taken[1024], taken[4999]]).toEqual([0, 3069, 3072, 14_997]);
  });
});

describe('a column of texts', () => {
  it('gives back every text by its number, whatever letters it has', () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(fc.string({ unit: 'binary' }), fc.constant(''), fc.constant('naïve 🙂'))),
        (texts) => {
          const column = new TextColumn();
          for (const text of texts) column.push(text);
          const at = column.take();
          texts.forEach((text, i) => {
            expect(at(i)).toBe(Buffer.from(text).toString());
          });
          expect(at(texts.length)).toBe('');
          expect(column.isWhole).toBe(true);
        },
      ),
    );
  });

  it('goes on in the next chunk', () => {
    const column = new TextColumn();
    const long = 'x'.repeat(1_000_000);
    for (let i = 0; i < 6; i++) column.push(`${i}${long}`);
    const at = column.take();
    for (let i = 0; i < 6; i++) expect(at(i).slice(0, 2)).toBe(`${i}x`);
    expect(at(5)).toHaveLength(1_000_001);
  });

  it('leaves out what is beyond its budget, and says so', () => {
    const column = new TextColumn(10);
    for (const text of ['first one', 'second', 'third']) column.push(text);
    const at = column.take();
    expect([at(0), at(1), at(2)]).toEqual(['first one', 'second', '']);
    expect(column.isWhole).toBe(false);
  });

  it('leaves out a text that fits into no chunk', () => {
    const column = new TextColumn();
    column.push('x'.repeat(2_000_000));
    column.push('short');
    const at = column.take();
    expect([at(0), at(1)]).toEqual(['', 'short']);
    expect(column.isWhole).toBe(false);
  });
});
