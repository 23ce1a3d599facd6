/**
 * Keeps what can be read only once (a pipe, standard input, a device) in a file, to be looked at and then read. The first
 * bytes are judged before anything is written, and what is written has a limit: a device may never end.
 */
import { createWriteStream } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { FileError } from '../../errors.js';

/** 8 GB: more than that is given as a file. */
const defaultSpoolBytes = 8 * 1024 ** 3;

export interface SpoolOptions {
  /** How the source is called in messages. */
  readonly shown: string;
  readonly maxBytes?: number | undefined;
  readonly headBytes: number;
  /** Throws where nothing that begins so can be read. */
  readonly judge: (head: Buffer) => void;
  /** Names the file to write; asked only when the first bytes have been judged. */
  readonly file: () => Promise<string>;
}

/** Writes the source's blocks to a file and returns its path. */
export async function spool(blocks: AsyncGenerator<Buffer>, options: SpoolOptions): Promise<string> {
  const { shown, headBytes, judge } = options;
  try {
    const head: Buffer[] = [];
    for (let length = 0; length < headBytes; ) {
      const next = await blocks.next();
      if (next.done === true) break;
      head.push(Buffer.from(next.value));
      length += next.value.length;
    }
    const start = Buffer.concat(head);
    judge(start.subarray(0, headBytes));
    const path = await options.file();
    const limit = Math.min(options.maxBytes ?? defaultSpoolBytes, await half(dirname(path)));
    await pipeline(
      Readable.from(upTo(limit, start, blocks, shown)),
      createWriteStream(path, { mode: 0o600 }),
    );
    return path;
  } finally {
    await blocks.return(undefined);
  }
}

/** Half of the bytes that are free where the file will be. */
async function half(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return (bavail * bsize) / 2;
}

async function* upTo(
  limit: number,
  start: Buffer,
  rest: AsyncGenerator<Buffer>,
  shown: string,
): AsyncGenerator<Buffer> {
  let count = start.length;
  yield start;
  for await (const block of rest) {
    count += block.length;
    if (count > limit) {
      throw new FileError(
        { file: shown },
        `it has not ended after ${Math.floor(limit)} bytes, more than is kept of what cannot be read twice; give a longer history as a file`,
      );
    }
    // The source writes over its blocks.
    yield Buffer.from(block);
  }
}
