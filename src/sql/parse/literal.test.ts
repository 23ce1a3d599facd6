/** Constants and names: what a token stands for in each dialect, and what is better left unread. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Dialect } from '../dialect.js';
import { printExpression, printStatement } from '../print/print.js';
import type { Value } from '../value.js';
import { temporalValue } from './literal.js';
import { parseExpressionText, parseStatement } from './parse.js';
import { unquoteString } from './strings.js';

const dialects: readonly Dialect[] = ['postgres', 'mysql', 'sqlite', 'duckdb'];

/** The constant, `raw` for text kept as it is, `none` where nothing is read. */
function read(sql: string, dialect: Dialect): Value | 'raw' | 'none' | 'float' | 'unary' {
  const expression = parseExpressionText(sql, dialect);
  if (expression === undefined) return 'none';
  if (expression.type === 'literal') return expression.value;
  if (expression.type === 'raw' || expression.type === 'float' || expression.type === 'unary')
    return expression.type;
  throw new Error(`${sql} is ${expression.type}`);
}

type Answer = ReturnType<typeof read>;
const everywhere = (answer: Answer): [Answer, Answer, Answer, Answer] => [answer, answer, answer, answer];

describe('numbers', () => {
  it.each<[sql: string, ...answers: [Answer, Answer, Answer, Answer]]>([
    ['0', ...everywhere(0)],
    ['-0', ...everywhere(0)],
    ['007', ...everywhere(7)],
    ['9007199254740991', ...everywhere(9007199254740991)],
    ['9007199254740992', ...everywhere({ int: '9007199254740992' })],
    ['-9007199254740993', ...everywhere({ int: '-9007199254740993' })],
    ['0000000000000000000000001', ...everywhere(1)],
    ['99999999999999999999999', ...everywhere({ int: '99999999999999999999999' })],
    ['1.50', ...everywhere({ decimal: '1.50' })],
    ['.5', ...everywhere({ decimal: '0.5' })],
    ['-.5', ...everywhere({ decimal: '-0.5' })],
    // `1.` is a decimal without digits behind the point, which no other spelling is; SQLite makes it a float.
    ['1.', 'raw', 'raw', { decimal: '1.0' }, 'raw'],
    ['1e3', ...everywhere('float')],
    ['1.5E-3', ...everywhere('float')],
    // DuckDB reads zero with an alias.
    ['0xff', 255, { bytes: 'ff' }, 255, 'none'],
    ['0xf', 15, { bytes: '0f' }, 15, 'none'],
    ['-0xff', 'unary', 'unary', 'unary', 'none'],
    ['0xgg', ...everywhere('none')],
    // A thousand, a name, or one with an alias.
    ['1_000', ...everywhere('none')],
    ['1a', ...everywhere('none')],
  ])('%s', (sql, ...answers) => {
    expect(dialects.map((dialect) => read(sql, dialect))).toEqual(answers);
  });

  it('behind two signs are subtracted in MySQL and a comment elsewhere', () => {
    expect(parseExpressionText('1--1', 'mysql')).toMatchObject({ type: 'binary', op: '-' });
    for (const dialect of ['postgres', 'sqlite', 'duckdb'] as const) expect(read('1--1', dialect)).toBe(1);
  });

  it('keep every digit', () => {
    fc.assert(
      fc.property(fc.bigInt(-(2n ** 80n), 2n ** 80n), fc.constantFrom(...dialects), (integer, dialect) => {
        const value = read(String(integer), dialect);
        expect(typeof value === 'number' ? String(value) : (value as { int: string }).int).toBe(
          String(integer),
        );
      }),
    );
  });

  it('do not take the digits of what follows for their alias', () => {
    expect(parseStatement('SELECT 1_000', 'postgres').type).toBe('opaque');
    expect(parseStatement('SELECT 1 _000', 'postgres')).toMatchObject({
      body: { items: [{ alias: '_000' }] },
    });
  });
});

