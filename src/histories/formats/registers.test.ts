import { describe, expect, it } from 'vitest';
import { readContent, story, storyOf } from './import.case.js';

const u64 = (...numbers: (number | bigint)[]): Buffer => {
  const bytes = Buffer.alloc(numbers.length * 8);
  numbers.forEach((number, i) => {
    bytes.writeBigUInt64LE(BigInt(number), i * 8);
  });
  return bytes;
};
const big = (...numbers: (number | bigint)[]): Buffer => {
  const bytes = u64(...numbers);
  for (let at = 0; at < bytes.length; at += 8) bytes.subarray(at, at + 8).reverse();
  return bytes;
};
const text = (word: string): Buffer => Buffer.concat([u64(word.length), Buffer.from(word)]);
const event = (isWrite: number, key: number | bigint, value: number | bigint, ok = 1): Buffer =>
  Buffer.concat([Buffer.from([isWrite]), u64(key, value), Buffer.from([ok])]);

/** Two sessions: (w(1,7) r(2,initial)) and an aborted one with a failed event. */
const dbcopBytes = Buffer.concat([
  u64(3, 2, 2, 1, 2),
  text('info'),
  text('start'),
  text('end'),
  u64(2),
  u64(1, 2),
  event(1, 1, 7),
  event(0, 2, 0),
  Buffer.from([1]),
  u64(1, 2),
  event(0, 1, 2n ** 63n),
  event(1, 5, 5, 0),
  Buffer.from([0]),
]);

describe('Plume text', () => {
  it('reads operations in program order; 0 is the initial state, transaction -1 is aborted', async () => {
    const lines = ['w(1,5,0,0)', 'r(2,0,1,1)', 'r(1,5,0,0)', 'w(3,9,1,-1)', 'w(k,8,1,-1)', 'r(1,5,1,7)', ''];
    expect(await storyOf(lines.join('\r\n'), 'plume')).toEqual([
      '1: r(2, initial)',
      '1!: w(3, 9) w(k, 8)',
      '0: w(1, 5) r(1, 5)',
      '1: r(1, 5)',
    ]);
  });

  it.each([
    [
      'what a committed transaction wrote stays 0',
      'w(1,0,0,0)\nr(1,0,1,1)\nr(2,0,1,1)\n',
      '1: r(1, 0) r(2, initial)',
    ],
    ['its own write of 0 comes later', 'r(1,0,1,1)\nw(1,0,1,1)\n', '1: r(1, initial) w(1, 0)'],
    ['its own write of 0 came before', 'w(1,0,1,1)\nr(1,0,1,1)\n', '1: w(1, 0) r(1, 0)'],
    ['an aborted write of 0 is no writer', 'w(1,0,0,-1)\nr(1,0,1,1)\n', '1: r(1, initial)'],
    ['another wrote 0 later in the file', 'r(1,0,1,1)\nw(1,0,0,0)\n', '1: r(1, 0)'],
  ])('reads 0 where somebody writes 0: %s', async (_, lines, reader) => {
    expect(await storyOf(lines, 'plume')).toContain(reader);
  });

  it('says that 0 may be the initial state only where somebody wrote and another read 0', async () => {
    const marked = async (lines: string, format: 'plume' | 'awdit'): Promise<unknown> => {
      const read = await readContent(lines, { format });
      return read.kind === 'kv' ? read.history.initialValue : read.kind;
    };
    expect(await marked('w(1,0,0,0)\nr(1,0,1,1)\nw(2,5,1,1)\n', 'plume')).toBe(0);
    expect(await marked('w(1,5,0,0)\nw(1,0,0,1)\nr(1,0,1,2)\n', 'plume')).toBe(0);
    // Here the history begins by writing 0 to every key.
    expect(await marked('w(1,0,0,0)\nr(1,0,1,1)\n', 'plume')).toBeUndefined();
    expect(await marked('w(1,0,0,0)\nr(2,0,1,1)\n', 'plume')).toBeUndefined();
    // Here it begins by writing 0 to several, and 0 is written nowhere else.
    const load = 'w(1,0,0,0)\nw(2,0,0,0)\nr(1,0,1,1)\nw(3,5,1,1)\n';
    expect(await marked(load, 'plume')).toBeUndefined();
    expect(await marked(`${load}w(2,0,2,2)\n`, 'plume')).toBe(0);
    expect(await marked(`r(3,0,0,9)\n${load}`, 'plume')).toBe(0);
    expect(await marked('w(1,0,0,-1)\nr(1,0,1,1)\n', 'plume')).toBeUndefined();
    // AWDIT's tests write their own initial transaction.
    expect(await marked('w 1 0\n=====\nr 1 0\n', 'awdit')).toBeUndefined();
  });

  it.each([
    [
      'w(1,5,0,0)\nr(1,5,0)\n',
      ':2: expected r(key,value,session,txn) or w(key,value,session,txn), found "r(1,5,0)"',
    ],
    ['w(1,5,0,0)\nw(1,6,0,1)\nw(1,7,0,0)\n', ':3 (txn): transaction 0 had ended: it is of session 0'],
    ['w(1,5,9007199254740993,0)\n', ':1 (session): expected an integer below 2^53'],
    ['w(1,5,0,9007199254740993)\n', ':1 (txn): expected an integer below 2^53'],
    ['w(1,5,0,0)\nw(1,6,1,0)\n', ':2 (txn): transaction 0 had ended: it is of session 0'],
  ])('says what is wrong with %j and where', async (lines, message) => {
    await expect(readContent(lines)).rejects.toThrow(message);
  });
});

