import { describe, expect, it } from 'vitest';
import { type Dialect, parseStatement } from '../../sql/index.js';
import { readSetup } from './setup-tables.js';
import { steadinessOf } from './steady.js';

const setup = [
  'CREATE TABLE t (id INT PRIMARY KEY, a INT, d DOUBLE PRECISION)',
  'CREATE TABLE u (k SERIAL, b INT)',
];

const of = (sql: string, dialect: Dialect = 'postgres') =>
  steadinessOf(parseStatement(sql, dialect), readSetup(setup, dialect), dialect);

describe('a statement that means the same wherever it is executed', () => {
  it.each([
    'SELECT * FROM t WHERE a > (SELECT MIN(b) FROM u)',
    'SELECT a, COUNT(*) FROM t GROUP BY a HAVING SUM(id) > 3',
    'SELECT t.a FROM t LEFT JOIN u ON t.id = u.b ORDER BY t.a',
    'WITH w AS (SELECT id FROM t) SELECT * FROM w',
    'SELECT id, SUM(a) OVER (PARTITION BY a) FROM t',
    'UPDATE t SET a = a + 1 WHERE id IN (SELECT b FROM u)',
    'DELETE FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.b = t.a)',
    'INSERT INTO t SELECT b, b, 1.5 FROM u',
    'INSERT INTO t (id, a) VALUES (1, 2) ON CONFLICT (id) DO UPDATE SET a = 3',
    'UPDATE t SET id = 7 WHERE id = 1',
  ])('%s', (sql) => {
    expect(of(sql)).toMatchObject({ steady: true, distinct: [] });
  });

  it('names the columns by which a window or LIMIT orders rows', () => {
    const distinct = [{ table: 't', columns: ['id'] }];
    expect(of('SELECT id, LAG(a) OVER (ORDER BY id) FROM t')).toEqual({ steady: true, distinct });
    expect(of('SELECT * FROM t ORDER BY id LIMIT 2')).toEqual({ steady: true, distinct });
    const joined = of('SELECT x.id FROM t AS x JOIN u AS y ON x.a = y.b ORDER BY x.id, y.b LIMIT 1');
    expect(joined).toEqual({ steady: true, distinct: [...distinct, { table: 'u', columns: ['b'] }] });
  });
});

describe('a statement that is left out', () => {
  it.each([
    ['SELECT NOW(), a FROM t', /now may answer differently/],
    ['SELECT random() FROM t', /random may answer differently/],
    ['SELECT CURRENT_TIMESTAMP FROM t', /may answer differently/i],
    ["SELECT STRING_AGG(a, ',') FROM t", /may answer differently/],
    ['SELECT SUM(d) FROM t', /floating-point/],
    ['SELECT SUM(x.n) FROM (SELECT d AS n FROM t) AS x', /floating-point/],
    ['SELECT * FROM t LIMIT 1', /not total/],
    ['SELECT id, ROW_NUMBER() OVER () FROM t', /not total/],
    ['SELECT DISTINCT ON (a) a, id FROM t', /DISTINCT ON/],
    ['SELECT * FROM t FOR UPDATE SKIP LOCKED', /skips rows/],
    ['UPDATE t SET a = u.b FROM u WHERE u.b = t.id', /several rows/],
    ['UPDATE t SET id = id + 1', /collide/],
    ['INSERT INTO u (b) VALUES (1)', /numbers k/],
    ['INSERT INTO t SELECT b, b, 1 FROM u ON CONFLICT DO NOTHING', /order/],
    ['SELECT * FROM v', /no table of the set-up/],
    ['SELECT $1 FROM t', /does not tell/],
  ])('%s', (sql, why) => {
    expect(of(sql)).toMatchObject({ steady: false, why: expect.stringMatching(why) });
  });

  it('because the engine takes any row of a group or subquery', () => {
    expect(of('SELECT a, MAX(id) FROM t', 'mysql')).toMatchObject({ steady: false });
    expect(of('SELECT a, MAX(id) FROM t GROUP BY a', 'mysql')).toMatchObject({ steady: true });
    expect(of('SELECT * FROM t WHERE a = (SELECT b FROM u)', 'sqlite')).toMatchObject({ steady: false });
    expect(of('SELECT * FROM t WHERE a = (SELECT MAX(b) FROM u)', 'sqlite')).toMatchObject({ steady: true });
  });
});

describe('a set-up', () => {
  it.each([
    ['CREATE TABLE c (p INT REFERENCES t (id) ON DELETE CASCADE)', /act on other rows/],
    ['CREATE VIEW v AS SELECT * FROM t', /the set-up says/],
    ['CREATE TABLE m (a INT) ENGINE=MyISAM', /another storage engine/],
  ])('%s refuses the case', (sql, why) => {
    expect(readSetup([...setup, sql], 'mysql').refused).toMatch(why);
  });
});