describe('strings', () => {
  it.each<[token: string, ...answers: (string | undefined)[]]>([
    ["''", '', '', '', ''],
    ["'it''s'", "it's", "it's", "it's", "it's"],
    [String.raw`'a\'`, 'a\\', undefined, 'a\\', 'a\\'],
    [String.raw`'\\'`, '\\\\', '\\', '\\\\', '\\\\'],
    [String.raw`'\n\t\0\Z'`, '\\n\\t\\0\\Z', '\n\t\0\x1a', '\\n\\t\\0\\Z', '\\n\\t\\0\\Z'],
    // LIKE patterns keep their escapes.
    [String.raw`'\%\_'`, '\\%\\_', '\\%\\_', '\\%\\_', '\\%\\_'],
    [String.raw`'\q'`, '\\q', 'q', '\\q', '\\q'],
    ["'x", undefined, undefined, undefined, undefined],
    ["'", undefined, undefined, undefined, undefined],
  ])('%s', (token, ...answers) => {
    expect(dialects.map((dialect) => unquoteString(token, dialect))).toEqual(answers);
  });

  it.each<[sql: string, text: Answer]>([
    [String.raw`E'a\nb'`, 'a\nb'],
    [String.raw`e'it\'s'`, "it's"],
    [String.raw`E'\q'`, 'q'],
    // Codes in octal, hexadecimal and Unicode are not computed.
    [String.raw`E'\x41'`, 'none'],
    [String.raw`E'\101'`, 'none'],
    [String.raw`E'\u0041'`, 'none'],
    ['$$it$s$$', 'it$s'],
    ['$x$a $$ b$x$', 'a $$ b'],
  ])('%s in PostgreSQL and DuckDB', (sql, text) => {
    expect(read(sql, 'postgres')).toEqual(text);
    expect(read(sql, 'duckdb')).toEqual(text);
  });

  it('stand beside each other as one in MySQL', () => {
    expect(read("'a' 'b'", 'mysql')).toBe('ab');
    expect(read('"a" \'b\'', 'mysql')).toBe('ab');
  });

  it('that name a column lose their quotes', () => {
    const alias = (sql: string, dialect: Dialect) => {
      const statement = parseStatement(sql, dialect);
      return statement.type === 'select' && statement.body.type === 'core'
        ? statement.body.items[0]
        : statement;
    };
    for (const dialect of ['mysql', 'sqlite'] as const) {
      expect(alias("SELECT 1 AS 'it''s'", dialect)).toMatchObject({ alias: "it's" });
      expect(alias("SELECT 1 AS 'a b'", dialect)).toMatchObject({ alias: 'a b' });
    }
    expect(alias("SELECT 1 AS 'a'", 'postgres')).toMatchObject({ type: 'opaque' });
  });
});

describe('binary constants', () => {
  it.each<[sql: string, ...answers: [Answer, Answer, Answer, Answer]]>([
    ["X'00FF'", 'raw', { bytes: '00ff' }, { bytes: '00ff' }, 'raw'],
    ["x''", 'raw', { bytes: '' }, { bytes: '' }, 'raw'],
    ["X'0'", 'raw', 'none', 'none', 'raw'],
    ["b'101'", 'raw', 'raw', 'raw', 'raw'],
    ["N'x'", 'raw', 'raw', 'raw', 'raw'],
  ])('%s', (sql, ...answers) => {
    expect(dialects.map((dialect) => read(sql, dialect))).toEqual(answers);
  });
});

