import { describe, expect, test } from 'vitest';
import { statementFeatures } from './features.js';
import { parseStatement } from './parse/parse.js';

const features = (sql: string) => statementFeatures(parseStatement(sql, 'postgres'));

describe('statementFeatures', () => {
  test('tells tables read from tables written, with aliases', () => {
    const found = features(
      'INSERT INTO log (id) SELECT o.id FROM orders AS o WHERE EXISTS (SELECT 1 FROM items)',
    );
    expect(found.writes).toEqual([{ name: 'log' }]);
    expect(found.reads).toEqual([{ name: 'orders', alias: 'o' }, { name: 'items' }]);
  });

  test('counts the target of an UPDATE as read and written', () => {
    const found = features('UPDATE t SET v = v + 1 WHERE id = 1');
    expect(found.writes).toEqual([{ name: 't' }]);
    expect(found.reads).toEqual([{ name: 't' }]);
    expect(found.columns).toEqual(['v', 'id']);
  });

  test('does not take a common table for a table', () => {
    const found = features('WITH c AS (SELECT id FROM t) SELECT * FROM c');
    expect(found.reads).toEqual([{ name: 't' }]);
    expect(found.commonTable).toBe(true);
  });

  test('sees writes inside WITH', () => {
    expect(features('WITH d AS (DELETE FROM t RETURNING id) SELECT * FROM d').writes).toEqual([
      { name: 't' },
    ]);
  });

  test.each([
    ['SELECT COUNT(*) FROM t', 'aggregate'],
    ['SELECT a FROM t GROUP BY a', 'groupBy'],
    ['SELECT DISTINCT a FROM t', 'distinct'],
    ['SELECT SUM(a) OVER () FROM t', 'window'],
    ['SELECT a FROM t ORDER BY a', 'orderBy'],
    ['SELECT a FROM t LIMIT 1', 'limit'],
    ['SELECT (SELECT 1)', 'subquery'],
    ['SELECT * FROM a JOIN b ON TRUE', 'join'],
    ['SELECT * FROM a, b', 'join'],
    ['SELECT 1 UNION SELECT 2', 'setOperation'],
    ['DELETE FROM t RETURNING id', 'returning'],
  ] as const)('%s has %s, and a plain SELECT has not', (sql, feature) => {
    expect(features(sql)[feature]).toBe(true);
    expect(features('SELECT a FROM t WHERE a = 1')[feature]).toBe(false);
  });

  test('knows the table behind an alias that a DELETE names', () => {
    expect(features('DELETE FROM a USING t AS a WHERE a.id = 1').writes).toContainEqual({
      name: 't',
      alias: 'a',
    });
    expect(features('DELETE FROM t USING t AS x WHERE x.id = 1').writes).toEqual([{ name: 't' }]);
  });

  test('names common tables wherever they stand', () => {
    const sql = 'WITH a AS (SELECT 1) SELECT * FROM a WHERE 1 IN (WITH b AS (SELECT 1) SELECT * FROM b)';
    expect(features(sql).commonTables.toSorted()).toEqual(['a', 'b']);
  });

  test('tells locks by strength', () => {
    expect(features('SELECT * FROM t FOR KEY SHARE').locking).toBe('share');
    expect(features('SELECT * FROM t FOR NO KEY UPDATE').locking).toBe('update');
    expect(features('SELECT * FROM t').locking).toBe('none');
  });

  test.each(['SELECT random()', 'SELECT CURRENT_TIMESTAMP', 'SELECT $1', "SELECT nextval('s')", 'SHOW x'])(
    '%s is not deterministic',
    (sql) => {
      expect(features(sql).deterministic).toBe(false);
    },
  );

  test('takes an opaque statement for one that reads and writes all it mentions', () => {
    expect(features('TRUNCATE a, b')).toMatchObject({
      opaque: true,
      reads: [{ name: 'a' }, { name: 'b' }],
      writes: [{ name: 'a' }, { name: 'b' }],
    });
  });
});
