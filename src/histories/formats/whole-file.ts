/** Whole files in memory, for formats whose files are small. */
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

/** The same, refused unless it is UTF-8. */
export async function allUtf8(blocks: AsyncIterable<Buffer>, shown: string): Promise<Buffer> {
  const bytes = await allBytes(blocks, shown);
  if (!isUtf8(bytes)) throw new FileError({ file: shown, line: badLine(bytes) }, notUtf8);
  return bytes;
}

/** The first line, from 1, that is no UTF-8. */
function badLine(bytes: Buffer): number {
  let line = 1;
  for (let at = 0; at < bytes.length; line++) {
    const found = bytes.indexOf(10, at);
    const end = found < 0 ? bytes.length : found;
    if (!isUtf8(bytes.subarray(at, end))) return line;
    at = end + 1;
  }
  return line;
}