describe('moments', () => {
  it.each<[text: string, type: string, value: Value | undefined]>([
    ['2024-02-29', 'DATE', { date: '2024-02-29' }],
    ['2024-2-29', 'DATE', undefined],
    ['20240229', 'DATE', undefined],
    ['2024-02-29 10:00:00', 'DATE', undefined],
    ['10:00:00', 'TIME', { time: '10:00:00' }],
    ['10:00', 'TIME', undefined],
    ['10:00:00.123456', 'TIME', { time: '10:00:00.123456' }],
    ['10:00:00.1234567', 'TIME', undefined],
    ['2024-02-29 10:00:00.5', 'TIMESTAMP', { timestamp: '2024-02-29 10:00:00.5' }],
    ['2024-02-29T10:00:00', 'TIMESTAMP', undefined],
    ['2024-02-29 10:00:00+00', 'TIMESTAMP', undefined],
    ['2024-02-29 10:00:00+00', 'TIMESTAMPTZ', { timestamp: '2024-02-29 10:00:00+00' }],
    ['2024-02-29 10:00:00-05:30', 'TIMESTAMPTZ', { timestamp: '2024-02-29 10:00:00-05:30' }],
    ['2024-02-29 10:00:00', 'TIMESTAMPTZ', undefined],
    ['x', 'UUID', undefined],
  ])('%s as %s', (text, type, value) => {
    expect(temporalValue(text, type)).toEqual(value);
  });

  it('written otherwise stay casts, which only the engine computes', () => {
    expect(parseExpressionText("DATE '2024-2-29'", 'postgres')).toMatchObject({ type: 'cast', to: 'DATE' });
    expect(parseExpressionText("DATE '2024-02-29'", 'postgres')).toEqual({
      type: 'literal',
      value: { date: '2024-02-29' },
    });
  });
});

describe('names', () => {
  it.each<[sql: string, ...answers: string[]]>([
    ['Foo', 'foo', 'Foo', 'Foo', 'Foo'],
    ['FOO', 'foo', 'FOO', 'FOO', 'FOO'],
    ['ÀÉ', 'ÀÉ', 'ÀÉ', 'ÀÉ', 'ÀÉ'],
    ['a$1', 'a$1', 'a$1', 'a$1', 'a$1'],
    ['日本', '日本', '日本', '日本', '日本'],
  ])('%s', (sql, ...answers) => {
    const name = (dialect: Dialect) => (parseExpressionText(sql, dialect) as { name?: string }).name;
    expect(dialects.map(name)).toEqual(answers);
  });

  it.each<[sql: string, dialect: Dialect, name: string]>([
    ['"A ""b"""', 'postgres', 'A "b"'],
    ['`A ``b```', 'mysql', 'A `b`'],
    ['[a b]', 'sqlite', 'a b'],
    ['`a`', 'sqlite', 'a'],
    ['"select"', 'duckdb', 'select'],
    ['""', 'postgres', ''],
  ])('%s in %s is %j', (sql, dialect, name) => {
    expect(parseExpressionText(sql, dialect)).toEqual({ type: 'column', name });
  });

  it.each<[sql: string, column: object]>([
    ['t.a', { table: 't', name: 'a' }],
    ['s.t.a', { schema: 's', table: 't', name: 'a' }],
    ['t."A"', { table: 't', name: 'A' }],
    // A reserved word is a name behind a point.
    ['t.order', { table: 't', name: 'order' }],
    ['"T".select', { table: 'T', name: 'select' }],
  ])('%s', (sql, column) => {
    expect(parseExpressionText(sql, 'postgres')).toEqual({ type: 'column', ...column });
  });

  it('of any text come back from what is printed', () => {
    const text = fc.string({ minLength: 1, unit: 'grapheme' }).filter((name) => !name.includes('\0'));
    fc.assert(
      fc.property(text, fc.constantFrom(...dialects), (name, dialect) => {
        const column = { type: 'column' as const, name };
        expect(parseExpressionText(printExpression(column, dialect), dialect)).toEqual(column);
        const drop = {
          type: 'drop' as const,
          what: 'TABLE' as const,
          ifExists: false,
          names: [{ name }],
        };
        expect(parseStatement(printStatement(drop, dialect), dialect)).toEqual(drop);
      }),
      { numRuns: 300 },
    );
  });

  it('are any word that is reserved somewhere, once quoted', () => {
    for (const word of 'select from order group user key value values index table left full window end case'.split(
      ' ',
    ))
      for (const dialect of dialects) {
        const column = { type: 'column' as const, name: word };
        expect(parseExpressionText(printExpression(column, dialect), dialect)).toEqual(column);
      }
  });
});
