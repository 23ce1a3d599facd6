/** The comments at the top of a script: what they set, what is only a remark, and what is refused. */
import { describe, expect, it } from 'vitest';
import { parseScript, printScript } from './script.js';

const read = (head: string) =>
  parseScript(`-- isolde script\n${head}\nT1: SELECT 1;\nT2: SELECT 2;\n`, { file: 'dir/my case.sql' });

describe('a head', () => {
  it.each<[head: string, part: object]>([
    ['', { name: 'my case' }],
    ['-- name: lost update', { name: 'lost update' }],
    ['--name:x', { name: 'x' }],
    ['-- NAME: x', { name: 'x' }],
    ['-- name: a: b', { name: 'a: b' }],
    [String.raw`-- name: "two\nlines"`, { name: 'two\nlines' }],
    ['-- description: one\n-- description: two', { description: 'one\ntwo' }],
    ['-- dialect: MySQL', { dialect: 'mysql' }],
    ['-- level: REPEATABLE-READ', { level: 'repeatable read' }],
    ['-- level: SER', { level: 'serializable' }],
    // Remarks that only look like it.
    ['-- name of the table: t', { name: 'my case' }],
    ['-- names: x', { name: 'my case' }],
    ['-- a remark', { name: 'my case' }],
    ['\n\n-- name: after blank lines', { name: 'after blank lines' }],
  ])('%j', (head, part) => {
    expect(read(head).case).toMatchObject(part);
  });

  it('ends where SQL begins', () => {
    const { case: program } = parseScript(
      '-- isolde script\nCREATE TABLE t (a INT);\n-- name: late\nT1: SELECT 1;',
      {
        file: 'f.sql',
      },
    );
    expect(program.name).toBe('f');
  });

  it('gives sessions levels of their own', () => {
    const { sessions } = read('-- level: RC\n-- level T2: serializable').case;
    expect(sessions.map(({ level }) => level)).toEqual([undefined, 'serializable']);
  });

  it('gives sessions with odd names levels of their own', () => {
    const text = '-- isolde script\n-- level "T 1": serializable\n\n"T 1": SELECT 1;\n';
    const { case: program } = parseScript(text, { file: 'f.sql' });
    expect(program.sessions).toEqual([{ name: 'T 1', level: 'serializable', statements: ['SELECT 1'] }]);
    expect(parseScript(printScript({ case: program }), { file: 'f.sql' }).case).toEqual({
      ...program,
      name: 'f',
    });
  });

  it('names sessions in an order of its own, also such as send nothing', () => {
    const { sessions } = read('-- sessions: T2, "odd, name", T1').case;
    expect(sessions.map(({ name, statements }) => [name, statements.length])).toEqual([
      ['T2', 1],
      ['odd, name', 0],
      ['T1', 1],
    ]);
  });

  it('can say that the order of the statements means nothing', () => {
    expect(read('').schedule).toBeDefined();
    expect(read('-- schedule: none').schedule).toBeUndefined();
  });

  it.each<[head: string, message: string]>([
    [
      '-- dialect: oracle',
      'my case.sql:2 (dialect): unknown dialect "oracle"; known are postgres, mysql, sqlite, duckdb',
    ],
    ['-- level: chaos', 'my case.sql:2 (level): unknown level "chaos"; known are'],
    ['\n-- level T1: chaos', 'my case.sql:3 (level): unknown level "chaos"'],
    ['-- level T3: serializable', '(level T3): there is no session T3; sessions are T1, T2'],
    ['-- name: "open', 'my case.sql:2 (name): a name in quotes must be a JSON text'],
    ['-- description: "open', 'my case.sql:2 (description): a text in quotes must be a JSON text'],
    ['-- sessions: "open', 'my case.sql:2 (sessions): a name in quotes must be a JSON text'],
    ['-- schedule: random', 'my case.sql:2 (schedule): expected none, found "random"'],
  ])('%j is refused', (head, message) => {
    expect(() => read(head)).toThrow(message);
  });
});

describe('a printed head', () => {
  it.each(['plain', ' blanks ', '', '"quoted"', 'two\nlines', 'a: b', 'é😀', '-- x', 'T1: SELECT'])(
    'keeps the name %j',
    (name) => {
      const program = { name, setup: [], sessions: [{ name: 'T1', statements: ['SELECT 1'] }] };
      expect(parseScript(printScript({ case: program }), { file: 'f.sql' }).case.name).toBe(name);
    },
  );

  it.each(['one line', 'one\ntwo', 'one\n\nthree', ' indented\nblock', '"', 'tab\there'])(
    'keeps the description %j',
    (description) => {
      const program = {
        name: 'n',
        description,
        setup: [],
        sessions: [{ name: 'T1', statements: ['SELECT 1'] }],
      };
      expect(parseScript(printScript({ case: program }), { file: 'f.sql' }).case.description).toBe(
        description,
      );
    },
  );
});
