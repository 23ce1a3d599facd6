import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { classifyStatement } from './classify.js';
import type { Dialect } from './dialect.js';
import { quoteIdentifier, quoteText } from './dialect.js';
import { tokenize } from './lexer.js';
import { normalizeSql, splitStatements } from './split.js';
import {
  bytesValue,
  doubleValue,
  integerValue,
  isValue,
  sameValue,
  showValue,
  type Value,
  valueKey,
} from './value.js';

const dialect = fc.constantFrom<Dialect>('postgres', 'mysql', 'sqlite', 'duckdb');
const sqlish = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc
    .array(
      fc.constantFrom(
        'SELECT',
        ' ',
        '\n',
        ';',
        "'",
        '"',
        '`',
        '$$',
        '$a$',
        '--',
        '-- x\n',
        '#',
        '/*',
        '*/',
        '/*+ h */',
        '\\',
        'E',
        '1',
        '.5',
        '0x1',
        '(',
        ')',
        '[',
        ']',
        'é',
        'a',
        '-',
      ),
      { maxLength: 20 },
    )
    .map((parts) => parts.join('')),
);

describe('tokenize', () => {
  it('gives tokens whose texts joined are the text, with the right offsets', () => {
    fc.assert(
      fc.property(sqlish, dialect, (sql, which) => {
        const tokens = tokenize(sql, which);
        expect(tokens.map((token) => token.text).join('')).toBe(sql);
        for (const token of tokens) expect(sql.startsWith(token.text, token.start)).toBe(true);
      }),
    );
  });

  it('sees quoted text and identifiers as one token, whatever is in them', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), dialect, (text, which) => {
        expect(tokenize(quoteText(text, which), which)).toHaveLength(1);
        expect(tokenize(quoteIdentifier(text, which), which)).toHaveLength(1);
      }),
    );
  });

  const kinds = (sql: string, which: Dialect) =>
    tokenize(sql, which)
      .filter((token) => token.kind !== 'space')
      .map((token) => `${token.kind} ${token.text}`);

  it.each<[string, Dialect, string[]]>([
    ["'a\\'b'", 'mysql', ["string 'a\\'b'"]],
    ["'a\\' b", 'postgres', ["string 'a\\'", 'word b']],
    ["E'a\\'b'", 'postgres', ["string E'a\\'b'"]],
    ["E'a\\'b'", 'duckdb', ["string E'a\\'b'"]],
    ['$x$ ; $y$ $x$ z', 'postgres', ['string $x$ ; $y$ $x$', 'word z']],
    ['$$a$$', 'duckdb', ['string $$a$$']],
    ['5--1', 'mysql', ['number 5', 'symbol -', 'symbol -', 'number 1']],
    ['5--1', 'postgres', ['number 5', 'comment --1']],
    ['5 -- 1', 'mysql', ['number 5', 'comment -- 1']],
    ['a # b', 'mysql', ['word a', 'comment # b']],
    ['a # b', 'postgres', ['word a', 'symbol #', 'word b']],
    ['/* /* */ x */', 'postgres', ['comment /* /* */ x */']],
    ['/* /* */ x', 'mysql', ['comment /* /* */', 'word x']],
    ['[a;b] c', 'sqlite', ['quoted [a;b]', 'word c']],
    ['"a" `b`', 'mysql', ['string "a"', 'quoted `b`']],
    ['1.5e-3 0xFF .5', 'postgres', ['number 1.5e-3', 'number 0xFF', 'number .5']],
  ])('reads %s in %s', (sql, which, expected) => {
    expect(kinds(sql, which)).toEqual(expected);
  });
});

describe('splitStatements and normalizeSql', () => {
  it('are idempotent', () => {
    fc.assert(
      fc.property(sqlish, dialect, (sql, which) => {
        const normal = normalizeSql(sql, which);
        expect(normalizeSql(normal, which)).toBe(normal);
      }),
      { numRuns: 1000 },
    );
  });

  it('keep every token that is neither space nor a plain comment', () => {
    fc.assert(
      fc.property(sqlish, dialect, (sql, which) => {
        const kept = (text: string) =>
          tokenize(text, which).filter(
            (token) => token.kind !== 'space' && token.kind !== 'comment' && token.text !== ';',
          );
        const statements = splitStatements(sql, which);
        expect(statements.flatMap((each) => kept(each.sql)).map((token) => token.text)).toEqual(
          kept(sql).map((token) => token.text),
        );
      }),
      { numRuns: 1000 },
    );
  });

  it('cut at semicolons outside quotes and say where statements start', () => {
    expect(splitStatements("BEGIN ; ;\n-- note;\nINSERT INTO t VALUES (';') ;")).toEqual([
      { sql: 'BEGIN', start: 0 },
      { sql: "INSERT INTO t VALUES (';')", start: 19 },
    ]);
  });

  it('keep comments that databases read', () => {
    expect(normalizeSql('SELECT /*+ X(t)\n */ 1 /* no */ ; -- no', 'mysql')).toBe('SELECT /*+ X(t) */ 1');
  });
});

