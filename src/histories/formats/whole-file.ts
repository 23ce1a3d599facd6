/** Whole files in memory and lines of text, for formats whose files are small or are read line by line. */
import { isUtf8 } from 'node:buffer';
import { FileError } from '../../errors.js';
import { notUtf8 } from '../lossy-text.js';

const maxTextBytes = 500 * 1024 * 1024;

/** All bytes of a stream. */
export async function allBytes(blocks: AsyncIterable<Buffer>, shown: string): Promise<Buffer> {
  const kept: Buffer[] = [];
  let count = 0;
  for await (const block of blocks) {
    count += block.length;
    if (count > maxTextBytes) {
      throw new FileError(
        { file: shown },
        `it is longer than ${maxTextBytes} bytes, more than this format is read with`,
      );
    }
    kept.push(Buffer.from(block));
  }
  return Buffer.concat(kept);
}

/** Goes through the lines of a stream of text. */
export async function eachLine(
  blocks: AsyncIterable<Buffer>,
  shown: string,
  take: (line: string, number: number) => void,
): Promise<void> {
  const carry: Buffer[] = [];
  let carried = 0;
  let number = 0;
  const takeLines = (bytes: Buffer): void => {
    if (!isUtf8(bytes)) throw new FileError({ file: shown, line: number + badLine(bytes) }, notUtf8);
    const text = bytes.toString('utf8');
    for (let at = 0; at <= text.length; ) {
      const found = text.indexOf('\n', at);
      const end = found < 0 ? text.length : found;
      take(
        text.charCodeAt(end - 1) === 13 && end > at ? text.slice(at, end - 1) : text.slice(at, end),
        ++number,
      );
      at = end + 1;
    }
  };
  for await (const block of blocks) {
    const end = block.lastIndexOf(10);
    if (end >= 0) {
      carry.push(block.subarray(0, end));
      takeLines(carry.length === 1 ? carry[0]! : Buffer.concat(carry));
      carry.length = 0;
      carried = 0;
    }
    if (end + 1 === block.length) continue;
    carried += block.length - end - 1;
    if (carried > maxTextBytes)
      throw new FileError({ file: shown, line: number + 1 }, 'the line is too long');
    carry.push(Buffer.from(block.subarray(end + 1)));
  }
  if (carried > 0) takeLines(Buffer.concat(carry));
}

/** The first line, from 1, that is no UTF-8. */
export function badLine(bytes: Buffer): number {
  let line = 1;
  for (let at = 0; at < bytes.length; line++) {
    const found = bytes.indexOf(10, at);
    const end = found < 0 ? bytes.length : found;
    if (!isUtf8(bytes.subarray(at, end))) return line;
    at = end + 1;
  }
  return line;
}
