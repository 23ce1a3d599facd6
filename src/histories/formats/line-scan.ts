/**
 * Goes through a text format line by line, the common lines straight from their bytes.
 *
 * `fast` reads the line that begins at a place and returns the place after its line break, or -1; then `slow` gets the
 * line as text, with its number. A line that is not whole yet waits for the next block.
 */
import { isUtf8 } from 'node:buffer';
import { notUtf8 } from '../lossy-text.js';
import { ByteWindow } from './byte-window.js';
import type { FormatInput } from './format.js';

export interface LineReader {
  fast(bytes: Buffer, from: number, end: number): number;
  /** `whole`: the line has its line break; only the last one of a file may have none. */
  slow(line: string, number: () => number, whole: boolean): void;
}

export async function scanLines(input: FormatInput, reader: LineReader, entry?: string): Promise<void> {
  const shown = entry === undefined ? input.shown : `${input.shown}/${entry}`;
  const window: ByteWindow = new ByteWindow(shown, input.bytes(entry));
  await window.readAll(() => {
    const { bytes, end } = window;
    window.linesTaken = 0;
    while (window.at < end) {
      const from = window.at;
      const next = reader.fast(bytes, from, end);
      if (next >= 0) {
        window.at = next;
        window.linesTaken++;
        continue;
      }
      const found = bytes.indexOf(10, from);
      const isWhole = found >= 0 && found < end;
      if (!isWhole && !window.ended) return;
      let to = isWhole ? found : end;
      if (to > from && bytes[to - 1] === 13) to--;
      if (!isUtf8(bytes.subarray(from, to))) window.fail(from, notUtf8);
      reader.slow(bytes.toString('utf8', from, to), () => window.lineAt(from), isWhole);
      window.at = isWhole ? found + 1 : end;
      window.linesTaken++;
    }
  });
}

/** Takes unsigned integers of at most 15 digits, as they are usually spelt, off bytes. */
export class DigitScanner {
  /** What was found. */
  number = 0;

  /** The place after the digits that begin at `from`, or -1. */
  scan(bytes: Buffer, from: number, end: number): number {
    let at = from;
    let number = 0;
    for (; at < end; at++) {
      const digit = bytes[at]! - 48;
      if (digit < 0 || digit > 9) break;
      number = number * 10 + digit;
    }
    const length = at - from;
    if (length === 0 || length > 15 || (length > 1 && bytes[from] === 48) || at >= end) return -1;
    this.number = number;
    return at;
  }

  /** The place after the line break at `at`, or -1. */
  lineEnd(bytes: Buffer, at: number, end: number): number {
    const to = bytes[at] === 13 ? at + 1 : at;
    return to < end && bytes[to] === 10 ? to + 1 : -1;
  }
}
