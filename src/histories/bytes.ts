/**
 * The bytes of a file as blocks, decompressed. Compression is told by the first bytes, not by the name.
 * What comes out is counted: a small file that unpacks to more than the limit is refused.
 */
import { type FileHandle, open } from 'node:fs/promises';
import { errorText, FileError, IsoldeError } from '../errors.js';

export type Compression = 'none' | 'gzip' | 'xz' | 'bzip2' | 'zstd';

export interface BytesOptions {
  /** Bytes that may come out of a compressed file. */
  readonly maxBytes?: number;
  /** How the file is called in messages. */
  readonly shown?: string;
  readonly onBytes?: (count: number) => void;
  readonly blockBytes?: number;
}

/** 64 GB: far above any history people keep, far below what a decompression bomb makes. */
export const defaultMaxBytes = 64 * 1024 ** 3;
const defaultBlockBytes = 1024 * 1024;

const magics: readonly (readonly [Compression, readonly number[]])[] = [
  ['gzip', [0x1f, 0x8b]],
  ['xz', [0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00]],
  ['bzip2', [0x42, 0x5a, 0x68]],
  ['zstd', [0x28, 0xb5, 0x2f, 0xfd]],
];

export function compressionOf(head: Uint8Array): Compression {
  return magics.find(([, magic]) => magic.every((byte, i) => head[i] === byte))?.[0] ?? 'none';
}

/** The blocks of a file. A block is overwritten by the next but one: copy what must stay. */
export async function* bytesOf(
  path: string,
  options: BytesOptions = {},
): AsyncGenerator<Buffer, void, undefined> {
  const shown = options.shown ?? path;
  const limit = options.maxBytes ?? defaultMaxBytes;
  let count = 0;
  for await (const block of unpacked(path, shown, options)) {
    count += block.length;
    if (count > limit) {
      throw new FileError({ file: shown }, `it holds more than ${limit} bytes when unpacked`);
    }
    options.onBytes?.(block.length);
    yield block;
  }
}

/** The first bytes of a file, decompressed: what its format is recognised by. */
export async function headOf(path: string, length: number, shown = path): Promise<Buffer> {
  const blocks: Buffer[] = [];
  let count = 0;
  const source = unpacked(path, shown, { wantedBytes: length });
  try {
    for await (const block of source) {
      blocks.push(Buffer.from(block.subarray(0, length - count)));
      count += block.length;
      if (count >= length) break;
    }
  } catch (thrown) {
    // A file cut short can still be recognised; reading it will say what is wrong.
    if (!(thrown instanceof FileError) || count === 0) throw thrown;
  }
  return Buffer.concat(blocks);
}

async function* unpacked(
  path: string,
  shown: string,
  { blockBytes = defaultBlockBytes, wantedBytes = blockBytes }: { blockBytes?: number; wantedBytes?: number },
): AsyncGenerator<Buffer, void, undefined> {
  let file: FileHandle;
  try {
    file = await open(path, 'r');
  } catch (cause) {
    throw new IsoldeError('file-system', `cannot read ${shown}: ${errorText(cause)}`, { cause });
  }
  try {
    const magic = Buffer.alloc(6);
    // A pipe cannot be read at a position; it is read as it comes and may not be compressed.
    const info = await file.stat();
    const seekable = info.isFile();
    const block = seekable ? Math.max(1, Math.min(blockBytes, info.size, wantedBytes)) : blockBytes;
    if (seekable) await file.read(magic, 0, 6, 0);
    const compression = compressionOf(magic);
    if (compression === 'none') yield* plain(file, seekable, block);
    else {
      const { gunzipped, unpackedBy } = await import('./unpack.js');
      if (compression === 'gzip') yield* gunzipped({ path, shown, blockBytes });
      else yield* unpackedBy(compression, file, shown);
    }
  } catch (cause) {
    if (cause instanceof IsoldeError) throw cause;
    throw new IsoldeError('file-system', `cannot read ${shown}: ${errorText(cause)}`, { cause });
  } finally {
    await file.close();
  }
}

async function* plain(
  file: FileHandle,
  seekable: boolean,
  bytes: number,
): AsyncGenerator<Buffer, void, undefined> {
  // Two buffers take turns: while one is parsed, the next block is already being read into the other.
  const buffers = [Buffer.allocUnsafe(bytes), Buffer.allocUnsafe(bytes)];
  let position = 0;
  const read = (turn: number) => file.read(buffers[turn]!, 0, bytes, seekable ? position : null);
  let pending = read(0);
  for (let turn = 0; ; turn = 1 - turn) {
    const { bytesRead } = await pending;
    if (bytesRead === 0) return;
    position += bytesRead;
    pending = read(1 - turn);
    pending.catch(() => {}); // awaited on the next turn, or abandoned with the file
    yield buffers[turn]!.subarray(0, bytesRead);
  }
}
