/** AWDIT's test format: `w key value` and `r key value`, a line of dashes between transactions, of equals signs between sessions. */
import { FileError } from '../../errors.js';
import { settleZeros } from '../initial-values.js';
import { KvBuilder } from '../kv-builder.js';
import type { KvHistory } from '../kv-history.js';
import type { FormatInput, Imported } from './format.js';
import { DigitScanner, type LineReader, scanLines } from './line-scan.js';
import { MicroOps } from './micro-ops.js';
import { addRegisterOp, shown, textName } from './plume.js';

/** `w 12 345` that was cut to `w 12 3` is still a line of the format; so is the last one of a file that somebody edited. */
const openLine = 'the last line has no line break: it may have been cut off, and more may have come after it';

export async function readAwdit(input: FormatInput): Promise<Imported> {
  const reader = new AwditLines(input.shown);
  await scanLines(input, reader);
  return { kind: 'kv', history: settleZeros(reader.finish(), 'explicit') };
}

class AwditLines implements LineReader {
  readonly #shown: string;
  readonly #builder = new KvBuilder({ definitions: 'axiomatic' });
  readonly #ops = new MicroOps();
  readonly #digits = new DigitScanner();
  #session = 0;
  #cut = false;

  constructor(shown: string) {
    this.#shown = shown;
  }

  fast(bytes: Buffer, from: number, end: number): number {
    const kind = bytes[from];
    if ((kind !== 119 && kind !== 114) || bytes[from + 1] !== 32) return -1;
    const digits = this.#digits;
    let at = digits.scan(bytes, from + 2, end);
    const key = digits.number;
    if (at < 0 || bytes[at] !== 32) return -1;
    at = digits.scan(bytes, at + 1, end);
    const next = at < 0 ? -1 : digits.lineEnd(bytes, at, end);
    if (next >= 0) addRegisterOp(this.#ops, kind === 119, key, digits.number);
    return next;
  }

  slow(text: string, number: () => number, whole: boolean): void {
    const line = text.trim();
    if (line === '') return;
    if (/^-{3,}$/.test(line)) this.#close();
    else if (/^={3,}$/.test(line)) {
      this.#close();
      this.#session++;
    } else {
      const match = /^([rw])\s+(\S+)\s+(\S+)$/.exec(line);
      if (match === null) {
        throw new FileError(
          { file: this.#shown, line: number() },
          `expected "r key value", "w key value", ----- or =====, found ${shown(line)}`,
        );
      }
      if (whole) addRegisterOp(this.#ops, match[1] === 'w', textName(match[2]!), textName(match[3]!));
      else this.#cut = true;
    }
  }

  finish(): KvHistory {
    this.#close();
    return { ...this.#builder.build(), ...(this.#cut && { omitted: [openLine] }) };
  }

  #close(): void {
    if (this.#ops.length === 0) return;
    this.#builder.begin(this.#session);
    this.#ops.sendTo(this.#builder, true);
    this.#builder.end('committed');
    this.#ops.clear();
  }
}
