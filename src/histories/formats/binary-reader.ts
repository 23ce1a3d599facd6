/** Takes integers, flags and texts off binary data; every complaint names the byte and what was expected there. */
import { FileError } from '../../errors.js';
import type { KvName } from '../kv-history.js';

export class BinaryReader {
  at = 0;

  constructor(
    readonly bytes: Buffer,
    readonly file: string,
    readonly littleEndian: boolean,
  ) {}

  atEnd(): boolean {
    return this.at >= this.bytes.length;
  }

  fail(expected: string, found?: string): never {
    const what = found ?? (this.atEnd() ? 'the end of the file' : `0x${this.bytes[this.at]!.toString(16)}`);
    throw new FileError({ file: this.file, field: `byte ${this.at}` }, `expected ${expected}, found ${what}`);
  }

  byte(expected: string): number {
    if (this.atEnd()) this.fail(expected);
    return this.bytes[this.at++]!;
  }

  flag(expected: string): boolean {
    if (this.atEnd() || this.bytes[this.at]! > 1) this.fail(`${expected} (0 or 1)`);
    return this.bytes[this.at++] === 1;
  }

  /** An unsigned integer of 8 bytes; one that a double does not hold comes as its digits. */
  integer(expected: string): KvName {
    if (this.at + 8 > this.bytes.length) {
      this.fail(`${expected} (8 bytes)`, `${this.bytes.length - this.at} bytes before the end of the file`);
    }
    const { bytes, at } = this;
    const high = this.littleEndian ? bytes.readUInt32LE(at + 4) : bytes.readUInt32BE(at);
    const low = this.littleEndian ? bytes.readUInt32LE(at) : bytes.readUInt32BE(at + 4);
    this.at += 8;
    if (high < 0x200000) return high * 2 ** 32 + low;
    return ((BigInt(high) << 32n) | BigInt(low)).toString();
  }

  /** An integer that nobody asks for. */
  skipInteger(expected: string): void {
    if (this.at + 8 > this.bytes.length) this.integer(expected);
    this.at += 8;
  }

  /** A number of things that take at least so many bytes each. */
  count(expected: string, leastBytes: number): number {
    const start = this.at;
    const count = this.integer(expected);
    if (typeof count === 'number' && count * leastBytes <= this.bytes.length - this.at) return count;
    this.at = start;
    return this.fail(expected, `${count}, more than the rest of the file can hold`);
  }

  text(expected: string): string {
    const length = this.count(`the length of ${expected}`, 1);
    this.at += length;
    return this.bytes.toString('utf8', this.at - length, this.at);
  }
}
