import { describe, expect, it } from 'vitest';
import { kv } from '../../histories/index.js';
import { ambiguous, nobody, WriteIndex } from './write-index.js';

function indexOf(text: string): { readonly index: WriteIndex; readonly key: (name: string) => number } {
  const history = kv(text);
  const opTx = new Int32Array(history.opCount);
  for (let tx = 0; tx < history.txCount; tx++)
    opTx.fill(tx, history.opOffsets[tx]!, history.opOffsets[tx + 1]!);
  return { index: new WriteIndex(history, opTx), key: (name) => history.keyNames.indexOf(name) };
}

describe('who wrote a value', () => {
  it('where every value was written once in the history', () => {
    const { index, key } = indexOf('T1: wx1 wy2 | T2: rx1 wx3');
    expect(index.writer(key('x'), 1)).toBe(0);
    expect(index.writer(key('y'), 2)).toBe(1);
    expect(index.writer(key('x'), 3)).toBe(3);
    // Another key's value, one that nobody wrote, one beyond the table.
    expect(index.writer(key('y'), 1)).toBe(nobody);
    expect(index.writer(key('x'), 0)).toBe(nobody);
    expect(index.writer(key('x'), 1_000_000)).toBe(nobody);
    expect(index.isRepeated(key('x'), 1)).toBe(false);
  });

  it('where keys share values, or values are large', () => {
    const { index, key } = indexOf('T1: wx1 wy1 | T2: wx5000000');
    expect(index.writer(key('x'), 1)).toBe(0);
    expect(index.writer(key('y'), 1)).toBe(1);
    expect(index.writer(key('x'), 5_000_000)).toBe(2);
    expect(index.writer(key('y'), 5_000_000)).toBe(nobody);
  });

  it('where a value was written to a key twice', () => {
    const { index, key } = indexOf('T1: wx1 | T2: wx1 | T3!: wx2 | T4: wx2');
    expect(index.writer(key('x'), 1)).toBe(ambiguous);
    expect(index.isRepeated(key('x'), 1)).toBe(true);
    // Only one of them can be meant.
    expect(index.writer(key('x'), 2)).toBe(3);
  });
});
