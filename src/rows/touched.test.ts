import { describe, expect, it } from 'vitest';
import { type Dialect, parseStatement } from '../sql/index.js';
import { mayMeet, touchOf } from './touched.js';

const touch = (sql: string, dialect: Dialect = 'postgres') => touchOf(parseStatement(sql, dialect), dialect);

describe('two statements may meet', () => {
  it.each([
    ['UPDATE t SET v = 1 WHERE id = 1', 'SELECT * FROM t WHERE id = 1'],
    ['UPDATE t SET v = 1 WHERE id = 1', 'SELECT * FROM t'],
    ['UPDATE t SET v = 1 WHERE id IN (1, 2)', 'DELETE FROM t WHERE 2 = id AND v > 0'],
    ['UPDATE t SET v = 1 WHERE id = 1 OR id = 3', 'DELETE FROM t WHERE id = 3'],
    ['UPDATE t SET v = 1 WHERE id = 1 OR v = 3', 'DELETE FROM t WHERE id = 3'],
    // The first moves a row to where the second looks for it.
    ['UPDATE t SET id = 2 WHERE id = 1', 'DELETE FROM t WHERE id = 2'],
    ['INSERT INTO t (id, v) VALUES (1, 2), (3, 4)', 'SELECT v FROM t WHERE id = 3'],
    ['DELETE FROM t WHERE id = 1', 'SELECT (SELECT max(v) FROM t) FROM u WHERE id = 2'],
    ['TRUNCATE t', 'SELECT v FROM t WHERE id = 3'],
  ])('%s; %s', (one, other) => {
    expect(mayMeet(touch(one), touch(other))).toBe(true);
    expect(mayMeet(touch(other), touch(one))).toBe(true);
  });
});

describe('two statements do not meet', () => {
  it.each([
    ['SELECT * FROM t', 'SELECT * FROM t'],
    ['UPDATE t SET v = 1', 'UPDATE u SET v = 1'],
    ['UPDATE t SET v = 1 WHERE id = 1', 'SELECT * FROM t WHERE id = 2'],
    ['UPDATE t SET v = 1 WHERE id IN (1, 2)', 'DELETE FROM t WHERE id = 3 OR id = 4'],
    ['INSERT INTO t (id, v) VALUES (1, 2), (3, 4)', 'SELECT v FROM t WHERE id = 2'],
    ['UPDATE t SET v = 1 WHERE id = NULL', 'SELECT * FROM t WHERE id = 1'],
  ])('%s; %s', (one, other) => {
    expect(mayMeet(touch(one), touch(other))).toBe(false);
    expect(mayMeet(touch(other), touch(one))).toBe(false);
  });
});

describe('names', () => {
  it.each([
    ['postgres', 'T', true],
    ['postgres', '"T"', false],
    ['sqlite', '"T"', true],
    ['duckdb', '"T"', true],
    ['mysql', '`T`', true],
  ] as const)('in %s, %s is t: %s', (dialect, name, same) => {
    expect(mayMeet(touch('DELETE FROM t', dialect), touch(`SELECT * FROM ${name}`, dialect))).toBe(same);
  });

  it.each([
    ['postgres', '"ID"', true],
    ['postgres', 'ID', false],
    ['duckdb', '"ID"', false],
  ] as const)('in %s, rows chosen by id = 1 and by %s = 2 may be the same: %s', (dialect, name, same) => {
    const other = touch(`SELECT * FROM t WHERE ${name} = 2`, dialect);
    expect(mayMeet(touch('DELETE FROM t WHERE id = 1', dialect), other)).toBe(same);
  });
});
