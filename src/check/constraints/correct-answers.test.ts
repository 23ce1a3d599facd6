/** Answers that look as if they broke a declared key, a condition or a reference, and do not: queries that make rows of their own. */
import { describe, expect, it } from 'vitest';
import { findContract } from '../../contracts/index.js';
import type { Dialect } from '../../sql/index.js';
import { explain } from '../explain.js';
import { story } from '../mechanism/story.case.js';
import { brokenConstraints } from './constraint-oracle.js';

const setup = [
  'CREATE TABLE t (id INT PRIMARY KEY, u INT UNIQUE, n INT NOT NULL, c INT CHECK (c > 0))',
  'INSERT INTO t VALUES (1, 10, 5, 1), (2, 20, 6, 2)',
  'CREATE TABLE o (id INT PRIMARY KEY)',
  'INSERT INTO o VALUES (1), (7)',
];

const contracts: Readonly<Record<Dialect, string>> = {
  postgres: 'postgres:read-committed',
  mysql: 'mariadb:read-committed',
  sqlite: 'sqlite:serializable+wal',
  duckdb: 'duckdb:snapshot',
};

function found(text: string, dialect: Dialect, more: readonly string[] = []): readonly string[] {
  const history = story(text, { dialect, setup: [...setup, ...more] });
  const name = contracts[dialect].split(':')[0]!;
  const header = { ...history.header, target: { name, version: '11.8.0' } };
  return brokenConstraints({ ...history, header }, findContract(contracts[dialect])!).map(explain);
}

const everywhere: readonly Dialect[] = ['postgres', 'mysql', 'sqlite', 'duckdb'];

describe('no key is broken by', () => {
  it.each<[string, string, readonly Dialect[]]>([
    ['a join', 'SELECT t.id, t.u FROM t, o -> 1,10 | 1,10 | 2,20 | 2,20', everywhere],
    ['a join with itself', 'SELECT a.id FROM t AS a JOIN t AS b ON a.c <= b.c -> 1 | 1 | 2', everywhere],
    ['UNION ALL', 'SELECT id FROM t UNION ALL SELECT id FROM t -> 1 | 1 | 2 | 2', everywhere],
    [
      'a derived table',
      'SELECT u FROM (SELECT u FROM t UNION ALL SELECT u FROM t) AS x -> 10 | 10 | 20 | 20',
      everywhere,
    ],
    [
      'a common table of the same name',
      'WITH t AS (SELECT 1 AS id UNION ALL SELECT 1) SELECT id FROM t -> 1 | 1',
      everywhere,
    ],
    ['another column under its name', 'SELECT n AS id FROM t -> 5 | 5', everywhere],
    ['an expression under its name', 'SELECT id % 1 AS id FROM t -> 0 | 0', everywhere],
    ['a constant', 'SELECT 1 AS id FROM t -> 1 | 1', everywhere],
    [
      'a function of many rows',
      'SELECT id, generate_series(1, 2) FROM t -> 1,1 | 1,2 | 2,1 | 2,2',
      ['postgres'],
    ],
    [
      'one that is unnested',
      'SELECT id, unnest(ARRAY[1, 2]) FROM t -> 1,1 | 1,2 | 2,1 | 2,2',
      ['postgres', 'duckdb'],
    ],
    [
      'a lateral join',
      'SELECT t.id FROM t, LATERAL (SELECT 1 UNION ALL SELECT 2) AS x -> 1 | 1 | 2 | 2',
      ['postgres'],
    ],
    ['other names for columns', 'SELECT id FROM t AS x (a, id, b, c) -> 10 | 20', ['postgres', 'duckdb']],
    [
      'groups by a part of it',
      'SELECT id FROM t GROUP BY GROUPING SETS ((id), (id)) -> 1 | 1 | 2 | 2',
      ['postgres', 'duckdb'],
    ],
    ['all states of a row', 'SELECT * FROM t FOR SYSTEM_TIME ALL -> 1,10,5,1 | 1,10,5,2', ['mysql']],
    ['a table of another schema', 'SELECT id FROM other.t -> 1 | 1', everywhere],
  ])('%s', (_, query, dialects) => {
    for (const dialect of dialects) expect(found(`T1: ${query}`, dialect), dialect).toEqual([]);
  });
});

