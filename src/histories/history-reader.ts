/**
 * Reads a history file in small blocks, so that a history of any size needs little memory.
 *
 * 1. Bytes are cut at the last line break of a block; the rest waits for the next block.
 * 2. Every line is parsed and validated (ordinary ones the quick way, `quick-line.ts`); a bad one is an error with
 *    its line and field.
 * 3. A file that ends in the middle of a line, or of a gzip member, is what a killed writer leaves behind: it is
 *    read up to its last whole line, and `truncated` says so.
 *
 * Compression is told by the first two bytes, not by the name, so a renamed file reads as well.
 */
import { createReadStream } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { createGunzip } from 'node:zlib';
import { errorText, FileError, IsoldeError } from '../errors.js';
import type { HistoryHeader, Operation } from './history.js';
import { parseHeader } from './history-header.js';
import { lossyText } from './lossy-text.js';
import { operationError, operationProblem } from './operation-line.js';
import { QuickLines } from './quick-line.js';

export interface HistoryReader {
  readonly header: HistoryHeader;
  /** The operations, many at a time. Can be gone through once. */
  readonly operations: AsyncIterable<Operation[]>;
  /** Whether the file ended in the middle of a line; known when `operations` has ended. */
  readonly truncated: boolean;
  /** Closes the file; needed only when `operations` is not gone through. */
  close(): Promise<void>;
}

// Operations of a block die young: a small block spares the garbage collector from copying them.
const blockBytes = 128 * 1024;
const lineBreak = 10;
const maxLineBytes = 256 * 1024 * 1024;

export interface HistoryReadOptions {
  /** Bytes that may come out of the file, after decompression; default: any number, for little of it is kept. */
  readonly maxBytes?: number;
}

/** Opens a history file and reads its header. */
export async function readHistory(path: string, options: HistoryReadOptions = {}): Promise<HistoryReader> {
  const source = linesOf(path, options.maxBytes ?? Number.POSITIVE_INFINITY);
  const first = await source.next();
  if (first.done === true) throw new FileError({ file: path, line: 1 }, 'the file is empty');
  const { lines, whole } = first.value;
  const end = lines.indexOf(lineBreak);
  let header: HistoryHeader;
  try {
    header = parseHeader(lines.toString('utf8', 0, end < 0 ? lines.length : end), path);
  } catch (thrown) {
    await source.return(undefined);
    if (!whole && end < 0) {
      throw new FileError({ file: path, line: 1 }, 'the file ends inside its header line');
    }
    throw thrown;
  }
  const rest = lines.subarray(end < 0 ? lines.length : end + 1);
  return new Reader(path, header, source, { lines: rest, whole });
}

/** Whole lines, joined by line breaks, without the last line break; valid until the next block is asked for. */
interface LineBlock {
  readonly lines: Buffer;
  /** False for the last block of a file that ended inside a line or a gzip member; its last line is suspect. */
  readonly whole: boolean;
}

class Reader implements HistoryReader {
  truncated = false;
  readonly operations: AsyncIterable<Operation[]>;
  private readonly quick: QuickLines;
  private readonly sessionOf = new Map<number, number>();
  private readonly lastOf: (number | undefined)[] = [];

  constructor(
    private readonly path: string,
    readonly header: HistoryHeader,
    private readonly source: AsyncGenerator<LineBlock, void, undefined>,
    first: LineBlock,
  ) {
    this.quick = new QuickLines(header.sessions.length);
    this.operations = this.read(first);
  }

  async close(): Promise<void> {
    await this.source.return(undefined);
  }

  private async *read(first: LineBlock): AsyncGenerator<Operation[], void, undefined> {
    try {
      let index = 0;
      for (let block: LineBlock | undefined = first; block !== undefined; ) {
        const operations = this.parse(block, index);
        index += operations.length;
        if (operations.length > 0) yield operations;
        const next: IteratorResult<LineBlock, void> = await this.source.next();
        block = next.done === true ? undefined : next.value;
      }
    } finally {
      await this.close();
    }
  }

  private parse({ lines, whole }: LineBlock, firstIndex: number): Operation[] {
    const operations: Operation[] = [];
    let index = firstIndex;
    for (let at = 0; at < lines.length; index++) {
      const quick = this.quick.read(lines, at, index);
      if (quick !== undefined) {
        this.checkSession(quick, index);
        operations.push(quick);
        at = this.quick.next;
        continue;
      }
      const next = lines.indexOf(lineBreak, at);
      const end = next < 0 ? lines.length : next;
      const suspect = !whole && end === lines.length;
      const op = this.parseLine(lines.subarray(at, end), index, suspect);
      if (op === undefined) break;
      this.checkSession(op, index);
      operations.push(op);
      at = end + 1;
    }
    if (!whole && lines.length === 0) this.truncated = true;
    return operations;
  }

