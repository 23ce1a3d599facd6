import fc from 'fast-check';
import { expect, it } from 'vitest';
import { matchLike } from './like.js';
import { isUndecidable } from './undecidable.js';

/** LIKE by its definition: `%` is any number of characters, `_` one. Exponential, obvious. */
function naive(text: string, pattern: string): boolean {
  if (pattern === '') return text === '';
  const [first, rest] = [pattern[0]!, pattern.slice(1)];
  if (first === '%') return naive(text, rest) || (text !== '' && naive(text.slice(1), pattern));
  return text !== '' && (first === '_' || first === text[0]) && naive(text.slice(1), rest);
}

const text = fc.string({ unit: fc.constantFrom('a', 'b', '%', '_'), maxLength: 7 });
const pattern = fc.string({ unit: fc.constantFrom('a', 'b', '%', '_'), maxLength: 6 });

it('agrees with its definition in every dialect', () => {
  fc.assert(
    fc.property(text, pattern, fc.constantFrom('postgres', 'mysql', 'sqlite', 'duckdb'), (t, p, dialect) => {
      expect(matchLike(t, p, { dialect })).toBe(naive(t, p));
    }),
    { numRuns: 500 },
  );
});

it('takes characters behind the escape as they are', () => {
  fc.assert(
    fc.property(text, text, (t, other) => {
      const escaped = t.replaceAll(/[%_]/g, '!$&');
      expect(matchLike(t, escaped, { dialect: 'postgres', escape: '!' })).toBe(true);
      expect(matchLike(other, escaped, { dialect: 'postgres', escape: '!' })).toBe(other === t);
    }),
  );
});

it.each([
  ['A', 'a', 'postgres', false],
  ['A', 'a', 'duckdb', false],
  ['A', 'a', 'sqlite', true],
] as const)('%s LIKE %s in %s: %s', (t, p, dialect, expected) => {
  expect(matchLike(t, p, { dialect })).toBe(expected);
});

it('leaves to the collation what only it decides', () => {
  expect(isUndecidable(matchLike('A', 'a', { dialect: 'mysql' }))).toBe(true);
  expect(isUndecidable(matchLike('Ä', 'ä', { dialect: 'sqlite' }))).toBe(true);
  expect(isUndecidable(matchLike('a', '\\', { dialect: 'postgres' }))).toBe(true);
});