describe('no condition is broken by', () => {
  it.each<[string, string, readonly Dialect[]]>([
    ['an outer join', 'SELECT o.id, t.n FROM o LEFT JOIN t ON t.id = o.id -> 1,5 | 7,NULL', everywhere],
    ['a right join', 'SELECT t.n FROM t RIGHT JOIN o ON t.id = o.id -> 5 | NULL', everywhere],
    ['totals', 'SELECT n, COUNT(*) FROM t GROUP BY n WITH ROLLUP -> 5,1 | 6,1 | NULL,2', ['mysql']],
    [
      'totals of PostgreSQL',
      'SELECT n, COUNT(*) FROM t GROUP BY ROLLUP (n) -> 5,1 | 6,1 | NULL,2',
      ['postgres', 'duckdb'],
    ],
    [
      'a cube',
      'SELECT n, c FROM t GROUP BY CUBE (n, c) -> NULL,NULL | 5,1 | 5,NULL | NULL,1',
      ['postgres', 'duckdb'],
    ],
    ['an aggregate of nothing', 'SELECT MAX(n) FROM t WHERE id > 9 -> NULL', everywhere],
    ['a scalar subquery', 'SELECT (SELECT n FROM t WHERE id = 9) FROM o -> NULL | NULL', everywhere],
    ['another value under its name', 'SELECT id, 0 - c AS c FROM t -> 1,-1 | 2,-2', everywhere],
    ['NULLIF', 'SELECT NULLIF(n, 5) AS n FROM t -> NULL | 6', everywhere],
    ['a window', 'SELECT id, LAG(n) OVER (ORDER BY id) AS n FROM t -> 1,NULL | 2,5', everywhere],
    ['a NULL where only the condition speaks', 'SELECT id, c FROM t -> 1,NULL | 2,2', everywhere],
    ['a common table of the same name', 'WITH t AS (SELECT NULL AS n) SELECT n FROM t -> NULL', everywhere],
  ])('%s', (_, query, dialects) => {
    for (const dialect of dialects) expect(found(`T1: ${query}`, dialect), dialect).toEqual([]);
  });
});

describe('no key is taken twice where it was freed by', () => {
  const twice = (freeing: string) => `
    T1: INSERT INTO t VALUES (5, 5, 1, 1) -> 1
    ${freeing}
    T3: INSERT INTO t VALUES (5, 5, 1, 1) -> 1`;

  it.each<[string, string, Dialect]>([
    [
      'a write inside a query',
      'T2: WITH x AS (DELETE FROM t WHERE id = 5 RETURNING id) SELECT id FROM x -> 5',
      'postgres',
    ],
    ['a block', 'T2: DO $$ BEGIN DELETE FROM t; END $$', 'postgres'],
    ['a procedure', 'T2: CALL clean()', 'mysql'],
    ['a statement without an answer', 'T2: DELETE FROM t WHERE id = 5 -> lost', 'postgres'],
    ['a DELETE of many tables', 'T2: DELETE t FROM t JOIN o ON o.id < t.id -> 1', 'mysql'],
    ['a DELETE by another column', 'T2: DELETE FROM t WHERE u = 5 -> 1', 'sqlite'],
    ['a DELETE by a part of a condition', 'T2: DELETE FROM t WHERE id = 4 OR c = 1 -> 1', 'duckdb'],
    ['a MERGE', 'T2: MERGE INTO t USING o ON o.id < t.id WHEN MATCHED THEN DELETE -> 1', 'postgres'],
    [
      'an UPDATE of the key by an expression',
      'T2: UPDATE t SET id = id + 100, u = u + 100 WHERE id > 4 -> 1',
      'postgres',
    ],
    ['a table that was made anew', `T2: DROP TABLE t\nT2: ${setup[0]}`, 'postgres'],
    ['one that moved to another name', 'T2: ALTER TABLE t RENAME TO s', 'postgres'],
    ['a REPLACE of another key', 'T2: REPLACE INTO t VALUES (9, 5, 1, 1) -> 2', 'mysql'],
  ])('%s', (_, freeing, dialect) => {
    expect(found(twice(freeing), dialect)).toEqual([]);
  });

  it('and is taken twice where nothing did', () => {
    for (const dialect of everywhere) expect(found(twice(''), dialect), dialect).toHaveLength(2);
  });
});

describe('a row that is shown still tells', () => {
  it.each<[string, string, readonly Dialect[]]>([
    ['of a key', 'SELECT id, n FROM t -> 1,5 | 1,6', everywhere],
    ['of a key, by an alias', 'SELECT x.id FROM t AS x WHERE x.n > 0 -> 1 | 1', everywhere],
    ['of NOT NULL', 'SELECT n FROM t ORDER BY id -> NULL', everywhere],
    ['of a condition', 'SELECT * FROM t WHERE id = 1 -> 1,10,5,-3', everywhere],
  ])('%s', (_, query, dialects) => {
    for (const dialect of dialects) expect(found(`T1: ${query}`, dialect), dialect).not.toEqual([]);
  });
});