  /** The operation on a line; undefined if the line may be cut off, and is. */
  private parseLine(bytes: Buffer, index: number, suspect: boolean): Operation | undefined {
    const line = bytes.toString('utf8');
    let op: unknown;
    try {
      op = JSON.parse(line);
    } catch {
      if (suspect) {
        this.truncated = true;
        return undefined;
      }
      throw new FileError({ file: this.path, line: index + 2 }, 'this line is not an operation in JSON');
    }
    const bad = operationProblem(op, index, this.header.sessions.length);
    if (bad !== undefined) throw operationError(this.path, index + 2, bad);
    const lossy = lossyText(bytes, line);
    if (lossy !== undefined) throw new FileError({ file: this.path, line: index + 2 }, lossy);
    return op as Operation;
  }

  /** A transaction belongs to one session. */
  private checkSession({ session, transaction }: Operation, index: number): void {
    if (this.lastOf[session] === transaction) return;
    this.lastOf[session] = transaction;
    const owner = this.sessionOf.get(transaction);
    if (owner === undefined) this.sessionOf.set(transaction, session);
    else if (owner !== session) {
      throw new FileError(
        { file: this.path, line: index + 2, field: 'session' },
        `transaction ${transaction} is of session ${owner}, and here of session ${session}`,
      );
    }
  }
}

/** The lines of a file in blocks. */
async function* linesOf(path: string, maxBytes: number): AsyncGenerator<LineBlock, void, undefined> {
  const carry: Buffer[] = [];
  let carried = 0;
  const take = (last: Buffer): Buffer => {
    carry.push(last);
    const lines = carry.length === 1 ? last : Buffer.concat(carry);
    carry.length = 0;
    carried = 0;
    return lines;
  };
  const bytes = bytesOf(path);
  let cut = false;
  let count = 0;
  try {
    for await (const block of bytes) {
      if (block === 'cut') {
        cut = true;
        break;
      }
      count += block.length;
      if (count > maxBytes)
        throw new FileError({ file: path }, `it holds more than ${maxBytes} bytes when unpacked`);
      const end = block.lastIndexOf(lineBreak);
      if (end >= 0) {
        yield { lines: take(block.subarray(0, end)), whole: true };
      }
      const rest = block.subarray(end + 1);
      carried += rest.length;
      if (carried > maxLineBytes) {
        throw new FileError({ file: path }, `a line is longer than ${maxLineBytes} bytes`);
      }
      if (rest.length > 0) carry.push(Buffer.from(rest));
    }
  } catch (thrown) {
    if (thrown instanceof IsoldeError) throw thrown;
    throw new IsoldeError('file-system', `cannot read the history ${path}: ${errorText(thrown)}`, {
      cause: thrown,
    });
  }
  // A last line without a line break may still be whole: a file somebody edited. Parsing tells.
  if (carried > 0 || cut) yield { lines: take(Buffer.alloc(0)), whole: false };
}

/** The bytes of a file, decompressed; `cut` where a compressed file stops too early. */
async function* bytesOf(path: string): AsyncGenerator<Buffer | 'cut', void, undefined> {
  const file = await open(path, 'r');
  try {
    const magic = Buffer.alloc(2);
    const { bytesRead } = await file.read(magic, 0, 2, 0);
    if (bytesRead === 2 && magic[0] === 0x1f && magic[1] === 0x8b) yield* unzippedBytes(path);
    else yield* plainBytes(file);
  } finally {
    await file.close();
  }
}

async function* plainBytes(file: FileHandle): AsyncGenerator<Buffer, void, undefined> {
  // Two buffers take turns: while one is parsed, the next block is already being read into the other.
  const buffers = [Buffer.allocUnsafe(blockBytes), Buffer.allocUnsafe(blockBytes)];
  let position = 0;
  let pending = file.read(buffers[0]!, 0, blockBytes, position);
  for (let turn = 0; ; turn = 1 - turn) {
    const { bytesRead } = await pending;
    if (bytesRead === 0) return;
    position += bytesRead;
    pending = file.read(buffers[1 - turn]!, 0, blockBytes, position);
    pending.catch(() => {}); // awaited on the next turn, or abandoned with the file
    yield buffers[turn]!.subarray(0, bytesRead);
  }
}

async function* unzippedBytes(path: string): AsyncGenerator<Buffer | 'cut', void, undefined> {
  const raw = createReadStream(path, { highWaterMark: blockBytes });
  const unzip = createGunzip({ chunkSize: blockBytes });
  raw.on('error', (thrown) => unzip.destroy(thrown));
  raw.pipe(unzip);
  try {
    for await (const block of unzip) yield block as Buffer;
  } catch (thrown) {
    const code = (thrown as NodeJS.ErrnoException).code;
    if (code === 'Z_BUF_ERROR') yield 'cut';
    else if (code?.startsWith('Z_') === true) {
      throw new FileError({ file: path }, `the gzip data are damaged: ${errorText(thrown)}`);
    } else throw thrown;
  } finally {
    raw.destroy();
    unzip.destroy();
  }
}
