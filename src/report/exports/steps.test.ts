/** What exports make of names: sessions as plain words, tables as they must be dropped. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createdTables, plainNames } from './steps.js';

describe('names of sessions', () => {
  it.each<[names: string[], plain: string[]]>([
    [
      ['T1', 'T2'],
      ['T1', 'T2'],
    ],
    [
      ['writer', 'reader'],
      ['writer', 'reader'],
    ],
    [
      ['T 1', 'T-2'],
      ['s1', 's2'],
    ],
    [
      ['T1@standby', 'é'],
      ['s1', 's2'],
    ],
    // Names that differ by case are one to many test languages, and "default" is mtr's own.
    [
      ['a', 'A'],
      ['a', 's2x'],
    ],
    [
      ['default', 'Default'],
      ['s1', 's2'],
    ],
    [
      ['s2', 'odd name'],
      ['s2', 's2x'],
    ],
    [
      ['s3x', 's3', 'S3'],
      ['s3x', 's3', 's3xx'],
    ],
    [['x'.repeat(30)], ['s1']],
    [['1st'], ['s1']],
    [[], []],
  ])('%j', (names, plain) => {
    expect(plainNames(names)).toEqual(plain);
  });

  it('are words, and each its own, whatever they were', () => {
    const name = fc.oneof(
      fc.string(),
      fc.constantFrom('s1', 's1x', 's2', 'S2', 's2x', 's3', 's3x', 's3xx', 'T1', 't1'),
    );
    fc.assert(
      fc.property(fc.array(name, { maxLength: 6 }), (names) => {
        const plain = plainNames(names);
        expect(plain.length).toBe(names.length);
        expect(new Set(plain.map((each) => each.toLowerCase())).size).toBe(names.length);
        for (const each of plain) expect(each).toMatch(/^[A-Za-z]\w*$/);
      }),
    );
  });
});

describe('tables to drop', () => {
  it.each<[setup: string[], tables: string[]]>([
    [['CREATE TABLE t (a INT)'], ['t']],
    [['create table if not exists t(a INT)'], ['t']],
    // What refers to others goes first.
    [
      ['CREATE TABLE a (x INT)', 'INSERT INTO a VALUES (1)', 'CREATE TABLE b (x INT)'],
      ['b', 'a'],
    ],
    [['CREATE TABLE "my table" (a INT)'], ['"my table"']],
    [['CREATE TABLE `a``b c`(a INT)'], ['`a``b c`']],
    [['CREATE TABLE s.t (a INT)'], ['s.t']],
    [['CREATE TABLE "S 1" . "T 1" (a INT)'], ['"S 1" . "T 1"']],
    [['CREATE TABLE été (a INT)'], ['été']],
    [['CREATE INDEX i ON t (a)', 'CREATE TABLESPACE x', "SELECT 'CREATE TABLE t'"], []],
  ])('of %j', (setup, tables) => {
    expect(createdTables(setup)).toEqual(tables);
  });
});
