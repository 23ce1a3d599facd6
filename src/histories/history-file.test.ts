import { mkdtemp, open, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { constants, gunzipSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FileError, IsoldeError } from '../errors.js';
import { anyHistory } from './arbitrary.case.js';
import type { History, Operation } from './history.js';
import { readWholeHistory, writeWholeHistory } from './history-file.js';
import { readHistory } from './history-reader.js';
import { openHistoryWriter, type WritableFile } from './history-writer.js';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'isolde-history-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const at = (name: string) => join(folder, name);

function longHistory(count: number): History {
  const operations = Array.from({ length: count }, (_, index): Operation => {
    return {
      index,
      session: index % 2,
      transaction: index,
      kind: 'select',
      sql: `SELECT ${'x'.repeat(index % 50)} -- é`,
      start: index,
      end: index + 1,
      outcome: 'ok',
      rows: [[index, null]],
    };
  });
  return { header: { sessions: ['T1', 'T2'] }, operations };
}

/** Writes like a disk that is full after so many bytes, in the middle of a line. */
async function nearlyFull(path: string, room: number): Promise<WritableFile> {
  const file = await open(path, 'w');
  let left = room;
  return {
    write: async (bytes: Buffer, from: number, length: number) => {
      if (left === 0) throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
      const some = Math.min(left, length);
      left -= some;
      return file.write(bytes, from, some, null);
    },
    truncate: (length: number) => file.truncate(length),
    close: () => file.close(),
  } as WritableFile;
}

async function fill(path: string, history: History, options: { room: number }): Promise<IsoldeError> {
  const writer = await openHistoryWriter(path, history.header, {
    openFile: (name) => nearlyFull(name, options.room),
    blockBytes: 4096,
  });
  let failure: unknown;
  try {
    for (const op of history.operations) await writer.write(op);
    await writer.close();
  } catch (thrown) {
    failure = thrown;
    await expect(writer.close()).rejects.toBe(thrown);
  }
  expect(failure).toBeInstanceOf(IsoldeError);
  return failure as IsoldeError;
}

describe('history files', () => {
  it.each(['a.history.jsonl', 'a.history.jsonl.gz'])(
    'written to %s and read back are the same',
    async (name) => {
      await fc.assert(
        fc.asyncProperty(anyHistory, async (history) => {
          await writeWholeHistory(at(name), history);
          expect(await readWholeHistory(at(name))).toEqual(history);
        }),
        { numRuns: 50 },
      );
    },
  );

  it('come back whole when they are longer than many blocks', async () => {
    const history = longHistory(30_000);
    for (const name of ['b.history.jsonl', 'b.history.jsonl.gz']) {
      await writeWholeHistory(at(name), history);
      const reader = await readHistory(at(name));
      let count = 0;
      let chunks = 0;
      for await (const some of reader.operations) {
        expect(some).toEqual(history.operations.slice(count, count + some.length));
        count += some.length;
        chunks++;
      }
      expect(count).toBe(30_000);
      expect(chunks).toBeGreaterThan(1);
    }
  });

  it('hold one JSON object a line, compressed as ordinary gzip', async () => {
    const history = longHistory(3);
    await writeWholeHistory(at('c.history.jsonl'), history);
    await writeWholeHistory(at('c.history.jsonl.gz'), history);
    const plain = await readFile(at('c.history.jsonl'), 'utf8');
    expect(gunzipSync(await readFile(at('c.history.jsonl.gz'))).toString()).toBe(plain);
    const lines = plain
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown);
    expect(lines).toEqual([
      { format: 'isolde-history', version: 1, ...history.header },
      ...history.operations,
    ]);
  });

  it('are known as compressed by their content, whatever their name', async () => {
    await writeWholeHistory(at('d.history.jsonl.gz'), longHistory(3));
    await writeFile(at('d.history.jsonl'), await readFile(at('d.history.jsonl.gz')));
    expect((await readWholeHistory(at('d.history.jsonl'))).operations).toHaveLength(3);
  });

  it('cut off anywhere after the header read up to the last whole line', async () => {
    const history = longHistory(40);
    await writeWholeHistory(at('e.history.jsonl'), history);
    const whole = await readFile(at('e.history.jsonl'));
    const headerEnd = whole.indexOf(10) + 1;
    for (let length = whole.length - 1; length >= headerEnd; length -= 7) {
      await truncate(at('e.history.jsonl'), length);
      const { operations, header } = await readWholeHistory(at('e.history.jsonl'));
      const lines = whole.subarray(headerEnd, length).toString().split('\n');
      // A last line that only lacks its line break is whole.
      const lastWhole = lines.at(-1)!.endsWith('}') && whole[length] === 10;
      expect(header.omitted !== undefined).toBe(!lastWhole && lines.at(-1) !== '');
      expect(operations).toEqual(history.operations.slice(0, lines.length - (lastWhole ? 0 : 1)));
    }
  });

  it('cut off in the middle of a gzip member read up to the last whole line', async () => {
    const lines = longHistory(2000);
    await writeWholeHistory(at('f.history.jsonl'), lines);
    const zipped = gzipSync(await readFile(at('f.history.jsonl')));
    await writeFile(at('f.history.jsonl.gz'), zipped.subarray(0, Math.floor(zipped.length / 2)));
    const { operations, header } = await readWholeHistory(at('f.history.jsonl.gz'));
    expect(header.omitted).toHaveLength(1);
    expect(operations.length).toBeGreaterThan(0);
    expect(operations).toEqual(lines.operations.slice(0, operations.length));
  });

  it('say so when the gzip data stop where a line does, with or without its line break', async () => {
    const history = longHistory(3);
    await writeWholeHistory(at('f2.history.jsonl'), history);
    const text = await readFile(at('f2.history.jsonl'));
    for (const end of [text.length, text.length - 1]) {
      const open = gzipSync(text.subarray(0, end), { finishFlush: constants.Z_SYNC_FLUSH });
      await writeFile(at('f2.history.jsonl.gz'), open);
      const { operations, header } = await readWholeHistory(at('f2.history.jsonl.gz'));
      expect(operations).toEqual(history.operations);
      expect(header.omitted).toHaveLength(1);
    }
  });

  it.each(['g.history.jsonl', 'g.history.jsonl.gz'])(
    'on a full disk: %s stays valid and the error counts',
    async (name) => {
      const history = longHistory(2000);
      const room = name.endsWith('.gz') ? 3000 : 20_000;
      const error = await fill(at(name), history, { room });
      const { operations, header } = await readWholeHistory(at(name));
      expect(error.code).toBe('file-system');
      expect(error.message).toContain(at(name));
      expect(error.message).toContain('ENOSPC');
      expect(error.message).toContain(`; ${operations.length} operations are saved in it`);
      expect(operations.length).toBeGreaterThan(10);
      expect(header.omitted).toBeUndefined();
    },
  );

  it('say so when the disk is full from the start', async () => {
    const error = await fill(at('h.history.jsonl'), longHistory(100), { room: 10 });
    expect(error.message).toContain('0 operations are saved');
  });

  it('say which path cannot be opened', async () => {
    const nowhere = at('no/such/x.history.jsonl');
    await expect(openHistoryWriter(nowhere, { sessions: [] })).rejects.toThrow(
      `cannot write the history ${nowhere}`,
    );
    await expect(readHistory(nowhere)).rejects.toThrow(`cannot read ${nowhere}: ENOENT`);
  });

  it('refuse to write when closed', async () => {
    const writer = await openHistoryWriter(at('i.history.jsonl'), { sessions: ['T1'] });
    await writer.close();
    await expect(writer.write(longHistory(1).operations[0]!)).rejects.toThrow('already closed');
  });
});

