/** Lines built byte by byte are the lines JSON.stringify would build, whatever the room they began with. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ByteText } from './byte-text.js';

const built = (capacity: number, add: (text: ByteText) => void): string => {
  const text = new ByteText(capacity);
  add(text);
  return text.take().toString('utf8');
};

describe('numbers', () => {
  it.each([
    0, 9, 10, 999999999, 1000000000, 1000000001, 2147483648, 4294967296, 999999999999, 1000000000000000000000,
    9007199254740991, 9007199254740992, -1, -0, 0.5, 1e300, 1e-7,
  ])('%s', (number) => {
    expect(built(0, (text) => text.number(number))).toBe(JSON.stringify(number));
  });

  it('of any size', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.maxSafeNat(), fc.maxSafeInteger(), fc.double({ noNaN: true, noDefaultInfinity: true })),
        (number) => {
          expect(built(1, (text) => text.number(number))).toBe(JSON.stringify(number));
        },
      ),
      { numRuns: 200 },
    );
  });
});

describe('texts', () => {
  it('are quoted as JSON quotes them', () => {
    const any = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 20 }),
      fc.string(),
      fc.constantFrom('"', '\\', '\u0000', '\u007f', 'é', '😀', '\ud800'),
    );
    fc.assert(
      fc.property(any, fc.nat(40), (string, capacity) => {
        expect(built(capacity, (text) => text.quoted(string))).toBe(JSON.stringify(string));
      }),
      { numRuns: 200 },
    );
  });

  it('stand one after the other, and are gone when they were taken', () => {
    const text = new ByteText(2);
    text.ascii('{"a":');
    text.number(12);
    text.ascii(',"b":');
    text.quoted('é');
    text.ascii(',"c":');
    text.json({ d: [null, 'x'] });
    text.ascii('}');
    expect(text.length).toBe(Buffer.byteLength('{"a":12,"b":"é","c":{"d":[null,"x"]}}'));
    const first = text.take();
    expect(text.length).toBe(0);
    text.ascii('overwritten?');
    expect(JSON.parse(first.toString('utf8'))).toEqual({ a: 12, b: 'é', c: { d: [null, 'x'] } });
  });
});
