import { expect, it } from 'vitest';
import { shortText, shown, shownText } from './shown.js';

it('hidden characters are shown and texts are cut', () => {
  expect(shownText('a\u202eb\u0007')).toBe(String.raw`a\u202eb\x07`);
  const long = shownText('x'.repeat(1_000_000));
  expect(long.length).toBeLessThan(4100);
  expect(long).toContain('996000 more characters');
});

it('cuts no character in two, and leaves the rest to whoever prints it', () => {
  expect(shortText('abc', 3)).toBe('abc');
  expect(shortText('\u202eabcd', 3)).toBe('\u202eab… (2 more characters)');
  expect(shortText('ab🦆cd', 3)).toBe('ab… (4 more characters)');
});

it('every text of a value, names of members too', () => {
  const value = { rows: [{ 'a\u202e': ['\u2066<script>'] }], count: 3, none: null };
  expect(shown(value)).toEqual({
    rows: [{ 'a\\u202e': ['\\u2066<script>'] }],
    count: 3,
    none: null,
  });
});
