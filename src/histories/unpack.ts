/**
 * Compressed files, unpacked; loaded when there is one. gzip is Node's own. xz, bzip2 and zstd are the system's programs, started
 * without a shell, with the file as their standard input, so that no file name can be mistaken for an option.
 */
import { spawn } from 'node:child_process';
import { createReadStream } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { createGunzip } from 'node:zlib';
import { errorText, FileError, IsoldeError } from '../errors.js';
import { EndsTooEarly } from './ends-too-early.js';

interface GzipFile {
  readonly path: string;
  /** How the file is called in messages. */
  readonly shown: string;
  readonly blockBytes: number;
}

export async function* gunzipped({
  path,
  shown,
  blockBytes,
}: GzipFile): AsyncGenerator<Buffer, void, undefined> {
  const raw = createReadStream(path, { highWaterMark: blockBytes });
  const unzip = createGunzip({ chunkSize: blockBytes });
  raw.on('error', (thrown) => unzip.destroy(thrown));
  raw.pipe(unzip);
  try {
    for await (const block of unzip) yield block as Buffer;
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException;
    if (code === 'Z_BUF_ERROR') throw new EndsTooEarly({ file: shown }, 'the gzip data end too early');
    if (code?.startsWith('Z_') !== true) throw thrown;
    throw new FileError({ file: shown }, `the gzip data are damaged: ${errorText(thrown)}`);
  } finally {
    raw.destroy();
    unzip.destroy();
  }
}

export async function* unpackedBy(
  program: 'xz' | 'bzip2' | 'zstd',
  file: FileHandle,
  shown: string,
): AsyncGenerator<Buffer, void, undefined> {
  const child = spawn(program, ['-dc'], { stdio: [file.fd, 'pipe', 'pipe'], shell: false });
  let complaint = '';
  child.stderr!.on('data', (text: Buffer) => {
    if (complaint.length < 500) complaint += text.toString('utf8');
  });
  const ended = new Promise<number | null | Error>((resolve) => {
    child.on('error', resolve);
    child.on('close', resolve);
  });
  try {
    for await (const block of child.stdout!) yield block as Buffer;
    const result = await ended;
    if (result instanceof Error) {
      throw new IsoldeError(
        'engine-missing',
        `${shown} is compressed with ${program}, and the program ${program} cannot be started: install it (package ${program === 'xz' ? 'xz-utils or xz' : program}), or unpack the file yourself`,
        { cause: result },
      );
    }
    if (result !== 0) {
      const why = complaint.trim().split('\n')[0]!.slice(0, 200);
      throw new FileError({ file: shown }, `the ${program} data are damaged or end too early: ${why}`);
    }
  } finally {
    child.kill();
  }
}