describe('classifyStatement', () => {
  it.each<[string, string, string?]>([
    ['begin', 'begin'],
    ['START TRANSACTION READ ONLY', 'begin'],
    ['START SLAVE', 'other'],
    ['end', 'commit'],
    ['ROLLBACK TO SAVEPOINT a', 'rollback-to'],
    ['rollback work', 'rollback'],
    ['RELEASE SAVEPOINT a', 'release'],
    ['(SELECT 1) UNION (SELECT 2)', 'select', 'none'],
    ['SELECT * FROM t FOR UPDATE', 'select', 'update'],
    ['SELECT * FROM t FOR NO KEY UPDATE SKIP LOCKED', 'select', 'update'],
    ['SELECT * FROM t LOCK IN SHARE MODE', 'select', 'share'],
    ["SELECT 'FOR UPDATE'", 'select', 'none'],
    ['WITH x AS (SELECT 1) UPDATE t SET a = 1', 'update'],
    ['WITH x AS (SELECT 1) SELECT * FROM x', 'select'],
    ['WITH x AS (DELETE FROM t RETURNING *) SELECT * FROM x', 'delete'],
    ['WITH x AS MATERIALIZED (INSERT INTO t VALUES (1) RETURNING a) TABLE x', 'insert'],
    ['/* c */ -- d\n replace into t values (1)', 'replace'],
    ['PRAGMA x', 'set'],
    ['BEGIN NOT ATOMIC UPDATE t SET a = 1; END', 'other'],
    ['TRUNCATE t', 'ddl'],
    ['', 'other'],
    ['constructor', 'other'],
  ])('%s is %s', (sql, kind, locking = 'none') => {
    expect(classifyStatement(sql)).toMatchObject({ kind, locking });
  });

  it('knows a plain BEGIN', () => {
    expect(classifyStatement('begin transaction').plainBegin).toBe(true);
    expect(classifyStatement('BEGIN IMMEDIATE').plainBegin).toBe(false);
  });

  it('never fails', () => {
    fc.assert(fc.property(sqlish, dialect, (sql, which) => classifyStatement(sql, which).kind.length > 0));
  });
});

describe('values', () => {
  it('integers of any size keep their digits', () => {
    fc.assert(
      fc.property(fc.bigInt(), (integer) => {
        const value = integerValue(integer);
        expect(isValue(value)).toBe(true);
        expect(showValue(value)).toBe(String(integer));
      }),
    );
    expect(integerValue(2n ** 53n)).toEqual({ int: '9007199254740992' });
  });

  it('doubles and bytes are values, equal exactly when their keys are', () => {
    const value: fc.Arbitrary<Value> = fc.oneof(
      fc.double().map(doubleValue),
      fc.uint8Array({ maxLength: 3 }).map(bytesValue),
      fc.constantFrom<Value>(
        null,
        true,
        'NaN',
        '',
        { decimal: '1.10' },
        { decimal: '1.1' },
        { double: 'NaN' },
        0,
      ),
    );
    fc.assert(
      fc.property(value, value, (a, b) => {
        expect(isValue(a) && isValue(b)).toBe(true);
        expect(sameValue(a, b)).toBe(valueKey(a) === valueKey(b));
        expect(sameValue(a, JSON.parse(JSON.stringify(a)) as Value)).toBe(true);
      }),
    );
  });

  it.each([
    [undefined],
    [Number.NaN],
    [[]],
    [{}],
    [{ int: 1 }],
    [{ int: '1.5' }],
    [{ int: '1', decimal: '1' }],
    [{ bytes: 'F0' }],
    [{ bytes: '0' }],
    [{ toString: 'x' }],
    [{ date: '1\n', time: '2' }],
  ])('%j is none', (thing) => {
    expect(isValue(thing)).toBe(false);
  });
});
