/** The fast reader of JSON: it may refuse anything, but what it takes is what JSON.parse takes. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { JsonScanner, letters } from './json-scanner.js';

function scanner(text: string): JsonScanner {
  const scan = new JsonScanner();
  const bytes = Buffer.from(text);
  scan.set(bytes, 0, bytes.length);
  return scan;
}

describe('names', () => {
  it.each<[text: string, found: unknown]>([
    ['5,', 5],
    ['-5]', -5],
    ['0}', 0],
    ['-0,', 0],
    ['  7 ', 7],
    ['999999999999999,', 999999999999999],
    ['"abc"', 'abc'],
    ['""', ''],
    ['"5"', '5'],
    ['"a b~"', 'a b~'],
  ])('%j is read', (text, found) => {
    const scan = scanner(text);
    expect(scan.name()).toBe(true);
    expect(scan.found).toBe(found);
  });

  it.each([
    '1000000000000000,', // sixteen digits: left to the exact reader
    '05,',
    '1.5,',
    '1e3,',
    '-,',
    '+1,',
    '5', // its end is not seen
    '5x',
    '"abc',
    String.raw`"a\n"`,
    '"é"',
    '"\u0001"',
    'true,',
    ',',
    '',
  ])('%j is left to the general reader', (text) => {
    expect(scanner(text).name()).toBe(false);
  });

  it('are never read otherwise than JSON.parse reads them', () => {
    const text = fc.oneof(
      fc.string({ unit: fc.constantFrom(...'0123456789-+.eE"\\ '), maxLength: 20 }),
      fc.json(),
      fc.integer().map(String),
    );
    fc.assert(
      fc.property(text, fc.constantFrom(',', ']', '}', ' ', '\n'), (value, after) => {
        const scan = scanner(value + after);
        if (!scan.name()) return;
        const read = (value + after).slice(0, scan.at);
        // JSON has no −0 to give back.
        expect(JSON.stringify(scan.found)).toBe(JSON.stringify(JSON.parse(read)));
      }),
      { numRuns: 1000 },
    );
  });
});

describe('structure', () => {
  it('takes what it is asked for, past white space, and nothing else', () => {
    const scan = scanner(' \n\t{ "value" : [ true , false , null ] }');
    expect(scan.take(125)).toBe(false);
    expect(scan.take(123)).toBe(true);
    expect(scan.member(letters('val'))).toBe(false);
    expect(scan.member(letters('values'))).toBe(false);
    expect(scan.member(letters('value'))).toBe(true);
    expect(scan.take(91)).toBe(true);
    const literals: unknown[] = [];
    do literals.push(scan.literal() && scan.found);
    while (scan.take(44));
    expect(literals).toEqual([true, false, null]);
    expect(scan.take(93)).toBe(true);
    expect(scan.take(125)).toBe(true);
    expect(scan.peek()).toBe(-1);
  });

  it('does not read past its end, though the bytes go on', () => {
    const scan = new JsonScanner();
    const bytes = Buffer.from('"value",12345,true}');
    scan.set(bytes, 0, 4);
    expect(scan.text(letters('value'))).toBe(false);
    scan.set(bytes, 8, 11);
    expect(scan.integer()).toBe(false);
    scan.set(bytes, 14, 16);
    expect(scan.literal()).toBe(false);
    scan.set(bytes, 18, 18);
    expect(scan.take(125)).toBe(false);
  });

  it('stays where it was when a text is another', () => {
    const scan = scanner('"ab"');
    expect(scan.text(letters('ac'))).toBe(false);
    expect(scan.text(letters('ab'))).toBe(true);
  });
});
