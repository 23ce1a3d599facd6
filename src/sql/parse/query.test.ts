/** Queries and writes: how clauses bind, which word is an alias, and what each dialect reads in its own way. */
import { describe, expect, it } from 'vitest';
import type { QueryBody, SelectStatement } from '../ast.js';
import type { Dialect } from '../dialect.js';
import { printStatement } from '../print/print.js';
import { parseStatement } from './parse.js';

const dialects: readonly Dialect[] = ['postgres', 'mysql', 'sqlite', 'duckdb'];

function readAgain(sql: string, dialect: Dialect): string {
  const statement = parseStatement(sql, dialect);
  if (statement.type === 'opaque') return `opaque: ${statement.reason}`;
  const printed = printStatement(statement, dialect);
  expect(parseStatement(printed, dialect), printed).toEqual(statement);
  return printed;
}

describe('set operations', () => {
  const shape = (body: QueryBody): string =>
    body.type === 'set-operation'
      ? `(${shape(body.left)} ${body.op}${body.all ? ' ALL' : ''} ${shape(body.right)})`
      : body.type === 'core' && body.items[0]?.type === 'item' && body.items[0].expression.type === 'literal'
        ? String(body.items[0].expression.value)
        : body.type;
  const shapeOf = (sql: string, dialect: Dialect) =>
    shape((parseStatement(sql, dialect) as SelectStatement).body);

  it.each<[sql: string, others: string, sqlite: string]>([
    ['SELECT 1 UNION SELECT 2 UNION ALL SELECT 3', '((1 UNION 2) UNION ALL 3)', '((1 UNION 2) UNION ALL 3)'],
    // INTERSECT binds tighter, except in SQLite.
    ['SELECT 1 UNION SELECT 2 INTERSECT SELECT 3', '(1 UNION (2 INTERSECT 3))', '((1 UNION 2) INTERSECT 3)'],
    ['SELECT 1 INTERSECT SELECT 2 UNION SELECT 3', '((1 INTERSECT 2) UNION 3)', '((1 INTERSECT 2) UNION 3)'],
    ['SELECT 1 EXCEPT SELECT 2 EXCEPT SELECT 3', '((1 EXCEPT 2) EXCEPT 3)', '((1 EXCEPT 2) EXCEPT 3)'],
    ['SELECT 1 UNION DISTINCT SELECT 2', '(1 UNION 2)', '(1 UNION 2)'],
  ])('%s', (sql, others, sqlite) => {
    for (const dialect of dialects)
      expect(shapeOf(sql, dialect)).toBe(dialect === 'sqlite' ? sqlite : others);
  });

  it.each(dialects)('keep their shape when they are printed, in %s', (dialect) => {
    for (const sql of [
      'SELECT 1 UNION SELECT 2 INTERSECT SELECT 3',
      'SELECT 1 EXCEPT SELECT 2 UNION ALL SELECT 3',
      'SELECT 1 UNION SELECT 2 ORDER BY 1 LIMIT 3',
    ])
      readAgain(sql, dialect);
  });

  it('keep parentheses that change their meaning', () => {
    expect(readAgain('SELECT 1 EXCEPT (SELECT 2 EXCEPT SELECT 3)', 'postgres')).toBe(
      'SELECT 1 EXCEPT (SELECT 2 EXCEPT SELECT 3)',
    );
    expect(readAgain('(SELECT 1 UNION SELECT 2) INTERSECT SELECT 3', 'postgres')).toBe(
      '(SELECT 1 UNION SELECT 2) INTERSECT SELECT 3',
    );
    expect(readAgain('(SELECT 1 LIMIT 1) UNION SELECT 2', 'postgres')).toBe(
      '(SELECT 1 LIMIT 1) UNION SELECT 2',
    );
    expect(readAgain('((SELECT 1))', 'postgres')).toBe('SELECT 1');
  });
});

