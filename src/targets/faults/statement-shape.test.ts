import { describe, expect, it } from 'vitest';
import { openCatalog } from '../../rows/index.js';
import {
  anyTableOf,
  countInsertedRows,
  replaceTable,
  shapeOf,
  splitWrite,
  stripLock,
} from './statement-shape.js';

describe('shapeOf', () => {
  it.each([
    ['UPDATE t SET v = 1', 't'],
    ['INSERT INTO "Big" VALUES (1)', 'Big'],
    ['INSERT INTO Big VALUES (1)', 'big'],
    ['DELETE FROM s.t WHERE id = 1', 't'],
    ['REPLACE INTO `t` VALUES (1)', 't'],
    ['INSERT OR IGNORE INTO t VALUES (1)', 't'],
    ['SELECT * FROM t', undefined],
  ])('finds the table that %s writes', (sql, target) => {
    expect(shapeOf(sql, 'postgres').target).toBe(target);
  });
});

describe('splitWrite', () => {
  it('takes a simple UPDATE apart', () => {
    expect(
      splitWrite("UPDATE t SET a = b + 1, c = f(1, 2) WHERE x = ',' AND y IN (1, 2)", 'postgres'),
    ).toEqual({
      table: 't',
      assignments: [
        { column: 'a', expression: 'b + 1' },
        { column: 'c', expression: 'F(1, 2)' },
      ],
      where: "x = ',' AND y IN (1, 2)",
    });
  });

  it('takes a DELETE apart, and no WHERE means all rows', () => {
    expect(splitWrite('DELETE FROM t', 'mysql')).toEqual({ table: 't', assignments: [], where: '1 = 1' });
    expect(splitWrite('DELETE FROM t WHERE v < (SELECT max(v) FROM u)', 'mysql')?.where).toBe(
      'v < (SELECT MAX(v) FROM u)',
    );
  });

  it.each([
    'UPDATE t AS a SET v = 1',
    'UPDATE t a SET v = 1',
    'UPDATE t, u SET t.v = 1',
    'UPDATE t SET v = 1 FROM u',
    'UPDATE t SET v = 1 ORDER BY id LIMIT 1',
    'UPDATE t SET v = 1 RETURNING v',
    'UPDATE t SET (a, b) = (1, 2)',
    'DELETE FROM t USING u',
    'SELECT 1',
  ])('leaves %s alone', (sql) => {
    expect(splitWrite(sql, 'postgres')).toBeUndefined();
  });
});

it('counts the rows of VALUES and of nothing else', () => {
  expect(countInsertedRows("INSERT INTO t (a, b) VALUES (1, f(2)), (3, '),(')", 'postgres')).toBe(2);
  expect(countInsertedRows('INSERT INTO t SELECT * FROM u', 'postgres')).toBeUndefined();
  expect(countInsertedRows('INSERT INTO t VALUES (1) ON CONFLICT DO NOTHING', 'postgres')).toBeUndefined();
});

it('strips every kind of row lock and nothing inside parentheses or quotes', () => {
  expect(stripLock('SELECT v FROM t WHERE id = 1 FOR UPDATE', 'postgres')).toBe(
    'SELECT v FROM t WHERE id = 1',
  );
  expect(stripLock('SELECT v FROM t FOR NO KEY UPDATE SKIP LOCKED', 'postgres')).toBe('SELECT v FROM t');
  expect(stripLock('SELECT v FROM t LOCK IN SHARE MODE', 'mysql')).toBe('SELECT v FROM t');
  const kept = "SELECT 'FOR UPDATE', substring('abc' FOR 2) FROM t";
  expect(stripLock(kept, 'postgres')).toBe(kept);
});

it('replaces a table where it is read, keeping aliases', () => {
  expect(replaceTable('SELECT t.v FROM t WHERE t.id = 1', 't', 'X', 'postgres')).toBe(
    'SELECT t.v FROM (X) AS t WHERE t.id = 1',
  );
  expect(replaceTable('SELECT a.v FROM t a JOIN T AS b ON a.id = b.id', 't', 'X', 'postgres')).toBe(
    'SELECT a.v FROM (X) a JOIN (X) AS b ON a.id = b.id',
  );
  expect(replaceTable('SELECT t FROM u', 't', 'X', 'postgres')).toBeUndefined();
});

it('takes names for one where the dialect does', () => {
  const sql = 'SELECT v FROM "T" JOIN T ON TRUE';
  expect(replaceTable(sql, 't', 'X', 'postgres')).toBe('SELECT v FROM "T" JOIN (X) AS T ON TRUE');
  expect(replaceTable(sql, '"T"', 'X', 'postgres')).toBe('SELECT v FROM (X) AS "T" JOIN T ON TRUE');
  expect(replaceTable(sql, 't', 'X', 'duckdb')).toBe('SELECT v FROM (X) AS "T" JOIN (X) AS T ON TRUE');
});

it('names a table of the set-up that every session has', () => {
  const tableOf = (...setup: readonly string[]) =>
    anyTableOf(openCatalog({ dialect: 'postgres', setup, statements: [] }));
  expect(
    tableOf(
      'CREATE TEMPORARY TABLE a (x INT)',
      'CREATE TABLE IF NOT EXISTS "B" (x INT)',
      'CREATE TABLE c (x INT)',
    ),
  ).toBe('"B"');
  expect(tableOf('CREATE INDEX i ON a (x)')).toBeUndefined();
});
