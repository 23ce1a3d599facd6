import { describe, expect, it } from 'vitest';
import { FileError } from './errors.js';
import { parseJson } from './json.js';

describe('parseJson', () => {
  it.each([
    ['lists', (depth: number) => '['.repeat(depth) + ']'.repeat(depth)],
    ['lists that do not end', (depth: number) => '['.repeat(depth)],
    ['objects', (depth: number) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`],
    ['both, on lines', (depth: number) => `${'[\n{"a\\"[": '.repeat(depth / 2)}1${'}]'.repeat(depth / 2)}`],
  ])('refuses %s nested beyond reason, with the line', (_, nested) => {
    expect(() => parseJson(nested(100_000), 'f.json')).toThrow(FileError);
    expect(() => parseJson(nested(100_000), 'f.json')).toThrow(/^f\.json:\d+: it is nested too deeply/);
  });

  it('takes brackets inside text for text', () => {
    const text = `${'['.repeat(1000)}\\"${'{'.repeat(1000)}\\\\`;
    expect(parseJson(`["${text}", ["${text}"]]`, 'f.json').items()).toHaveLength(2);
    const deep = '['.repeat(500) + ']'.repeat(500);
    expect(parseJson(deep, 'f.json').items()).toHaveLength(1);
  });
});

it.each([
  ['nothing where an object is wanted', '{"a": null}', 'f.json:1 (a): expected an object, found null'],
  ['what is left out', '{}', 'f.json:1 (a): expected an object, found nothing'],
])('a member of %s is refused with its place', (_, text, message) => {
  expect(() => parseJson(text, 'f.json').at('a').at('b')).toThrow(FileError);
  expect(() => parseJson(text, 'f.json').at('a').at('b')).toThrow(message);
});
