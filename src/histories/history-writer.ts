/**
 * Writes a history file while it happens, and leaves a valid file whatever goes wrong.
 *
 * 1. Lines collect in a block of half a megabyte.
 * 2. Blocks are written one after another in the background. When too many wait, `write` returns a promise:
 *    the caller that awaits it is held back to the speed of the disk.
 * 3. A block of a `.gz` file is compressed alone, as a gzip member of its own: a file of several members is
 *    ordinary gzip, and every block boundary is a place where the file can be cut and is still whole.
 * 4. When a write fails (disk full), the file is cut back to the last whole line (`.gz`: the last whole block)
 *    that reached it. The error says how many operations are safe.
 */
import { type FileHandle, open } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { errorText, IsoldeError } from '../errors.js';
import { ByteText } from './byte-text.js';
import type { HistoryHeader, Operation } from './history.js';
import { headerData } from './history-header.js';
import { writeOperation } from './operation-line.js';

export interface HistoryWriter {
  /** Takes one operation; a promise means: wait for it before writing more. */
  write(op: Operation): Promise<void> | undefined;
  /** Writes what is left and closes the file; rejects if anything could not be written. */
  close(): Promise<void>;
}

/** The part of a file the writer needs; tests put a full disk here. */
export type WritableFile = Pick<FileHandle, 'write' | 'truncate' | 'close'>;

export interface HistoryWriterOptions {
  readonly openFile?: (path: string) => Promise<WritableFile>;
  /** Bytes that make a block. */
  readonly blockBytes?: number;
}

const compress = promisify(gzip);
const maxWaiting = 4;

/** Creates (or overwrites) a history file. A name that ends in `.gz` is compressed. */
export async function openHistoryWriter(
  path: string,
  header: HistoryHeader,
  options: HistoryWriterOptions = {},
): Promise<HistoryWriter> {
  const openFile = options.openFile ?? ((name: string) => open(name, 'w'));
  let file: WritableFile;
  try {
    file = await openFile(path);
  } catch (cause) {
    throw new IsoldeError('file-system', `cannot write the history ${path}: ${errorText(cause)}`, { cause });
  }
  return new BlockWriter(path, file, header, options.blockBytes ?? 512 * 1024);
}

class BlockWriter implements HistoryWriter {
  private readonly block: ByteText;
  /** Operations in `block`. */
  private pending = 0;
  /** Operations that have reached the file. */
  private saved = 0;
  private fileLength = 0;
  private waiting = 0;
  private work: Promise<void> = Promise.resolve();
  private failure: IsoldeError | undefined;
  private closed = false;
  private readonly zipped: boolean;

  constructor(
    private readonly path: string,
    private readonly file: WritableFile,
    header: HistoryHeader,
    private readonly blockBytes: number,
  ) {
    this.zipped = path.endsWith('.gz');
    this.block = new ByteText(blockBytes + 64 * 1024);
    this.block.json(headerData(header));
    this.block.ascii('\n');
  }

  write(op: Operation): Promise<void> | undefined {
    if (this.failure !== undefined) return Promise.reject(this.failure);
    if (this.closed) {
      return Promise.reject(new IsoldeError('usage', `the history ${this.path} is already closed`));
    }
    writeOperation(this.block, op);
    this.pending++;
    if (this.block.length < this.blockBytes) return undefined;
    this.flush();
    return this.waiting < maxWaiting ? undefined : this.drained();
  }

  async close(): Promise<void> {
    if (!this.closed) {
      this.closed = true;
      this.flush();
      await this.work;
      await this.file.close().catch((cause) => {
        this.failure ??= this.broken(cause);
      });
    }
    if (this.failure !== undefined) throw this.failure;
  }

  private async drained(): Promise<void> {
    await this.work;
    if (this.failure !== undefined) throw this.failure;
  }

  private flush(): void {
    if (this.block.length === 0) return;
    const block = this.block.take();
    const operations = this.pending;
    this.pending = 0;
    this.waiting++;
    const bytes = this.zipped ? compress(block, { level: 1 }) : Promise.resolve(block);
    this.work = this.work.then(async () => {
      const ready = await bytes;
      if (this.failure === undefined) await this.append(ready, operations);
      this.waiting--;
    });
  }

  /** Never rejects: what fails is kept in `failure`. */
  private async append(bytes: Buffer, operations: number): Promise<void> {
    let written = 0;
    try {
      while (written < bytes.length) {
        const { bytesWritten } = await this.file.write(bytes, written, bytes.length - written, null);
        written += bytesWritten;
      }
      this.fileLength += bytes.length;
      this.saved += operations;
    } catch (cause) {
      await this.cutBack(bytes.subarray(0, written));
      this.failure = this.broken(cause);
    }
  }

  private async cutBack(written: Buffer): Promise<void> {
    const headerInBlock = this.fileLength === 0;
    if (!this.zipped) {
      const whole = written.subarray(0, written.lastIndexOf(10) + 1);
      this.fileLength += whole.length;
      const lines = whole.reduce((count, byte) => (byte === 10 ? count + 1 : count), 0);
      this.saved += headerInBlock ? Math.max(0, lines - 1) : lines;
    }
    // A device or a pipe cannot be cut; the reader then stops at the last whole line by itself.
    await this.file.truncate(this.fileLength).catch(() => {});
  }

  private broken(cause: unknown): IsoldeError {
    return new IsoldeError(
      'file-system',
      `cannot go on writing the history ${this.path}: ${errorText(cause)}; ${this.saved} operations are saved in it`,
      { cause },
    );
  }
}
