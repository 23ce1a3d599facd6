/**
 * Known histories, written down by hand in the formats of other tools, with the verdict each deserves: from a file to
 * an answer, as `isolde check` gives it.
 */

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { type CheckLevel, checkKv } from '../src/check/index.js';
import { readContent, withFolder } from '../src/histories/formats/import.case.js';
import { kv, writeKvHistory } from '../src/histories/index.js';

type Content = Parameters<typeof readContent>[0];

async function verdict(content: Content, level: CheckLevel) {
  const read = await readContent(content);
  if (read.kind !== 'kv') throw new Error(`read as ${read.kind}`);
  const { valid, findings, unknownReasons } = checkKv(read.history, { level, strongest: false });
  return { valid, kinds: [...new Set(findings.map(({ kind }) => kind))], unknownReasons };
}

const plume = (text: string): string => `${text.trim().split(/\s+/).join('\n')}\n`;

/** A transaction writes 0 to both keys first: 0 is its write, not a mark that nothing was there. */
const skewOverZeros = plume('w(2,0,0,0) w(10,0,0,0) w(2,1,1,1) r(10,0,1,1) w(10,3,2,2) r(2,0,2,2)');

describe('a value that also marks the initial state', () => {
  it('does not hide write skew where a transaction writes it', async () => {
    expect(await verdict(skewOverZeros, 'serializable')).toMatchObject({
      valid: false,
      kinds: ['write-skew'],
    });
    expect(await verdict(skewOverZeros, 'snapshot')).toMatchObject({ valid: true });
    const awdit = 'w 2 0\nw 10 0\n=====\nw 2 1\nr 10 0\n=====\nw 10 3\nr 2 0\n';
    expect(await verdict(awdit, 'serializable')).toMatchObject({ valid: false, kinds: ['write-skew'] });
    const event = (kind: 'Read' | 'Write', variable: number, version: number) => ({
      [kind]: { variable, version },
    });
    const dbcop = [
      [[event('Write', 2, 0), event('Write', 10, 0)]],
      [[event('Write', 2, 1), event('Read', 10, 0)]],
      [[event('Write', 10, 3), event('Read', 2, 0)]],
    ].map((session) => session.map((events) => ({ events, committed: true })));
    expect(await verdict(JSON.stringify(dbcop), 'serializable')).toMatchObject({
      valid: false,
      kinds: ['write-skew'],
    });
  });

  it('is the initial state where nobody writes it', async () => {
    expect(await verdict(plume('w(1,5,0,0) r(1,0,1,1) r(2,0,1,1)'), 'serializable')).toMatchObject({
      valid: true,
    });
  });

  it('leaves the verdict open where nobody knows whether it was written', async () => {
    const logs = {
      'J0.log': '{"value":[["w","x",0,false]]}\n',
      'J1.log': '{"value":[["r","x",0,true]]}\n',
    };
    const { valid, unknownReasons } = await verdict(logs, 'serializable');
    expect(valid).toBe('unknown');
    expect(unknownReasons[0]).toContain('1 read of 0 left out');
  });
});

describe('what was not understood is never called true', () => {
  it.each([
    ['an empty list of events', '[]'],
    ['a session without transactions', '[[]]'],
    ['an empty list of EDN', '[{:type :info, :process :nemesis, :f :start}]'],
    ['our own file without operations', '{"format":"isolde-history","version":1,"sessions":["a"]}\n'],
  ])('%s', async (_, content) => {
    const { valid, unknownReasons } = await verdict(content, 'serializable');
    expect(valid).toBe('unknown');
    expect(unknownReasons).toEqual(['the history holds no transactions, so there is nothing to judge']);
  });

  it('transactions beside operations that were skipped', async () => {
    const events =
      '{:type :ok, :process 0, :f :txn, :value [[:w 1 1]]}\n{:type :ok, :process 1, :f :dequeue, :value 7}\n';
    const { valid, unknownReasons } = await verdict(events, 'serializable');
    expect(valid).toBe('unknown');
    expect(unknownReasons[0]).toContain('were skipped: 1 dequeue');
  });

  it('a history of ours that ends in the middle of a line or of its gzip data', async () => {
    await withFolder(async (folder) => {
      const path = join(folder, 'whole.history.jsonl');
      await writeKvHistory(path, kv('A: wx1 | B: rx1 wy2 | C: ry2'), 'isolde');
      const bytes = await readFile(path);
      expect((await verdict(bytes, 'serializable')).valid).toBe(true);
      const zipped = gzipSync(bytes);
      for (const cut of [bytes.subarray(0, -9), zipped.subarray(0, zipped.length - 9)]) {
        const { valid, unknownReasons } = await verdict(cut, 'serializable');
        expect(valid).toBe('unknown');
        expect(unknownReasons[0]).toContain('ends in the middle of an entry');
      }
    });
  });

  it('committed reads without a recorded result', () => {
    const { valid, unknownReasons } = checkKv(kv('A: wx1 | B: rx?'));
    expect(valid).toBe('unknown');
    expect(unknownReasons).toEqual(['1 read of committed transactions without a recorded result']);
    expect(checkKv(kv('A: wx1 | B?: rx?')).valid).toBe(true);
  });
});