describe('clauses', () => {
  it.each<[sql: string, dialect: Dialect, printed: string]>([
    ['select a x from t y', 'postgres', 'SELECT a AS x FROM t AS y'],
    ['select a as "X y" from t', 'postgres', 'SELECT a AS "X y" FROM t'],
    ['select a from t left join u using (a)', 'postgres', 'SELECT a FROM t LEFT JOIN u USING (a)'],
    ['select a from t natural full outer join u', 'postgres', 'SELECT a FROM t NATURAL FULL JOIN u'],
    [
      'select a from (t join u on true) cross join w',
      'postgres',
      'SELECT a FROM t JOIN u ON TRUE CROSS JOIN w',
    ],
    [
      'select a from t join (u join w on true) on true',
      'postgres',
      'SELECT a FROM t JOIN (u JOIN w ON TRUE) ON TRUE',
    ],
    ['select t.*, s.t.* from t', 'postgres', 'SELECT t.*, s.t.* FROM t'],
    ['select distinct on (a) b from t', 'postgres', 'SELECT DISTINCT ON (a) b FROM t'],
    ['select all a from t', 'postgres', 'SELECT a FROM t'],
    ['select distinctrow a from t', 'mysql', 'SELECT DISTINCT a FROM t'],
    ['select sql_no_cache a from t', 'mysql', 'SELECT SQL_NO_CACHE a FROM t'],
    ['select a from t limit 5, 10', 'mysql', 'SELECT a FROM t LIMIT 10 OFFSET 5'],
    ['select a from t offset 1 limit 2', 'postgres', 'SELECT a FROM t LIMIT 2 OFFSET 1'],
    ['select a from t limit all', 'postgres', 'SELECT a FROM t'],
    [
      'select a from t order by a asc nulls first, b desc',
      'postgres',
      'SELECT a FROM t ORDER BY a NULLS FIRST, b DESC',
    ],
    [
      'select a from t for update of t, u nowait for share',
      'postgres',
      'SELECT a FROM t FOR UPDATE OF t, u NOWAIT FOR SHARE',
    ],
    ['select a from t for update wait 5', 'mysql', 'SELECT a FROM t FOR UPDATE WAIT 5'],
    ['select a from t force index (i) where a = 1', 'mysql', 'SELECT a FROM t force index (i) WHERE a = 1'],
    ['select a from t indexed by i', 'sqlite', 'SELECT a FROM t INDEXED BY i'],
    ['select a from only t', 'postgres', 'SELECT a FROM ONLY t'],
    ['values (1, 2), (3, 4)', 'postgres', 'VALUES (1, 2), (3, 4)'],
    [
      'with recursive c (n) as materialized (select 1) select n from c',
      'postgres',
      'WITH RECURSIVE c (n) AS MATERIALIZED (SELECT 1) SELECT n FROM c',
    ],
    ['select count(distinct a), sum(all b) from t', 'postgres', 'SELECT COUNT(DISTINCT a), SUM(b) FROM t'],
    [
      "select string_agg(a, ',' order by a) from t",
      'postgres',
      "SELECT STRING_AGG(a, ',' ORDER BY a) FROM t",
    ],
    ['select a from t window w as (order by a)', 'postgres', 'SELECT a FROM t WINDOW w AS (ORDER BY a)'],
    ['select a from t where a = any (select 1)', 'postgres', 'SELECT a FROM t WHERE a = ANY (SELECT 1)'],
    ['select a from t, lateral (select t.a) as x', 'postgres', 'SELECT a FROM t, LATERAL (SELECT t.a) AS x'],
  ])('%s', (sql, dialect, printed) => {
    expect(readAgain(sql, dialect)).toBe(printed);
  });

  it.each<[sql: string, dialect: Dialect, reason: string]>([
    ['SELECT', 'postgres', 'expected'],
    ['SELECT a FROM', 'postgres', 'expected'],
    ['SELECT a FROM t WHERE', 'postgres', 'expected an expression'],
    ['SELECT a FROM t LIMIT', 'postgres', 'expected an expression'],
    ['SELECT a FROM t FOR NOTHING', 'postgres', 'expected FOR UPDATE or FOR SHARE'],
    ['SELECT a INTO b FROM t', 'postgres', 'expected FROM, found INTO'],
    ['SELECT a FROM t UNION BY NAME SELECT 1', 'duckdb', 'expected SELECT'],
    ['SELECT (1', 'postgres', 'expected'],
    ['SELECT a FROM t garbage garbage', 'postgres', 'expected'],
    ['CASE WHEN', 'postgres', ''],
  ])('%s is opaque: %s', (sql, dialect, reason) => {
    expect(readAgain(sql, dialect)).toContain(`opaque: ${reason}`);
  });
});