it.each([
  ['plume', 'w(1,5,0,0)\nw(x~,5,0,0)\n', 2],
  ['awdit', 'w x 1\n-----\nw x~ 1\n', 3],
  ['viper', '{"value":[["w","x~",5,true]]}\n', 1],
  ['dbcop-json', '[[{"events":[\n{"Write":{"variable":"~","version":1}}]}]]', 2],
] as const)('the reader of %s refuses what is not UTF-8', async (format, text, line) => {
  const bytes = Buffer.from(text.replace('~', '\u00ff'), 'latin1');
  await expect(readContent(bytes, { format })).rejects.toThrow(`history:${line}: the bytes are not UTF-8`);
});

describe('AWDIT tests', () => {
  it('cuts transactions at dashes and sessions at equals signs', async () => {
    const lines = 'w x 1\nr y 0\n-----\nr x 1\n=====\nr x 1\n';
    expect(await storyOf(lines, 'awdit')).toEqual(['0: w(x, 1) r(y, initial)', '0: r(x, 1)', '1: r(x, 1)']);
  });

  it('says what is wrong and where', async () => {
    await expect(readContent('w x 1\n-----\nx y\n')).rejects.toThrow(
      ':3: expected "r key value", "w key value"',
    );
  });
});

describe('dbcop', () => {
  it('reads bincode', async () => {
    expect(await storyOf(dbcopBytes, 'dbcop')).toEqual([
      '0: w(1, 7) r(2, initial)',
      '1!: r(1, 9223372036854775808)',
    ]);
  });

  it('says at which byte bincode breaks off, and refuses counts that cannot be', async () => {
    await expect(readContent(dbcopBytes.subarray(0, -3), { format: 'dbcop' })).rejects.toThrow(
      /byte 145\): expected the number of events, found 2, more than the rest of the file can hold/,
    );
    const huge = Buffer.from(dbcopBytes);
    huge.writeBigUInt64LE(2n ** 60n, 40 + 12 + 13 + 11);
    await expect(readContent(huge, { format: 'dbcop' })).rejects.toThrow(
      'more than the rest of the file can hold',
    );
    await expect(readContent(Buffer.concat([dbcopBytes, Buffer.alloc(1)]))).rejects.toThrow(
      'expected the end of the file, found 0x0',
    );
  });

  it('reads JSON, with and without its envelope', async () => {
    const sessions = [
      [
        {
          events: [{ Write: { variable: 0, version: 1 } }, { Read: { variable: 1, version: null } }],
          committed: true,
        },
      ],
      [{ events: [{ Read: { variable: 0, version: 1 } }], committed: false }],
    ];
    const story = ['0: w(0, 1) r(1, initial)', '1!: r(0, 1)'];
    expect(await storyOf(JSON.stringify(sessions), 'dbcop-json')).toEqual(story);
    expect(
      await storyOf(JSON.stringify({ params: {}, info: 'x', data: sessions }, null, 1), 'dbcop-json'),
    ).toEqual(story);
  });

  it('says what is wrong with JSON and where', async () => {
    await expect(readContent('[[{"events":[{"Cas":{}}]}]]')).rejects.toThrow(
      ':1 ([0][0].events[0]): expected {"Write": {…}}',
    );
    await expect(readContent('[[{"events":[\n{"Read":{"variable":[]}}]}]]')).rejects.toThrow(
      ':2 ([0][0].events[0].Read.variable): expected a number or a text',
    );
    await expect(readContent('[[{"events":[]')).rejects.toThrow('this is not JSON');
  });
});

