import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { duckdbGuard, sqliteGuard } from './engine-guard.js';

/** Ways to write the same letters: any case, and something that separates words between them. */
const gap = fc.constantFrom(' ', '\n', '\t ', '/**/', ' /* x */ ', '-- x\n');
const anyCase = (word: string) =>
  fc
    .array(fc.boolean(), { minLength: word.length, maxLength: word.length })
    .map((upper) => [...word].map((letter, i) => (upper[i] ? letter.toUpperCase() : letter)).join(''));
const quoted = (word: string) => fc.constantFrom(word, `"${word}"`, `[${word}]`, `\`${word}\``);

describe('statements of SQLite and Turso', () => {
  it.each([
    ['attach', 'database', "'/etc/x' AS x"],
    ['vacuum', 'into', "'/etc/x'"],
    ['create', 'virtual', 'table x USING fts5(a)'],
    ['create virtual', 'table', 'x USING csv(a)'],
    ['create', 'function', 'x AS 1'],
  ])(
    'that reach other files or native code are refused however they are written: %s %s',
    (first, second, rest) => {
      fc.assert(
        fc.property(anyCase(first), gap, anyCase(second), gap, (a, between, b, after) => {
          const words = a.replace(' ', between);
          expect(sqliteGuard(`${words}${between}${b}${after}${rest}`)).toEqual(expect.any(String));
        }),
      );
    },
  );

  it.each([
    'writefile',
    'readfile',
    'load_extension',
    'edit',
    'fsdir',
    'sha3_query',
    'fts3_tokenizer',
    'zipfile',
  ])('that call %s are refused, in quotes too', (name) => {
    fc.assert(
      fc.property(anyCase(name).chain(quoted), gap, (call, between) => {
        expect(sqliteGuard(`SELECT ${call}${between}('x')`)).toEqual(expect.any(String));
        expect(sqliteGuard(`SELECT * FROM t WHERE a = (SELECT ${call}('x'))`)).toEqual(expect.any(String));
      }),
    );
  });

  it.each([
    'PRAGMA temp_store_directory = "/etc"',
    'PRAGMA data_store_directory = "/etc"',
    'PRAGMA writable_schema = 1',
    'pragma MAIN.writable_schema=1',
    'PRAGMA "main"."writable_schema" = 1',
    'PRAGMA [main] . [writable_schema]',
    'PRAGMA key = 1',
    'PRAGMA trusted_schema = 1',
    'PRAGMA vdbe_trace = 1',
    'PRAGMA/**/journal_mode',
    'PRAGMA',
    "SELECT * FROM pragma_writable_schema('x')",
    'PRAGMA journal_mode; PRAGMA writable_schema = 1',
  ])('%s is refused: only settings of the scratch are let through', (sql) => {
    expect(sqliteGuard(sql)).toEqual(expect.any(String));
  });

  it.each([
    'PRAGMA journal_mode = wal',
    'pragma main.Journal_Mode',
    'PRAGMA "user_version"',
    "SELECT name FROM pragma_table_info('t')",
    'PRAGMA foreign_keys = ON',
    'SELECT * FROM t',
    'VACUUM',
    'INSERT INTO t SELECT a FROM u',
    'CREATE TABLE profile (a INT)',
    'SELECT credit FROM t',
    'UPDATE t SET edited = 1',
    'CREATE TRIGGER x AFTER INSERT ON t BEGIN SELECT 1; END',
    "INSERT INTO t VALUES ('/* a -- b */')",
  ])('%s may be sent', (sql) => {
    expect(sqliteGuard(sql)).toBeUndefined();
  });
});

describe('statements of DuckDB', () => {
  it.each([
    'PRAGMA enable_profiling',
    "SET profiling_output = '/etc/x'",
    "SET PROFILING_MODE='detailed'",
    "SET log_query_path = '/etc/x'",
    'CALL enable_logging()',
    "SELECT write_log('x')",
    'SET enable_progress_bar = true',
    'pragma disable_print_progress_bar',
  ])('%s is refused', (sql) => {
    expect(duckdbGuard(sql)).toEqual(expect.any(String));
  });

  it.each(['SELECT 1', 'CREATE TABLE logging (a INT)', 'SET threads = 2', 'PRAGMA table_info(t)'])(
    '%s may be sent',
    (sql) => {
      expect(duckdbGuard(sql)).toBeUndefined();
    },
  );
});