describe('words that are names in one place and grammar in another', () => {
  it.each<[sql: string, dialect: Dialect, printed: string]>([
    ['SELECT left FROM t', 'postgres', 'opaque: expected an expression, found left'],
    ['SELECT a FROM t LEFT JOIN u ON TRUE', 'postgres', 'SELECT a FROM t LEFT JOIN u ON TRUE'],
    ['SELECT left(a, 1) FROM t', 'postgres', 'SELECT LEFT(a, 1) FROM t'],
    ['SELECT div FROM t', 'postgres', 'SELECT "div" FROM t'],
    ['SELECT a div 2 FROM t', 'mysql', 'SELECT a DIV 2 FROM t'],
    ['SELECT offset FROM t', 'mysql', 'SELECT `offset` FROM t'],
    ['SELECT a full FROM t', 'sqlite', 'opaque'],
    ['SELECT a AS full FROM t', 'sqlite', 'SELECT a AS "full" FROM t'],
    ['SELECT key, value FROM t', 'postgres', 'SELECT "key", value FROM t'],
    ['SELECT replace(a, 1, 2) FROM t', 'mysql', 'SELECT REPLACE(a, 1, 2) FROM t'],
  ])('%s in %s', (sql, dialect, printed) => {
    expect(readAgain(sql, dialect)).toContain(printed);
  });
});

describe('writes', () => {
  it.each<[sql: string, dialect: Dialect, printed: string]>([
    ['insert into t default values', 'postgres', 'INSERT INTO t DEFAULT VALUES'],
    ['insert into t () values ()', 'mysql', 'INSERT INTO t () VALUES ()'],
    ['insert ignore into t value (1)', 'mysql', 'INSERT IGNORE INTO t VALUES (1)'],
    ['insert or ignore into t values (1)', 'sqlite', 'INSERT OR IGNORE INTO t VALUES (1)'],
    ['replace into t select 1', 'sqlite', 'INSERT OR REPLACE INTO t SELECT 1'],
    [
      'insert into t as x values (1) on conflict on constraint k do nothing',
      'postgres',
      'INSERT INTO t AS x VALUES (1) ON CONFLICT ON CONSTRAINT k DO NOTHING',
    ],
    [
      'insert into t values (1) on conflict (a) where a > 1 do update set a = 2 where t.a < 3',
      'postgres',
      'INSERT INTO t VALUES (1) ON CONFLICT (a) WHERE a > 1 DO UPDATE SET a = 2 WHERE t.a < 3',
    ],
    [
      'update t set (a, b) = (1, 2) from u where t.a = u.a returning t.*',
      'postgres',
      'UPDATE t SET (a, b) = (1, 2) FROM u WHERE t.a = u.a RETURNING t.*',
    ],
    ['update t, u set t.a = u.a', 'mysql', 'UPDATE t, u SET t.a = u.a'],
    ['update or replace t set a = 1', 'sqlite', 'UPDATE OR REPLACE t SET a = 1'],
    ['delete from t using u where t.a = u.a', 'postgres', 'DELETE FROM t USING u WHERE t.a = u.a'],
    [
      'delete low_priority quick ignore from t order by a limit 1',
      'mysql',
      'DELETE IGNORE FROM t ORDER BY a LIMIT 1',
    ],
    [
      'merge into t using u on t.a = u.a when matched and t.b > 1 then delete when not matched then insert (a) values (u.a)',
      'postgres',
      'MERGE INTO t USING u ON t.a = u.a WHEN MATCHED AND t.b > 1 THEN DELETE WHEN NOT MATCHED THEN INSERT (a) VALUES (u.a)',
    ],
    [
      'merge into t using u on true when not matched by source then do nothing',
      'postgres',
      'MERGE INTO t USING u ON TRUE WHEN NOT MATCHED BY SOURCE THEN DO NOTHING',
    ],
  ])('%s', (sql, dialect, printed) => {
    expect(readAgain(sql, dialect)).toBe(printed);
  });

  it.each<[sql: string, dialect: Dialect]>([
    ['INSERT t VALUES (1)', 'postgres'],
    ['INSERT INTO t VALUES', 'postgres'],
    ['INSERT INTO t (a) OVERRIDING SYSTEM VALUE VALUES (1)', 'postgres'],
    ['INSERT OR EXPLODE INTO t VALUES (1)', 'sqlite'],
    ['UPDATE t', 'postgres'],
    ['UPDATE t SET', 'postgres'],
    ['DELETE t', 'postgres'],
    ['MERGE INTO t USING u ON TRUE', 'postgres'],
    ['DELETE FROM t LIMIT 1 OFFSET 2', 'sqlite'],
  ])('%s in %s is not read', (sql, dialect) => {
    expect(parseStatement(sql, dialect).type).toBe('opaque');
  });
});
