import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { levels, parseLevel, shortLevel } from './level.js';

const anyLevel = fc.constantFrom(...levels);
const gap = fc.constantFrom(' ', '-', '_', '  ', ' - ');

describe('a level', () => {
  it('is read back from its short name and from itself, in any case', () => {
    fc.assert(
      fc.property(anyLevel, fc.boolean(), (level, upper) => {
        const cased = (text: string) => (upper ? text.toUpperCase() : text.toLowerCase());
        expect(parseLevel(cased(shortLevel(level)))).toBe(level);
        expect(parseLevel(cased(level))).toBe(level);
      }),
    );
  });

  it('is read with any gap between its words and blanks around them', () => {
    fc.assert(
      fc.property(anyLevel, gap, gap, (level, between, around) => {
        const text = level.split(' ').join(between);
        expect(parseLevel(`${around.trim() === '' ? around : ''}${text} `)).toBe(level);
      }),
    );
  });

  it('is nothing else: no prefix of a name, no member of every object', () => {
    const known = new Set([...levels, ...levels.map((level) => shortLevel(level).toLowerCase())]);
    known.add('sr').add('snapshot isolation');
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.constantFrom('constructor', 'toString', 'read', 's')), (text) => {
        const words = text
          .trim()
          .toLowerCase()
          .replaceAll(/[-_\s]+/g, ' ');
        expect(parseLevel(text) !== undefined).toBe(known.has(words));
      }),
    );
  });
});
