/** Binary data: integers of eight bytes in both orders, and complaints that name the byte. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BinaryReader } from './binary-reader.js';

const eight = (value: bigint, little: boolean): Buffer => {
  const bytes = Buffer.alloc(8);
  if (little) bytes.writeBigUInt64LE(value);
  else bytes.writeBigUInt64BE(value);
  return bytes;
};

describe('an integer', () => {
  it('keeps all its digits, in either order of bytes', () => {
    const value = fc.oneof(
      fc.bigInt(0n, 2n ** 64n - 1n),
      fc.constantFrom(0n, 2n ** 53n - 1n, 2n ** 53n, 2n ** 32n),
    );
    fc.assert(
      fc.property(value, fc.boolean(), (integer, little) => {
        const read = new BinaryReader(eight(integer, little), 'f', little).integer('x');
        expect(String(read)).toBe(String(integer));
        // Beyond what a double holds, digits are a text, so that no two become one.
        expect(typeof read).toBe(integer < 2n ** 53n ? 'number' : 'string');
      }),
    );
  });
});

describe('complaints', () => {
  const reader = (...bytes: number[]) => new BinaryReader(Buffer.from(bytes), 'f.log', true);

  it.each<[what: string, read: (r: BinaryReader) => unknown, bytes: number[], message: string]>([
    ['byte', (r) => r.byte('a record'), [], 'f.log (byte 0): expected a record, found the end of the file'],
    ['flag', (r) => r.flag('success'), [2], 'f.log (byte 0): expected success (0 or 1), found 0x2'],
    [
      'flag',
      (r) => r.flag('success'),
      [],
      'f.log (byte 0): expected success (0 or 1), found the end of the file',
    ],
    [
      'integer',
      (r) => r.integer('a key'),
      [1, 2, 3],
      'f.log (byte 0): expected a key (8 bytes), found 3 bytes before the end of the file',
    ],
    [
      'skipped integer',
      (r) => r.skipInteger('a hash'),
      [1],
      'f.log (byte 0): expected a hash (8 bytes), found 1 bytes before the end of the file',
    ],
    [
      'count',
      (r) => r.count('sessions', 8),
      [2, 0, 0, 0, 0, 0, 0, 0, 9, 9],
      'f.log (byte 0): expected sessions, found 2, more than the rest of the file can hold',
    ],
    [
      'text',
      (r) => r.text('info'),
      [3, 0, 0, 0, 0, 0, 0, 0, 65, 66],
      'f.log (byte 0): expected the length of info, found 3, more than the rest of the file can hold',
    ],
  ])('of a %s name the place', (_, read, bytes, message) => {
    expect(() => read(reader(...bytes))).toThrow(message);
  });

  it('name the byte they are at, after what was read', () => {
    const r = reader(1, 0, 7);
    expect(r.flag('first')).toBe(true);
    expect(r.flag('second')).toBe(false);
    expect(() => r.flag('third')).toThrow('f.log (byte 2): expected third (0 or 1), found 0x7');
  });

  it('take a count that fits exactly, and a text with it', () => {
    const r = reader(2, 0, 0, 0, 0, 0, 0, 0, 0xc3, 0xa9);
    expect(r.text('info')).toBe('é');
    expect(r.atEnd()).toBe(true);
  });
});
