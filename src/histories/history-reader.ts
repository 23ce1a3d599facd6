/**
 * Reads a history file in small blocks, so that a history of any size needs little memory.
 *
 * 1. Bytes are cut at the last line break of a block; the rest waits for the next block.
 * 2. Every line is parsed and validated (ordinary ones the quick way, `quick-line.ts`); a bad one is an error with
 *    its line and field.
 * 3. A file that ends in the middle of a line, or of a gzip member, is what a killed writer leaves behind: it is
 *    read up to its last whole line, and `omitted` says so, as it repeats what the header says is missing.
 */
import { FileError } from '../errors.js';
import { bytesOf } from './bytes.js';
import { EndsTooEarly } from './ends-too-early.js';
import type { HistoryHeader, Operation } from './history.js';
import { parseHeader } from './history-header.js';
import { lossyText } from './lossy-text.js';
import { operationError, operationProblem } from './operation-line.js';
import { QuickLines } from './quick-line.js';

export interface HistoryReader {
  readonly header: HistoryHeader;
  /** The operations, many at a time. Can be gone through once. */
  readonly operations: AsyncIterable<Operation[]>;
  /** What is missing: the header's list, and the end of a file that was cut off; known when `operations` has ended. */
  readonly omitted: readonly string[];
  /** Closes the file; needed only when `operations` is not gone through. */
  close(): Promise<void>;
}

// Operations of a block die young: a small block spares the garbage collector from copying them.
export const historyBlockBytes = 128 * 1024;
const lineBreak = 10;
const maxLineBytes = 256 * 1024 * 1024;

const cutOff = 'the file ends in the middle of an entry, so what came after it is not known';

export interface HistoryReadOptions {
  /** Bytes that may come out of the file, after decompression; default: any number, for little of it is kept. */
  readonly maxBytes?: number;
}

/** Opens a history file and reads its header. */
export async function readHistory(path: string, options: HistoryReadOptions = {}): Promise<HistoryReader> {
  const { maxBytes = Number.POSITIVE_INFINITY } = options;
  return readHistoryBytes(path, bytesOf(path, { maxBytes, blockBytes: historyBlockBytes }));
}

/** Reads a history from its bytes, unpacked; `path` is how messages call it. */
export async function readHistoryBytes(
  path: string,
  bytes: AsyncGenerator<Buffer, void, undefined>,
): Promise<HistoryReader> {
  const source = linesOf(path, bytes);
  const first = await source.next();
  if (first.done === true) throw new FileError({ file: path, line: 1 }, 'the file is empty');
  const { lines } = first.value;
  const end = lines.indexOf(lineBreak);
  let header: HistoryHeader;
  try {
    header = parseHeader(lines.toString('utf8', 0, end < 0 ? lines.length : end), path);
  } catch (thrown) {
    await source.return(undefined);
    if (first.value.end !== 'whole' && end < 0) {
      throw new FileError({ file: path, line: 1 }, 'the file ends inside its header line');
    }
    throw thrown;
  }
  const rest = lines.subarray(end < 0 ? lines.length : end + 1);
  return new Reader(path, header, source, { lines: rest, end: first.value.end });
}

/** Whole lines, joined by line breaks, without the last line break; valid until the next block is asked for. */
interface LineBlock {
  readonly lines: Buffer;
  /** `open`: the last line of the file has no line break and may be half a line; `cut`: compressed data stopped here. */
  readonly end: 'whole' | 'open' | 'cut';
}

class Reader implements HistoryReader {
  omitted: readonly string[];
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
    this.omitted = header.omitted ?? [];
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

  private parse({ lines, end: ending }: LineBlock, firstIndex: number): Operation[] {
    let cut = ending === 'cut';
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
      const suspect = ending !== 'whole' && end === lines.length;
      const op = this.parseLine(lines.subarray(at, end), index, suspect);
      if (op === undefined) {
        cut = true;
        break;
      }
      this.checkSession(op, index);
      operations.push(op);
      at = end + 1;
    }
    if (cut) this.omitted = [...this.omitted, cutOff];
    return operations;
  }

  /** The operation on a line; undefined if the line may be cut off, and is. */
  private parseLine(bytes: Buffer, index: number, suspect: boolean): Operation | undefined {
    const line = bytes.toString('utf8');
    let op: unknown;
    try {
      op = JSON.parse(line);
    } catch {
      if (suspect) return undefined;
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
async function* linesOf(
  path: string,
  bytes: AsyncGenerator<Buffer, void, undefined>,
): AsyncGenerator<LineBlock, void, undefined> {
  const carry: Buffer[] = [];
  let carried = 0;
  const take = (last: Buffer): Buffer => {
    carry.push(last);
    const lines = carry.length === 1 ? last : Buffer.concat(carry);
    carry.length = 0;
    carried = 0;
    return lines;
  };
  let cut = false;
  try {
    for await (const block of bytes) {
      const end = block.lastIndexOf(lineBreak);
      if (end >= 0) {
        yield { lines: take(block.subarray(0, end)), end: 'whole' };
      }
      const rest = block.subarray(end + 1);
      carried += rest.length;
      if (carried > maxLineBytes) {
        throw new FileError({ file: path }, `a line is longer than ${maxLineBytes} bytes`);
      }
      if (rest.length > 0) carry.push(Buffer.from(rest));
    }
  } catch (thrown) {
    if (!(thrown instanceof EndsTooEarly)) throw thrown;
    cut = true;
  }
  // A last line without a line break may still be whole: a file somebody edited. Parsing tells.
  if (carried > 0 || cut) yield { lines: take(Buffer.alloc(0)), end: cut ? 'cut' : 'open' };
}