describe('Cobra logs', () => {
  const record = (letter: string, ...numbers: (number | bigint)[]): Buffer =>
    Buffer.concat([Buffer.from(letter), big(...numbers)]);
  const first = Buffer.concat([
    record('S', 1),
    record('W', 100, 7, 0),
    record('R', 0xbebeebee, 0xbebeebee, 8, 0),
    record('R', 9, 0xdeadbeef, 7, 0),
    record('C', 1),
    record('S', 2),
    record('W', 101, 7, 0),
  ]);

  it('reads a session per file; what has no commit is unknown', async () => {
    const logs = { 'T10.log': record('S', 5), 'T2.log': first, 'readme.txt': 'x' };
    expect(await storyOf(logs, 'cobra')).toEqual([
      'T2: w(7, 100) r(8, initial) r(7, initial)',
      'T2?: w(7, 101)',
      'T10?: ',
    ]);
  });

  it('says which byte of which log is wrong', async () => {
    await expect(readContent({ 'T0.log': first.subarray(0, -1) })).rejects.toThrow(
      /history\/T0\.log \(byte 135\): expected the hash of a value \(8 bytes\), found 7 bytes before/,
    );
    await expect(readContent({ 'T0.log': record('C', 1) })).rejects.toThrow('expected a record "S"');
    const wrong = Buffer.concat([record('S', 1), record('C', 2)]);
    await expect(readContent({ 'T0.log': wrong })).rejects.toThrow(
      'expected the commit of transaction 1, found that of 2',
    );
  });
});

describe('Viper logs', () => {
  it('reads a transaction per line and a session per file', async () => {
    const logs = {
      'J0.log': '{"value":[["w","x",5,true],["r","y",null,true]]}\n{"value":[["w","x",6,false]]}\n',
      'J1.log': '{"value":[["r","x",5,true]]}\n',
    };
    expect(await storyOf(logs, 'viper')).toEqual([
      'J0: w(x, 5) r(y, initial)',
      'J0?: w(x, 6)',
      'J1: r(x, 5)',
    ]);
  });

  it('keeps a read of 0 apart from one of nothing where somebody wrote 0', async () => {
    const logs = {
      'J0.log': '{"value":[["w","x",0,false]]}\n',
      'J1.log': '{"value":[["r","x",0,true],["r","x",null,true],["r","y",0,true]]}\n',
    };
    const read = await readContent(logs);
    if (read.kind !== 'kv') throw new Error(read.kind);
    expect(story(read.history)).toEqual(['J0?: w(x, 0)', 'J1: r(x, 0) r(x, initial) r(y, initial)']);
    expect(read.history).toMatchObject({ initialValue: 0 });
    expect(read.history.omitted).toBeUndefined();
  });

  it('says what is wrong and where', async () => {
    await expect(readContent({ 'J0.log': '{"value":[["w","x"]]}' })).rejects.toThrow(
      'J0.log:1 (value[0]): expected ["r", key',
    );
    await expect(readContent({ 'J0.log': '{"value":[]}\nboom' })).rejects.toThrow(
      'J0.log:2: expected a transaction',
    );
  });
});
