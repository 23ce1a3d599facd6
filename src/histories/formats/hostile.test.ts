import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { IsoldeError } from '../../errors.js';
import { formatNames } from './format.js';
import { withFolder } from './import.case.js';
import { readAnyHistory } from './read-any.js';
import { formatSamples as samples, zipped } from './samples.js';

const piece = fc.oneof(
  fc.uint8Array({ maxLength: 6 }),
  fc
    .constantFrom(
      '[',
      '{',
      '}',
      ']',
      '"',
      '\\',
      ':',
      '#',
      '#_',
      '-1',
      '99999999999999999999',
      'nil',
      'null',
      '1e999',
      '\n',
    )
    .map((text) => Buffer.from(text)),
);
/** Cuts, insertions and replacements, each at a place given as a fraction of the file. */
const edits = fc.array(
  fc.record({
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    drop: fc.oneof(fc.nat(3), fc.nat(1000)),
    put: piece,
  }),
  { minLength: 1, maxLength: 4 },
);

function edited(
  bytes: Uint8Array,
  changes: readonly { readonly at: number; readonly drop: number; readonly put: Uint8Array }[],
): Buffer {
  let result = Buffer.from(bytes);
  for (const { at, drop, put } of changes) {
    const from = Math.floor(at * result.length);
    result = Buffer.concat([result.subarray(0, from), put, result.subarray(from + drop)]);
  }
  return result;
}

/** Reads a file and expects a history or a complaint about the file that names it. */
async function expectHistoryOrComplaint(path: string, format?: (typeof formatNames)[number]): Promise<void> {
  try {
    await readAnyHistory(path, format === undefined ? {} : { format });
  } catch (thrown) {
    expect(thrown).toBeInstanceOf(IsoldeError);
    expect((thrown as IsoldeError).code).toBe('bad-file');
    expect((thrown as IsoldeError).message).toContain(path);
  }
}

describe('names every object has', () => {
  const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty'];

  it.each(names)('%s as the type of a Pisco operation is none of the known types', async (name) => {
    const { traceOperation } = await import('./pisco-operation.js');
    const raw = {
      threadID: '0',
      transactionID: '0',
      operationTraceType: name,
      startTimestamp: 1,
      finishTimestamp: 2,
    };
    const place = { session: 0, transaction: 0, types: new Map(), fail: () => expect.fail() };
    expect(traceOperation(raw, place as never).kind).toBe('other');
  });

  it.each(names)('%s as the name of an EDN character is read as a text', async (name) => {
    const { EdnReader } = await import('./edn-reader.js');
    const bytes = Buffer.from(`\\${name} `);
    expect(typeof new EdnReader(bytes, 0, bytes.length).read()).toBe('string');
  });
});

describe('hostile files', () => {
  it.each(formatNames)('never make the reader of %s do anything but complain', async (format) => {
    await withFolder(async (folder) => {
      const path = join(folder, 'file');
      await writeFile(path, samples[format]);
      expect((await readAnyHistory(path)).format).toBe(format);
      await fc.assert(
        fc.asyncProperty(edits, async (changes) => {
          await writeFile(path, edited(samples[format], changes));
          await expectHistoryOrComplaint(path, format);
          await expectHistoryOrComplaint(path);
        }),
        { numRuns: 60 },
      );
    });
  });

  it('never make decompression do anything but complain', async () => {
    await withFolder(async (folder) => {
      const path = join(folder, 'file.gz');
      await fc.assert(
        fc.asyncProperty(edits, async (changes) => {
          await writeFile(path, edited(zipped, changes));
          await expectHistoryOrComplaint(path);
        }),
        { numRuns: 50 },
      );
    });
  });

  it('are refused by every reader, or read as nothing, when they are random bytes', async () => {
    await withFolder(async (folder) => {
      const path = join(folder, 'file');
      await fc.assert(
        fc.asyncProperty(
          fc.uint8Array({ maxLength: 200 }),
          fc.constantFrom(...formatNames),
          async (bytes, format) => {
            await writeFile(path, bytes);
            await expectHistoryOrComplaint(path, format);
          },
        ),
        { numRuns: 150 },
      );
    });
  });
});