const op = { index: 0, session: 0, transaction: 0, kind: 'select', start: 1, end: 2, outcome: 'ok' };

describe('a history file that is not valid', () => {
  const header = { format: 'isolde-history', version: 1, sessions: ['T1'] };
  const read = async (...lines: unknown[]) => {
    const text = lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n');
    await writeFile(at('bad.history.jsonl'), `${text}\n`);
    return readWholeHistory(at('bad.history.jsonl'));
  };

  it.each([
    [{ index: 1 }, 'index', 'expected 0'],
    [{ session: 1 }, 'session', 'expected a session number below 1; found 1'],
    [{ transaction: -1 }, 'transaction', 'an integer'],
    [{ kind: 'selct' }, 'kind', 'expected one of begin'],
    [{ kind: undefined }, 'kind', 'missing'],
    [{ start: 1.5 }, 'start', 'an integer'],
    [{ end: 0 }, 'end', 'not below start'],
    [{ outcome: 'fine' }, 'outcome', 'ok, error or unknown'],
    [{ statement: [1] }, 'statement', 'a session number and a position'],
    [{ sql: 1 }, 'sql', 'text'],
    [{ blocked: 1 }, 'blocked', 'true or false'],
    [{ ends: 'abort' }, 'ends', 'commit, rollback or unknown'],
    [{ columns: [1] }, 'columns', 'a list of texts'],
    [{ rows: 1 }, 'rows', 'expected a list'],
    [{ rows: [[1], [{ int: 'x' }]] }, 'rows[1][0]', 'expected a value, found {"int":"x"}'],
    [{ matched: 'x' }, 'matched', 'an integer'],
    [{ error: { class: 'bad', message: '' } }, 'error.class', 'expected one of deadlock'],
    [{ error: { class: 'other' } }, 'error.message', 'expected text'],
    [{ error: { class: 'other', message: '', x: 1 } }, 'error.x', 'unknown field'],
    [{ accesses: [{ mode: 'peek', object: 'k' }] }, 'accesses[0].mode', 'read, write, append or delete'],
    [{ accesses: [{ mode: 'read', object: 'k', value: { a: { b: 1 } } }] }, 'accesses[0].value', 'a value'],
    [{ extra: 1 }, 'extra', 'unknown field'],
  ])('is refused for %j', async (change, field, problem) => {
    const error = await read(header, { ...op, ...change }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(FileError);
    expect((error as FileError).place).toEqual({ file: at('bad.history.jsonl'), line: 2, field });
    expect((error as FileError).problem).toContain(problem);
  });

  it('names the line', async () => {
    await expect(read(header, op, { ...op, index: 1 }, 'oops', op)).rejects.toThrow(
      ':4: this line is not an operation',
    );
    await expect(read(header, op, '', op)).rejects.toThrow(':3: this line is not an operation');
    await expect(read(header, op, [])).rejects.toThrow(':3: expected an operation, found []');
  });

  it.each([
    ['', 'is not JSON'],
    [{ ...header, version: 9 }, 'newer than this Isolde reads'],
    [{ ...header, sessions: ['a', 'a'] }, 'two sessions are named "a"'],
    [{ ...header, sessionLevels: { 1: 'snapshot' } }, 'there is no session 1'],
    [{ ...header, extra: 1 }, 'unknown field extra'],
    [{ format: 'isolde-case', version: 1 }, 'expected "format": "isolde-history"'],
  ])('is refused for the header %j', async (line, problem) => {
    await expect(read(line)).rejects.toThrow(problem);
    await expect(read(line)).rejects.toThrow(`${at('bad.history.jsonl')}:1`);
  });

  it('is refused when empty, cut inside the header, or with damaged gzip data', async () => {
    await writeFile(at('empty'), '');
    await expect(readHistory(at('empty'))).rejects.toThrow('the file is empty');
    await writeFile(at('cut'), '{"format":"isolde-hi');
    await expect(readHistory(at('cut'))).rejects.toThrow('ends inside its header line');
    const zipped = gzipSync(`${JSON.stringify(header)}\n${'x'.repeat(1000)}`);
    zipped.fill(0xff, 10);
    await writeFile(at('damaged'), zipped);
    await expect(readHistory(at('damaged'))).rejects.toThrow('gzip data are damaged');
  });

  it.each([
    [
      'a transaction in two sessions',
      ['"session":0,"transaction":4', '"session":1,"transaction":4'],
      ':3 (session): transaction 4 is of session 0, and here of session 1',
    ],
    [
      'integers that a double rounds',
      ['"session":0,"transaction":4,"rows":[[9007199254740993]]'],
      ':2: the integer 9007199254740993 is beyond what JSON numbers hold exactly',
    ],
    [
      'bytes that are not UTF-8',
      ['"session":0,"transaction":4,"sql":"\u00ff"'],
      ':2: the bytes are not UTF-8',
    ],
  ])('refuses %s', async (_, starts, message) => {
    const lines = starts.map(
      (start, index) => `{"index":${index},${start},"kind":"select","start":1,"end":2,"outcome":"ok"}`,
    );
    const text = ['{"format":"isolde-history","version":1,"sessions":["a","b"]}', ...lines, ''].join('\n');
    await writeFile(at('lossy.history.jsonl'), Buffer.from(text, 'latin1'));
    await expect(readWholeHistory(at('lossy.history.jsonl'))).rejects.toThrow(message);
  });

  it('keeps long numbers in texts, and doubles as they are spelt', async () => {
    const line =
      '{"index":0,"session":0,"transaction":4,"kind":"select","start":1,"end":2,"outcome":"ok","rows":[["9007199254740993",9007199254740992,123456789012345680000]]}';
    await writeFile(
      at('long.history.jsonl'),
      `{"format":"isolde-history","version":1,"sessions":["a"]}\n${line}\n`,
    );
    const { operations } = await readWholeHistory(at('long.history.jsonl'));
    expect(operations[0]!.rows).toEqual([['9007199254740993', 2 ** 53, 123456789012345680000]]);
  });
});
