/**
 * A window onto a stream of bytes, for parsers that work on whole forms: they parse from `at`, and when they meet
 * the end of the window inside a form they ask for more and begin that form again. Because the window at least
 * doubles while a form does not fit, even a file that is one single form is scanned only a few times.
 */
import { FileError } from '../../errors.js';

const maxFormBytes = 512 * 1024 * 1024;

export class ByteWindow {
  bytes: Buffer = Buffer.allocUnsafe(64 * 1024);
  /** Where the next form begins; the parser moves it. */
  at = 0;
  /** Where the known bytes end. */
  end = 0;
  /** Nothing comes after `end`. */
  ended = false;
  /** Lines that the parser has taken since it was last run, where it counts them; otherwise line breaks are looked for. */
  linesTaken: number | undefined;
  /** Line breaks in what was dropped from the window. */
  #linesBefore = 0;

  constructor(
    readonly file: string,
    readonly source: AsyncGenerator<Buffer, void, undefined>,
  ) {}

  /** Reads the stream to its end; `run` takes every whole form of the window. The source is closed whatever happens. */
  async readAll(run: () => void): Promise<void> {
    try {
      while (await this.more()) run();
    } finally {
      await this.source.return();
    }
  }

  /** Drops what was parsed and reads on; false when there is nothing more. */
  private async more(): Promise<boolean> {
    if (this.ended) return false;
    this.#linesBefore += this.linesTaken ?? countBreaks(this.bytes, 0, this.at);
    this.bytes.copyWithin(0, this.at, this.end);
    this.end -= this.at;
    this.at = 0;
    const wanted = this.end * 2 + 1;
    while (this.end < wanted) {
      const next = await this.source.next();
      if (next.done === true) {
        this.ended = true;
        break;
      }
      this.#take(next.value);
    }
    return true;
  }

  /** The line a place in the window stands on. */
  lineAt(offset: number): number {
    return this.#linesBefore + countBreaks(this.bytes, 0, offset) + 1;
  }

  fail(offset: number, problem: string, field?: string): never {
    throw new FileError({ file: this.file, line: this.lineAt(offset), field }, problem);
  }

  #take(block: Buffer): void {
    if (this.end + block.length > this.bytes.length) {
      if (this.end + block.length > maxFormBytes) {
        this.fail(0, `an entry that begins here is longer than ${maxFormBytes} bytes`);
      }
      const bigger = Buffer.allocUnsafe(Math.max(this.bytes.length * 2, this.end + block.length));
      this.bytes.copy(bigger, 0, 0, this.end);
      this.bytes = bigger;
    }
    block.copy(this.bytes, this.end);
    this.end += block.length;
  }
}

function countBreaks(bytes: Buffer, from: number, to: number): number {
  let count = 0;
  for (let at = bytes.indexOf(10, from); at >= 0 && at < to; at = bytes.indexOf(10, at + 1)) count++;
  return count;
}
