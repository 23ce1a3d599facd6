/** EDN as Jepsen writes it, and JSON through the same reader: every form, and every complaint with its place. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type Edn,
  EdnAtom,
  EdnEnd,
  EdnMap,
  EdnProblem,
  EdnReader,
  EdnSet,
  nameOf,
  printEdn,
} from './edn-reader.js';
import { parseExactJson } from './exact-json.js';

function read(text: string, json = false): Edn {
  const bytes = Buffer.from(`${text} `, 'utf8');
  return new EdnReader(bytes, 0, bytes.length, json).read();
}

/** A form as plain data, with classes told apart. */
function plain(value: Edn): unknown {
  if (value instanceof EdnAtom) return { atom: value.text };
  if (value instanceof EdnSet) return { set: value.items.map(plain) };
  if (value instanceof EdnMap) return { map: value.entries.map(([key, item]) => [plain(key), plain(item)]) };
  return Array.isArray(value) ? value.map((item) => plain(item as Edn)) : value;
}

describe('a form', () => {
  it.each<[text: string, value: unknown]>([
    ['nil', null],
    ['true', true],
    ['false', false],
    ['null', { atom: 'null' }],
    ['0', 0],
    ['-0', 0],
    ['+5', 5],
    ['-17', -17],
    ['5N', 5],
    ['9007199254740991', 9007199254740991],
    ['9007199254740992', { atom: '9007199254740992' }],
    ['-9007199254740993', { atom: '-9007199254740993' }],
    ['+9007199254740993N', { atom: '9007199254740993' }],
    ['1.5', 1.5],
    ['1.', 1],
    ['-0.0', 0],
    ['1e3', 1000],
    ['1.5M', 1.5],
    ['0.1234567890123456789M', { atom: '0.1234567890123456789M' }],
    ['1e999', { atom: '1e999' }],
    ['##Inf', Number.POSITIVE_INFINITY],
    ['##-Inf', Number.NEGATIVE_INFINITY],
    ['##Other', { atom: '##Other' }],
    [':ok', { atom: ':ok' }],
    [':a/b', { atom: ':a/b' }],
    ['sym', { atom: 'sym' }],
    ['"text"', 'text'],
    ['""', ''],
    [String.raw`"a\nb\t\"\\"`, 'a\nb\t"\\'],
    [String.raw`"\u0041\101"`, 'AA'],
    ['"é😀"', 'é😀'],
    ['"two\nlines"', 'two\nlines'],
    [String.raw`\a`, 'a'],
    [String.raw`\newline`, '\n'],
    [String.raw`\space`, ' '],
    [String.raw`\u0041`, 'A'],
    ['[]', []],
    ['[1 2]', [1, 2]],
    ['(1, 2)', [1, 2]],
    ['[1,2,,3]', [1, 2, 3]],
    ['[[1] (2)]', [[1], [2]]],
    ['{}', { map: [] }],
    [
      '{:a 1, :b [2]}',
      {
        map: [
          [{ atom: ':a' }, 1],
          [{ atom: ':b' }, [2]],
        ],
      },
    ],
    ['#{1 2}', { set: [1, 2] }],
    // Comments, discarded forms, tags and metadata say nothing.
    ['; a comment\n 5', 5],
    ['[1 ; one\n 2]', [1, 2]],
    ['[1 #_2 3]', [1, 3]],
    ['#_{:a [1 2]} 5', 5],
    ['#_ #_ 1 2 3', 3],
    ['#inst "2024-02-29"', '2024-02-29'],
    ['#jepsen.history.Op{:index 1}', { map: [[{ atom: ':index' }, 1]] }],
    ['^{:line 3} [1]', [1]],
    ['#"regex"', 'regex'],
  ])('%s', (text, value) => {
    expect(plain(read(text))).toEqual(value);
  });

  it('NaN is a number that is none', () => {
    expect(read('##NaN')).toBeNaN();
    expect(nameOf(read('##NaN'))).toBe('NaN');
  });
});

