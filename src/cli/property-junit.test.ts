/** Properties as JUnit: each once, as passed, failed, mistaken or left out. */
import { describe, expect, it } from 'vitest';
import { property } from '../properties/index.js';
import { printPropertyJunit } from './property-junit.js';

const named = (...names: string[]) => names.map((name) => property(name, () => undefined));
const failure = (name: string | undefined, message = 'rows are lost') => ({
  failure: {
    kind: name === undefined ? 'crash' : 'assertion',
    message,
    ...(name !== undefined && { property: name }),
  },
});
const result = (parts: object) =>
  ({ failures: [], leftOut: [], mistaken: [], lost: [], ...parts }) as unknown as Parameters<
    typeof printPropertyJunit
  >[1];

/** `name: what became of it`. */
function cases(xml: string): string[] {
  return [...xml.matchAll(/<testcase [^>]*? name="([^"]*)"[^>]*?(?:\/>|>([\s\S]*?)<\/testcase>)/g)].map(
    ([, name, body = '']) => {
      const became = /<(failure|error|skipped)/.exec(body)?.[1] ?? 'passed';
      return `${name}: ${became}`;
    },
  );
}

describe('the outcome of properties', () => {
  it('names each property once', () => {
    const xml = printPropertyJunit(
      named('a', 'b', 'c', 'd'),
      result({
        failures: [failure('b')],
        leftOut: [{ property: 'c', why: 'no savepoints' }],
        mistaken: ['d'],
      }),
      ['isolde property replay'],
    );
    expect(cases(xml)).toEqual(['a: passed', 'b: failure', 'c: skipped', 'd: error']);
    expect(xml).toContain('no savepoints');
    expect(xml).toContain('replay: isolde property replay');
  });

  it('adds what failed without being asked for: a crash, a predicted read', () => {
    const xml = printPropertyJunit(
      named('a'),
      result({ failures: [failure(undefined), failure('predicted read')] }),
      ['r1', 'r2'],
    );
    expect(cases(xml)).toEqual(['a: passed', 'crash: failure', 'predicted read: failure']);
  });

  it('gives each failure its own replay', () => {
    const xml = printPropertyJunit(named('a', 'b'), result({ failures: [failure('b'), failure('a')] }), [
      'of b',
      'of a',
    ]);
    const [a, b] = xml.split('name="b"');
    expect(a).toContain('replay: of a');
    expect(b).toContain('replay: of b');
  });

  it('lets no text of a database become markup', () => {
    const xml = printPropertyJunit(
      named('<x>&"'),
      result({ failures: [failure('<x>&"', ']]> <script>\u0001')] }),
      ['<r>'],
    );
    expect(xml).not.toContain('<script>');
    expect(xml).not.toContain('\u0001');
    expect(xml).not.toContain('<x>');
  });
});
