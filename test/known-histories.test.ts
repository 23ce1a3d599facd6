/**
 * Known histories, written down by hand in the formats of other tools, with the verdict each deserves: from a file to
 * an answer, as `isolde check` gives it.
 */

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { constants, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { type CheckLevel, checkKv } from '../src/check/index.js';
import { readContent, withFolder } from '../src/histories/formats/import.case.js';
import { formatOfName, kv, writeKvHistory } from '../src/histories/index.js';

type Content = Parameters<typeof readContent>[0];

async function verdict(content: Content, level: CheckLevel) {
  const read = await readContent(content);
  if (read.kind !== 'kv') throw new Error(`read as ${read.kind}`);
  const { valid, findings, unknownReasons } = checkKv(read.history, { level, strongest: false });
  return { valid, kinds: [...new Set(findings.map(({ kind }) => kind))], unknownReasons };
}

const plume = (text: string): string => `${text.trim().split(/\s+/).join('\n')}\n`;

/** A transaction writes 0 to every key first, so 0 is its write and not a mark that nothing was there. */
const skewOverZeros = plume('w(2,0,0,0) w(10,0,0,0) w(2,1,1,1) r(10,0,1,1) w(10,3,2,2) r(2,0,2,2)');

describe('a value that also marks the initial state', () => {
  it('does not hide write skew where a transaction writes it', async () => {
    expect(await verdict(skewOverZeros, 'serializable')).toMatchObject({
      valid: false,
      kinds: ['write-skew'],
    });
    expect(await verdict(skewOverZeros, 'snapshot')).toMatchObject({ valid: true });
    // The same with a key that nobody wrote 0 to.
    for (const more of ['r(5,0,3,3)', 'w(5,7,3,3)', 'r(5,0,1,3) w(5,7,1,3)']) {
      const longer = `${skewOverZeros}${plume(more)}`;
      expect(await verdict(longer, 'serializable')).toMatchObject({ valid: false, kinds: ['write-skew'] });
      expect(await verdict(longer, 'snapshot')).toMatchObject({ valid: true });
    }
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

  it('accuses nobody of what the initial state explains, though the value is written later', async () => {
    // The first reads what was there from the start; the second sees its 5 and writes 0 again.
    const text = plume('r(1,0,0,0) w(1,5,0,0) r(1,5,1,1) w(1,0,1,1)');
    for (const level of ['read atomic', 'causal', 'snapshot', 'serializable'] as const)
      expect(await verdict(text, level)).toMatchObject({ valid: true });
    // In AWDIT's tests a transaction that writes 0 is the initial one, so this reads from the future.
    const awdit = 'r 1 0\nw 1 5\n=====\nr 1 5\nw 1 0\n';
    expect(await verdict(awdit, 'causal')).toMatchObject({ valid: false });
  });

  it('may be a write that nobody knows to have committed, or not', async () => {
    const logs = (reader: string) => ({
      'J0.log': '{"value":[["w","x",0,false],["w","y",7,true]]}\n',
      'J1.log': `{"value":[${reader}]}\n`,
    });
    expect(await verdict(logs('["r","x",0,true]'), 'serializable')).toMatchObject({ valid: true });
    // Who saw its y and then reads x sees its x as well: 0 either way.
    expect(await verdict(logs('["r","y",7,true],["r","x",0,true]'), 'serializable')).toMatchObject({
      valid: true,
    });
    // A read of nothing is of the initial state alone.
    expect(await verdict(logs('["r","y",7,true],["r","x",null,true]'), 'serializable')).toMatchObject({
      valid: false,
    });
  });
});

describe('nothing, where somebody wrote nothing', () => {
  const event = (time: number, process: number, ops: string): string =>
    [
      `{:time ${time}, :type :invoke, :process ${process}, :f :txn, :value [${ops}]}`,
      `{:time ${time + 5}, :type :ok, :process ${process}, :f :txn, :value [${ops}]}`,
    ].join('\n');
  const edn = (...parts: readonly string[]): string =>
    `${parts.map((ops, i) => event(i * 10, i, ops)).join('\n')}\n`;
  const deleted = edn('[:w 3 5]', '[:r 3 5] [:w 3 nil]', '[:r 3 nil]');

  it('may be that write', async () => {
    expect(await verdict(deleted, 'strict serializable')).toMatchObject({ valid: true });
    const lost = edn('[:w 3 5]', '[:w 3 6] [:w 4 nil]', '[:r 3 nil] [:r 4 nil]');
    expect(await verdict(lost, 'strict serializable')).toMatchObject({ valid: false });
    const own = '{"format":"isolde-history","version":1,"sessions":["a","b"]}\n'.concat(
      '{"index":0,"session":0,"transaction":0,"kind":"write","start":1,"end":2,"outcome":"ok","ends":"commit","accesses":[{"mode":"write","object":"x","value":5}]}\n',
      '{"index":1,"session":0,"transaction":1,"kind":"write","start":3,"end":4,"outcome":"ok","ends":"commit","accesses":[{"mode":"delete","object":"x"}]}\n',
      '{"index":2,"session":1,"transaction":2,"kind":"read","start":5,"end":6,"outcome":"ok","ends":"commit","accesses":[{"mode":"read","object":"x","value":null}]}\n',
    );
    expect(await verdict(own, 'strict serializable')).toMatchObject({ valid: true });
  });

  it('stays what it was in the files of Jepsen, Elle and ours', async () => {
    const read = await readContent(deleted);
    if (read.kind !== 'kv') throw new Error(read.kind);
    await withFolder(async (folder) => {
      for (const [name, format] of [
        ['a.edn', 'jepsen'],
        ['a.jsonl', 'elle-json'],
        ['a.history.jsonl', 'isolde'],
      ] as const) {
        await writeKvHistory(join(folder, name), read.history, format);
        const again = await verdict(await readFile(join(folder, name)), 'strict serializable');
        expect(again).toMatchObject({ valid: true });
      }
    });
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
      const afterLine = gzipSync(bytes, { finishFlush: constants.Z_SYNC_FLUSH });
      const beforeBreak = gzipSync(bytes.subarray(0, -1), { finishFlush: constants.Z_SYNC_FLUSH });
      for (const cut of [
        bytes.subarray(0, -9),
        zipped.subarray(0, zipped.length - 9),
        afterLine,
        beforeBreak,
      ]) {
        const { valid, unknownReasons } = await verdict(cut, 'serializable');
        expect(valid).toBe('unknown');
        expect(unknownReasons[0]).toContain('ends in the middle of an entry');
      }
    });
  });

  it('a test of AWDIT whose last line may be cut inside its number', async () => {
    const text = 'w 1 345\n=====\nr 1 345\n-----\nw 2 12';
    expect((await verdict(`${text}\n`, 'serializable')).valid).toBe(true);
    const { valid, unknownReasons } = await verdict(text, 'serializable');
    expect(valid).toBe('unknown');
    expect(unknownReasons[0]).toContain('the last line has no line break');
  });

  it('a read of what a transaction wrote that may be in the missing part', async () => {
    const text = 'r 1 345\n=====\nw 1 34';
    expect((await verdict(`${text}5\n`, 'serializable')).valid).toBe(true);
    expect((await verdict(text, 'serializable')).valid).toBe('unknown');
    // Whole, it is a read of what nobody wrote.
    expect((await verdict(`${text}\n`, 'serializable')).valid).toBe(false);
  });

  it.each(['cut.history.jsonl', 'cut.edn', 'cut.json', 'cut.jsonl.gz'])(
    'what was left out of a history that is written again as %s',
    async (name) => {
      const format = formatOfName(name)!;
      const missing = { ...kv('A: wx1 | B: rx1'), omitted: ['the end is missing'] };
      const unseen = kv('A: wx1 | B: rx?');
      await withFolder(async (folder) => {
        const path = join(folder, name);
        for (const history of [missing, unseen]) {
          await writeKvHistory(path, history, format);
          expect((await verdict(await readFile(path), 'serializable')).valid).toBe('unknown');
        }
        await writeKvHistory(path, kv('A: wx1 | B: rx1'), format);
        expect((await verdict(await readFile(path), 'serializable')).valid).toBe(true);
      });
    },
  );

  it('committed reads without a recorded result', () => {
    const { valid, unknownReasons } = checkKv(kv('A: wx1 | B: rx?'));
    expect(valid).toBe('unknown');
    expect(unknownReasons).toEqual(['1 read of committed transactions without a recorded result']);
    expect(checkKv(kv('A: wx1 | B?: rx?')).valid).toBe(true);
  });
});

/** Known anomalies with the verdict at each level, session order counting in all of them. */
const known: readonly (readonly [name: string, story: string, holds: string])[] = [
  ['serial', 'A@a: wx1 wy1 | B@b: rx1 wx2 | C@c: rx2 ry1 | D@a: rx2 wy2', 'RC RA CC SI SER'],
  ['write skew', 'A@a: wx1 wy1 | B@b: rx1 ry1 wy2 | C@c: rx1 ry1 wx2', 'RC RA CC SI'],
  ['lost update', 'A@a: wx1 | B@b: rx1 wx2 | C@c: rx1 wx3', 'RC RA CC'],
  ['long fork', 'A@a: wx1 wy1 | B@b: rx1 wx2 | C@c: ry1 wy2 | D@d: rx2 ry1 | E@e: rx1 ry2', 'RC RA CC'],
  ['causality violation', 'A@a: wx1 | B@b: rx1 wx2 | C@c: rx2 wy1 | D@d: ry1 rx1', 'RC RA'],
  ['session that goes back', 'A@a: wx1 | B@b: rx1 wx2 | C@c: rx2 | D@c: rx1', 'RC RA'],
  ['fractured read', 'A@a: wx1 wy1 | B@b: rx1 wx2 wy2 | C@c: rx1 ry2', 'RC'],
  ['read that goes back', 'A@a: wx1 wy1 | B@b: rx1 wx2 wy2 | C@c: ry2 rx1', ''],
  ['circular flow', 'A@a: rx1 wy1 | B@b: ry1 wx1', ''],
];
const levels = {
  RC: 'read committed',
  RA: 'read atomic',
  CC: 'causal',
  SI: 'snapshot',
  SER: 'serializable',
} as const;

/** The sessions of a story: transactions of operations `[f, key, value]`. */
function sessionsOf(story: string): [string, string, number][][][] {
  const sessions = new Map<string, [string, string, number][][]>();
  for (const part of story.split('|')) {
    const [, session, ops] = /^\s*\w+@(\w+): (.*?)\s*$/.exec(part)!;
    const list = ops!.split(' ').map((op): [string, string, number] => [op[0]!, op[1]!, Number(op.slice(2))]);
    sessions.set(session!, [...(sessions.get(session!) ?? []), list]);
  }
  return [...sessions.values()];
}

const keyNumber = (key: string): number => key.charCodeAt(0);
const u64 = (isBig: boolean, ...numbers: number[]): Buffer => {
  const bytes = Buffer.alloc(numbers.length * 8);
  numbers.forEach((number, i) => {
    if (isBig) bytes.writeBigUInt64BE(BigInt(number), i * 8);
    else bytes.writeBigUInt64LE(BigInt(number), i * 8);
  });
  return bytes;
};

/** A story in the files of each tool. */
const writers: Readonly<Record<string, (story: string) => Content>> = {
  plume: (story) => {
    let txn = 0;
    const lines = sessionsOf(story).flatMap((txs, session) =>
      txs.flatMap((ops) => {
        const id = txn++;
        return ops.map(([f, key, value]) => `${f}(${keyNumber(key)},${value},${session},${id})\n`);
      }),
    );
    return lines.join('');
  },
  awdit: (story) =>
    sessionsOf(story)
      .map((txs) => txs.map((ops) => ops.map((op) => `${op.join(' ')}\n`).join('')).join('-----\n'))
      .join('=====\n'),
  'dbcop-json': (story) =>
    JSON.stringify({
      params: {},
      data: sessionsOf(story).map((txs) =>
        txs.map((ops) => ({
          events: ops.map(([f, key, version]) => ({
            [f === 'w' ? 'Write' : 'Read']: { variable: keyNumber(key), version },
          })),
          committed: true,
        })),
      ),
    }),
  dbcop: (story) => {
    const sessions = sessionsOf(story);
    const event = ([f, key, value]: [string, string, number]): Buffer =>
      Buffer.concat([Buffer.from([f === 'w' ? 1 : 0]), u64(false, keyNumber(key), value), Buffer.from([1])]);
    return Buffer.concat([
      u64(false, 1, sessions.length, 2, 2, 2, 0, 0, 0, sessions.length),
      ...sessions.flatMap((txs) => [
        u64(false, txs.length),
        ...txs.flatMap((ops) => [u64(false, ops.length), ...ops.map(event), Buffer.from([1])]),
      ]),
    ]);
  },
  viper: (story) =>
    Object.fromEntries(
      sessionsOf(story).map((txs, session) => [
        `J${session}.log`,
        txs.map((ops) => `${JSON.stringify({ value: ops.map((op) => [...op, true]) })}\n`).join(''),
      ]),
    ),
  cobra: (story) => {
    const record = (letter: string, ...numbers: number[]): Buffer =>
      Buffer.concat([Buffer.from(letter), u64(true, ...numbers)]);
    // Write ids are unique over all keys.
    const id = (key: string, value: number): number => keyNumber(key) * 1000 + value;
    return Object.fromEntries(
      sessionsOf(story).map((txs, session) => [
        `T${session}.log`,
        Buffer.concat(
          txs.flatMap((ops, i) => [
            record('S', session * 100 + i),
            ...ops.map(([f, key, value]) =>
              f === 'w'
                ? record('W', id(key, value), keyNumber(key), 0)
                : record('R', 1, id(key, value), keyNumber(key), 0),
            ),
            record('C', session * 100 + i),
          ]),
        ),
      ]),
    );
  },
  jepsen: (story) =>
    sessionsOf(story)
      .flatMap((txs, process) =>
        txs.map(
          (ops) =>
            `{:type :ok, :process ${process}, :f :txn, :value [${ops.map(([f, key, value]) => `[:${f} :${key} ${value}]`).join(' ')}]}\n`,
        ),
      )
      .join(''),
  'elle-json': (story) =>
    JSON.stringify(
      sessionsOf(story).flatMap((txs, process) =>
        txs.map((value) => ({ type: 'ok', process, f: 'txn', value })),
      ),
    ),
};

describe.each(Object.keys(writers))('known anomalies in files of %s', (format) => {
  it.each(known)('%s', async (_, story, holds) => {
    const read = await readContent(writers[format]!(story));
    if (read.kind !== 'kv') throw new Error(`read as ${read.kind}`);
    expect(read.format).toBe(format);
    const kept = Object.entries(levels).filter(
      ([, level]) =>
        checkKv(read.history, { level, definitions: 'axiomatic', strongest: false }).valid === true,
    );
    expect(kept.map(([name]) => name).join(' ')).toBe(holds);
  });
});