describe('what is no form', () => {
  it.each<[text: string, offset: number, message: string]>([
    [')', 0, 'expected a value, found ")"'],
    ['[1 }', 3, 'expected "]" to close "[", found "}"'],
    ['(1 ]', 3, 'expected ")" to close "(", found "]"'],
    ['{:a 1 :b}', 0, 'a map has a key without a value'],
    ['# 5', 1, 'expected a tag after "#"'],
    [`${'['.repeat(102)}`, 101, 'it is nested too deeply'],
  ])('%s', (text, offset, message) => {
    const thrown = (() => {
      try {
        return read(text);
      } catch (error) {
        return error;
      }
    })();
    expect(thrown).toBeInstanceOf(EdnProblem);
    expect(thrown).toMatchObject({ offset, message });
  });

  it.each(['', '[', '[1', '{:a', '"abc', String.raw`"abc\"`, '#', '#{1', '^', '; only a comment', '#_'])(
    '%s ends too early, which is another thing',
    (text) => {
      const bytes = Buffer.from(text);
      expect(() => new EdnReader(bytes, 0, bytes.length).read()).toThrow(EdnEnd);
    },
  );

  it('a number whose end is not seen may go on in the next block', () => {
    const bytes = Buffer.from('123');
    expect(() => new EdnReader(bytes, 0, bytes.length).read()).toThrow(EdnEnd);
  });

  it('bytes that are no UTF-8 are refused inside texts and names', () => {
    for (const text of ['"\xff" ', ':\xff ']) {
      const bytes = Buffer.from(text, 'latin1');
      expect(() => new EdnReader(bytes, 0, bytes.length).read()).toThrow('not UTF-8');
    }
  });

  it('never reads beyond its window', () => {
    const bytes = Buffer.from('[1 2] [3]');
    const reader = new EdnReader(bytes, 0, 5);
    expect(reader.read()).toEqual([1, 2]);
    expect(reader.at).toBe(5);
    expect(() => reader.read()).toThrow(EdnEnd);
  });
});

describe('names of keys and values', () => {
  it.each<[text: string, name: string | number]>([
    ['5', 5],
    ['"5"', '5'],
    ['nil', 'nil'],
    [':x', ':x'],
    ['[1 "a"]', '[1 "a"]'],
    ['9007199254740993', '9007199254740993'],
    // Sets and maps have no order.
    ['#{2 1}', '#{1 2}'],
    ['{:b 1 :a 2}', '{:a 2, :b 1}'],
    ['true', 'true'],
  ])('%s is called %j', (text, name) => {
    expect(nameOf(read(text))).toBe(name);
  });

  it('are printed so that they are read again', () => {
    const atom = fc.constantFrom(':a', ':b/c', 'sym', '9007199254740993').map((text) => new EdnAtom(text));
    const leaf: fc.Arbitrary<Edn> = fc.oneof(
      fc.constant(null),
      fc.boolean(),
      fc.integer(),
      fc.string({ unit: 'binary' }),
      atom,
    );
    const form = fc.letrec<{ form: Edn }>((tie) => ({
      form: fc.oneof(
        { maxDepth: 3 },
        leaf,
        fc.array(tie('form'), { maxLength: 4 }),
        fc.array(fc.tuple(tie('form'), tie('form')), { maxLength: 3 }).map((entries) => new EdnMap(entries)),
      ),
    })).form;
    fc.assert(
      fc.property(form, (value) => {
        expect(printEdn(read(printEdn(value)))).toBe(printEdn(value));
      }),
    );
  });
});

/** Whether a text has no integer of sixteen digits or more. */
const keepsIntegers = (text: string) => !/(?<![.\d])\d{16,}(?![.\deE])/.test(text);

describe('JSON with exact integers', () => {
  it('is what JSON.parse says where nothing is rounded', () => {
    fc.assert(
      fc.property(fc.json().filter(keepsIntegers), (text) => {
        // The long number makes the exact reader take the whole text.
        const whole = `{"long":9007199254740993,"rest":${text}}`;
        expect(parseExactJson(whole)?.value).toEqual({ long: '9007199254740993', rest: JSON.parse(text) });
      }),
    );
  });

  it.each<[text: string, value: unknown]>([
    ['9007199254740993', '9007199254740993'],
    ['[9007199254740992, 9007199254740991]', ['9007199254740992', 9007199254740991]],
    ['-12345678901234567890', '-12345678901234567890'],
    ['["9007199254740993"]', ['9007199254740993']],
    ['{"a":1e400}', { a: '1e400' }],
    ['12345678901234567.5', 12345678901234568],
    ['{"__proto__":9007199254740993}', JSON.parse('{"__proto__":"9007199254740993"}')],
    [String.raw`["\u00e9\/\b", 9007199254740993]`, ['é/\b', '9007199254740993']],
    ['{"a":null,"b":9007199254740993}', { a: null, b: '9007199254740993' }],
  ])('%s', (text, value) => {
    expect(parseExactJson(text)).toEqual({ value });
  });

  it.each([
    '',
    '{',
    '{"a":9007199254740993',
    '[9007199254740993,]',
    '{a:9007199254740993}',
    '09007199254740993',
    'nil',
  ])('%s is no JSON', (text) => {
    expect(parseExactJson(text)).toBeUndefined();
  });

  it('nested beyond reason is given up', () => {
    expect(parseExactJson(`${'['.repeat(200)}9007199254740993${']'.repeat(200)}`)).toBeUndefined();
  });
});
