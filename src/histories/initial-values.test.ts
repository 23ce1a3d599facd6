/** Which write, or none, a read of 0 saw, in formats where 0 also means that nothing was there yet. */
import { describe, expect, it } from 'vitest';
import { settleZeros } from './initial-values.js';
import { printKvOp } from './kv-history.js';
import { kv } from './kv-shorthand.js';

/** The reads of a history after zeros were settled; `either` where a read may be of the initial state or of a write. */
function reads(text: string, rule: 'either' | 'explicit' = 'either') {
  const history = settleZeros(kv(text), rule);
  const shown: string[] = [];
  for (let tx = 0; tx < history.txCount; tx++)
    for (let op = history.opOffsets[tx]!; op < history.opOffsets[tx + 1]!; op++) {
      const text = printKvOp(history, op);
      if (text.startsWith('r')) shown.push(text);
    }
  return { shown, either: history.initialValue !== undefined };
}

// Somebody writes to a second key, or the zeros would be the history's own initial state.
describe('a read of 0', () => {
  it.each<[story: string, text: string, read: string[], either: boolean]>([
    ['nobody wrote 0', 'T1: rx0', ['r(x, initial)'], false],
    ['another wrote 0', 'T1: wx0 | T2: rx0 | T3: wy5', ['r(x, 0)'], true],
    ['the transaction itself wrote 0', 'T1: wx0 rx0', ['r(x, 0)'], false],
    ['the transaction itself writes 0 afterwards', 'T1: rx0 wx0', ['r(x, initial)'], false],
    ['only an aborted transaction wrote 0', 'T1!: wx0 | T2: rx0', ['r(x, initial)'], false],
    ['a transaction of unknown outcome wrote 0', 'T1?: wx0 | T2: rx0', ['r(x, 0)'], true],
    ['somebody wrote 0 to another key', 'T1: wy0 | T2: rx0', ['r(x, initial)'], false],
    ['somebody wrote 0 later', 'T1: rx0 | T2: wx0 | T3: wy5', ['r(x, 0)'], true],
    ['the transaction and another wrote 0', 'T1: wx0 | T2: rx0 wx0 | T3: wy5', ['r(x, 0)'], true],
    ['it has another value', 'T1: wx1 | T2: rx1', ['r(x, 1)'], false],
  ])('where %s', (_, text, read, either) => {
    const found = reads(text);
    expect(found.shown).toEqual(read);
    expect(found.either).toBe(either);
  });

  it('is of the write where the format says so', () => {
    expect(reads('T1: wx0 | T2: rx0 | T3: wy5', 'explicit').either).toBe(false);
  });

  it('is of the write where a session began by writing 0 to every key', () => {
    expect(reads('T1@s: wx0 wy0 | T2: rx0 ry0 | T3: wx0').either).toBe(false);
    expect(reads('T1@s: wx0 | T2@s: wy0 | T3: rx0 wy5').either).toBe(false);
  });

  it('stays open where the zeros that were written are not the beginning', () => {
    expect(reads('T1@s: wx5 | T2@s: wx0 wy0 | T3: rx0').either).toBe(true);
    expect(reads('T1@s: wx0 | T2: rx0 ry1 | T3: wy1').either).toBe(true);
  });
});
