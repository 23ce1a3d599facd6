import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { oneLine, showControls } from './visible.js';

/** Control characters but line breaks and tabs, line separators, direction marks. */
const steering = /(?![\n\t])\p{Cc}|[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/u;

describe('showControls', () => {
  it('shows what steers a terminal or turns the reading direction', () => {
    expect(showControls('\u001b]0;title\u0007\r\u009b2J')).toBe('\\x1b]0;title\\x07\\x0d\\u009b2J');
    expect(showControls('a\u202eb\u2066c\u061cd')).toBe('a\\u202eb\\u2066c\\u061cd');
    expect(showControls('\u{e0041}')).toBe('\\udb40\\udc41');
  });

  it('leaves letters of every script, emoji, line breaks and tabs', () => {
    const text = 'a\tb\nçığ Ω 漢字 नमस्ते می‌خواهم 👩‍👩‍👧';
    expect(showControls(text)).toBe(text);
  });

  it('leaves nothing of it in any text, and any JSON text the same JSON', () => {
    const nasty = fc.string({ unit: fc.constantFrom(...'ab\u001b\u009b\u202e\u2028\u007f\ufeff\n\r"\\') });
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), nasty), (text) => {
        expect(showControls(text)).not.toMatch(steering);
        expect(oneLine(text)).not.toContain('\n');
        expect(JSON.parse(showControls(JSON.stringify({ text })))).toEqual({ text });
      }),
    );
  });
});
