/** Integers and bytes that reading would change. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { lossyText, notUtf8 } from './lossy-text.js';

const lost = (text: string) => lossyText(Buffer.from(text), text);

describe('a JSON text', () => {
  it.each([
    '[9007199254740991]',
    '[9007199254740992]', // the double itself
    '["9007199254740993"]',
    String.raw`["a\"9007199254740993"]`,
    '[123456789012345680000]',
    '[0.12345678901234567]',
    '[1.5e22]',
    '{"1234567890123456789":1}',
    '',
  ])('%s loses nothing', (text) => {
    expect(lost(text)).toBeUndefined();
  });

  it.each([
    '[9007199254740993]',
    '[-9007199254740993]',
    '["\\\\", 9007199254740993]',
    '{"a":12345678901234567890}',
  ])('%s would be rounded', (text) => {
    expect(lost(text)).toMatch(/^the integer -?\d+ is beyond what JSON numbers hold exactly/);
  });

  it('is refused exactly where an integer comes back as another', () => {
    fc.assert(
      fc.property(fc.bigInt(-(2n ** 70n), 2n ** 70n), (integer) => {
        const changed = BigInt(Number(integer)) !== integer;
        // A rounded one is always noticed; one that is kept is refused only if it is not spelt as usual.
        if (changed) expect(lost(`[${integer}]`)).toBeDefined();
        else if (String(Number(integer)) === String(integer)) expect(lost(`[${integer}]`)).toBeUndefined();
      }),
    );
  });

  it('is refused where its bytes are no UTF-8', () => {
    const bytes = Buffer.from('["\xff"]', 'latin1');
    expect(lossyText(bytes, bytes.toString('utf8'))).toBe(notUtf8);
  });
});
