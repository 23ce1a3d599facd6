/** Whole files in memory and lines of text, for formats whose files are small or are read line by line. */
import { FileError } from '../../errors.js';

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
  const takeText = (text: string): void => {
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
      takeText((carry.length === 1 ? carry[0]! : Buffer.concat(carry)).toString('utf8'));
      carry.length = 0;
      carried = 0;
    }
    if (end + 1 === block.length) continue;
    carried += block.length - end - 1;
    if (carried > maxTextBytes)
      throw new FileError({ file: shown, line: number + 1 }, 'the line is too long');
    carry.push(Buffer.from(block.subarray(end + 1)));
  }
  if (carried > 0) takeText(Buffer.concat(carry).toString('utf8'));
}
