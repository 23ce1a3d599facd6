/**
 * Statements of sessions that change rows in ways that are not, or not fully, followed. Whatever is read after them may be right: there is
 * no finding in it, and what was not judged is said.
 */
import { describe, expect, it } from 'vitest';
import { findContract } from '../../contracts/index.js';
import type { Dialect } from '../../sql/index.js';
import { explain } from '../explain.js';
import { story } from './story.case.js';
import { verifyMechanism } from './verify.js';

const setup = [
  'CREATE TABLE t (id INT PRIMARY KEY, v INT)',
  'INSERT INTO t VALUES (1, 10), (2, 20)',
  'CREATE TABLE u (id INT PRIMARY KEY, w INT)',
  'INSERT INTO u VALUES (1, 7), (3, 9)',
];
const contracts: Readonly<Record<Dialect, readonly string[]>> = {
  postgres: ['postgres:read-committed', 'postgres:repeatable-read', 'postgres:serializable'],
  mysql: [
    'mariadb:read-uncommitted',
    'mysql:read-committed',
    'mariadb:repeatable-read',
    'mysql:serializable',
  ],
  sqlite: ['sqlite:serializable+wal', 'sqlite:serializable+rollback', 'turso:snapshot+mvcc'],
  duckdb: ['duckdb:snapshot'],
};

function verify(statement: string, after: string, dialect: Dialect, own: boolean) {
  const alone = `
    T1: ${statement}
    T2: SELECT id, v FROM t -> ${after}
    T1: SELECT id, v FROM t -> ${after}`;
  const inside = `
    T1: BEGIN
    T1: ${statement}
    T1: SELECT id, v FROM t -> ${after}
    T1: COMMIT
    T2: SELECT id, v FROM t -> ${after}`;
  const history = story(own ? inside : alone, { dialect, setup });
  return contracts[dialect].map((id) => verifyMechanism(history, findContract(id)!));
}

/** A statement, what a correct engine has in t afterwards, and what speaks it. */
const statements: readonly (readonly [sql: string, after: string, dialects: readonly Dialect[]])[] = [
  ['UPDATE t SET v = u.w FROM u WHERE u.id = t.id -> 1', '1,7 | 2,20', ['postgres', 'duckdb', 'sqlite']],
  ['DELETE FROM t USING u WHERE u.id = t.id -> 1', '2,20', ['postgres', 'duckdb']],
  ['UPDATE t, u SET t.v = u.w WHERE u.id = t.id -> 1', '1,7 | 2,20', ['mysql']],
  ['UPDATE t JOIN u ON u.id = t.id SET t.v = u.w -> 1', '1,7 | 2,20', ['mysql']],
  ['DELETE t FROM t JOIN u ON u.id = t.id -> 1', '2,20', ['mysql']],
  ['UPDATE t SET v = 0 ORDER BY id LIMIT 1 -> 1', '1,0 | 2,20', ['mysql']],
  ['DELETE FROM t ORDER BY v DESC LIMIT 1 -> 1', '1,10', ['mysql']],
  ['REPLACE INTO t VALUES (1, 99) -> 2', '1,99 | 2,20', ['mysql']],
  ['REPLACE INTO t VALUES (3, 30) -> 1', '1,10 | 2,20 | 3,30', ['mysql', 'sqlite']],
  ['INSERT OR REPLACE INTO t VALUES (1, 99) -> 1', '1,99 | 2,20', ['sqlite', 'duckdb']],
  ['INSERT OR IGNORE INTO t VALUES (1, 99) -> 0', '1,10 | 2,20', ['sqlite']],
  ['UPDATE OR IGNORE t SET id = 2 WHERE id = 1 -> 0', '1,10 | 2,20', ['sqlite']],
  ['UPDATE OR REPLACE t SET id = 2 WHERE id = 1 -> 1', '2,10', ['sqlite']],
  ['UPDATE IGNORE t SET id = 2 WHERE id = 1 -> 1', '1,10 | 2,20', ['mysql']],
  [
    'INSERT INTO t SELECT id, w FROM u WHERE id > 1 -> 1',
    '1,10 | 2,20 | 3,9',
    ['postgres', 'mysql', 'sqlite', 'duckdb'],
  ],
  [
    'INSERT INTO t SELECT id, w FROM u ON CONFLICT (id) DO UPDATE SET v = EXCLUDED.v -> 2',
    '1,7 | 2,20 | 3,9',
    ['postgres', 'duckdb'],
  ],
  [
    'INSERT INTO t VALUES (1, 5), (3, 30) ON CONFLICT (id) DO UPDATE SET v = t.v + EXCLUDED.v -> 2',
    '1,15 | 2,20 | 3,30',
    ['postgres', 'sqlite', 'duckdb'],
  ],
  [
    'INSERT INTO t VALUES (1, 5) ON CONFLICT (id) DO UPDATE SET v = 0 WHERE t.v > 50 -> 0',
    '1,10 | 2,20',
    ['postgres', 'sqlite', 'duckdb'],
  ],
  ['INSERT INTO t VALUES (1, 5), (3, 30) ON DUPLICATE KEY UPDATE v = v + 1', '1,11 | 2,20 | 3,30', ['mysql']],
  [
    'MERGE INTO t USING u ON t.id = u.id WHEN MATCHED THEN UPDATE SET v = u.w WHEN NOT MATCHED THEN INSERT VALUES (u.id, u.w) -> 2',
    '1,7 | 2,20 | 3,9',
    ['postgres'],
  ],
  [
    'MERGE INTO t USING u ON t.id = u.id WHEN MATCHED AND u.w > 5 THEN DELETE WHEN NOT MATCHED THEN DO NOTHING -> 1',
    '2,20',
    ['postgres'],
  ],
  [
    'WITH x AS (UPDATE t SET v = 0 WHERE id = 1 RETURNING id) SELECT id FROM x -> 1',
    '1,0 | 2,20',
    ['postgres'],
  ],
  ['WITH x AS (DELETE FROM t WHERE id = 1 RETURNING id) SELECT id FROM x -> 1', '2,20', ['postgres']],
  [
    'WITH x AS (DELETE FROM t WHERE id = 1 RETURNING v) INSERT INTO t SELECT 5, v FROM x -> 1',
    '2,20 | 5,10',
    ['postgres'],
  ],
  ['WITH x AS (DELETE FROM t WHERE id = 2) INSERT INTO u VALUES (9, 9) -> 1', '1,10', ['postgres']],
  [
    'WITH x AS (DELETE FROM t WHERE v >= 20 RETURNING *) INSERT INTO u SELECT * FROM x -> 1',
    '1,10',
    ['postgres'],
  ],
  [
    'WITH x AS (UPDATE t SET id = 5 WHERE id = 2) INSERT INTO u VALUES (1, 1) ON CONFLICT DO NOTHING -> 0',
    '1,10 | 5,20',
    ['postgres'],
  ],
  ['WITH x AS (UPDATE t SET id = 5 WHERE id = 2) DELETE FROM u -> 2', '1,10 | 5,20', ['postgres']],
  [
    'WITH x AS (DELETE FROM t WHERE id = 2) MERGE INTO u USING t ON t.id = u.id WHEN MATCHED THEN DELETE -> 1',
    '1,10',
    ['postgres'],
  ],
  [
    'WITH x AS (DELETE FROM t WHERE id IN (SELECT id FROM t LIMIT 1 FOR UPDATE SKIP LOCKED) RETURNING *) SELECT * FROM x -> 1,10',
    '2,20',
    ['postgres'],
  ],
  [
    'WITH x AS (DELETE FROM t WHERE v > random() * 15 RETURNING *) SELECT * FROM x -> 2,20',
    '1,10',
    ['postgres'],
  ],
  [
    'WITH x AS (SELECT id FROM u) DELETE FROM t WHERE id IN (SELECT id FROM x) -> 1',
    '2,20',
    ['postgres', 'mysql', 'sqlite'],
  ],
  ['UPDATE t SET (id, v) = (7, 70) WHERE id = 1 -> 1', '2,20 | 7,70', ['postgres']],
  [
    'UPDATE t SET (v) = (SELECT w FROM u WHERE u.id = t.id) WHERE id = 1 -> 1',
    '1,7 | 2,20',
    ['postgres', 'sqlite'],
  ],
  ['UPDATE t SET v = DEFAULT WHERE id = 1 -> 1', '1,NULL | 2,20', ['postgres', 'mysql', 'duckdb']],
  ['UPDATE ONLY t SET v = 0 WHERE id = 1 -> 1', '1,0 | 2,20', ['postgres']],
  [
    'DELETE FROM t WHERE (id, v) IN ((1, 10), (2, 9)) -> 1',
    '2,20',
    ['postgres', 'mysql', 'sqlite', 'duckdb'],
  ],
  ['DELETE FROM t WHERE id = ANY (ARRAY[1, 5]) -> 1', '2,20', ['postgres']],
  ['DELETE FROM t WHERE ctid IN (SELECT ctid FROM t ORDER BY id LIMIT 1) -> 1', '2,20', ['postgres']],
  ['DELETE FROM t WHERE rowid = 1 -> 1', '2,20', ['sqlite']],
  ['UPDATE t SET v = v + random() * 0 WHERE id = 1 -> 1', '1,10 | 2,20', ['postgres', 'sqlite']],
  ['TRUNCATE t', 'nothing', ['postgres', 'mysql', 'duckdb']],
  ['DO $$ BEGIN UPDATE t SET v = 0; END $$', '1,0 | 2,0', ['postgres']],
  ['CALL change()', '1,0 | 2,0', ['postgres', 'mysql']],
  ['EXECUTE p', '1,0 | 2,0', ['postgres', 'mysql']],
  ['COPY t FROM STDIN', '1,10 | 2,20 | 9,90', ['postgres']],
  ['DROP TABLE t', '1,10', ['postgres', 'sqlite', 'duckdb']],
  ['ALTER TABLE t ALTER COLUMN v TYPE TEXT', '1,a | 2,b', ['postgres']],
  ['DELETE FROM u USING t AS u WHERE u.id = 2 -> 1', '1,10', ['mysql']],
  [
    'WITH t AS (SELECT * FROM t WHERE id = 1) SELECT * FROM t -> 1,10',
    '1,10 | 2,20',
    ['postgres', 'mysql', 'duckdb'],
  ],
  ['WITH T AS (SELECT * FROM u) SELECT * FROM t -> 1,10 | 2,20', '1,10 | 2,20', ['mysql']],
  [
    'SELECT * FROM t WHERE id IN (WITH t AS (SELECT 2 AS id) SELECT id FROM t) -> 2,20',
    '1,10 | 2,20',
    ['postgres', 'mysql', 'sqlite', 'duckdb'],
  ],
  [
    'INSERT INTO u WITH u AS (SELECT id + 5, v FROM t) SELECT * FROM u -> 2',
    '1,10 | 2,20',
    ['postgres', 'mysql', 'sqlite', 'duckdb'],
  ],
  [
    'INSERT INTO t SELECT id + 5, v FROM t WHERE id IN (WITH t AS (SELECT 2 AS id) SELECT id FROM t) -> 1',
    '1,10 | 2,20 | 7,20',
    ['postgres', 'mysql', 'sqlite', 'duckdb'],
  ],
  ['TRUNCATE u CASCADE', 'nothing', ['postgres']],
  ["ALTER TYPE e RENAME VALUE '10' TO '11'", '1,11 | 2,20', ['postgres']],
  ['DROP DOMAIN d CASCADE', '1,NULL | 2,NULL', ['postgres']],
  ['CREATE TEMP VIEW t AS SELECT id, w AS v FROM u', '1,7 | 3,9', ['postgres', 'duckdb', 'sqlite']],
  ['SELECT id, w AS v INTO TEMP t FROM u', '1,7 | 3,9', ['postgres']],
  ['EXPLAIN ANALYSE UPDATE t SET v = 0 -> x', '1,0 | 2,0', ['postgres']],
  ['EXPLAIN (COSTS OFF, ANALYSE) DELETE FROM t -> x', 'nothing', ['postgres']],
  ['ANALYZE UPDATE t SET v = 0 -> x', '1,0 | 2,0', ['mysql']],
  ['ANALYZE FORMAT=JSON DELETE FROM t -> x', 'nothing', ['mysql']],
  ['DESC ANALYZE UPDATE t, u SET t.v = 0 -> x', '1,0 | 2,0', ['mysql']],
  ['BEGIN NOT ATOMIC UPDATE t SET v = 0; END', '1,0 | 2,0', ['mysql']],
  ['CREATE TABLE t2 AS SELECT * FROM t', '1,10 | 2,20', ['postgres', 'mysql', 'sqlite', 'duckdb']],
];

const each = statements.flatMap(([sql, after, dialects]) =>
  dialects.map((dialect) => [sql, after, dialect] as const),
);

describe('no alarm after', () => {
  it.each(each)('%s: %s (%s)', (sql, after, dialect) => {
    for (const own of [false, true])
      expect(verify(sql, after, dialect, own).flatMap(({ findings }) => findings.map(explain))).toEqual([]);
  });
});

describe('no alarm in what makes other lines than rows:', () => {
  it.each<[string, string, readonly Dialect[]]>([
    ['an aggregate of bits', 'SELECT bit_or(v) FROM t -> 30', ['postgres', 'mysql', 'duckdb']],
    ['an aggregate of JSON', 'SELECT json_agg(v) FROM t -> x', ['postgres']],
    ['an aggregate of JSON in MySQL', 'SELECT JSON_ARRAYAGG(v) FROM t -> x', ['mysql']],
    ['an aggregate of JSON in SQLite', 'SELECT json_group_array(v) FROM t -> x', ['sqlite']],
    ['a deviation', 'SELECT stddev_pop(v) FROM t -> 5', ['postgres', 'mysql', 'duckdb']],
    ['a correlation', 'SELECT corr(id, v) FROM t -> 1', ['postgres', 'duckdb']],
    ['a percentile', 'SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY v) FROM t -> 15', ['postgres']],
    ['a list', 'SELECT list(v) FROM t -> x', ['duckdb']],
    ['the row of the largest value', 'SELECT arg_max(id, v) FROM t -> 2', ['duckdb']],
    ['an aggregate of somebody’s own', 'SELECT my_sum(v) FROM t -> 30', ['postgres', 'duckdb', 'sqlite']],
    ['one of another schema', 'SELECT tools.my_sum(v) FROM t -> 30', ['postgres']],
    [
      'many lines of one row',
      'SELECT id, generate_series(1, 2) FROM t -> 1,1 | 1,2 | 2,1 | 2,2',
      ['postgres'],
    ],
    [
      'lines of a text',
      "SELECT id, regexp_split_to_table('a b', ' ') FROM t -> 1,a | 1,b | 2,a | 2,b",
      ['postgres'],
    ],
    ['no lines of some rows', 'SELECT id, generate_series(id, 1) FROM t -> 1,1', ['postgres']],
  ])('%s', (_, sql, dialects) => {
    for (const dialect of dialects)
      for (const id of contracts[dialect]) {
        const { findings, skipped } = verifyMechanism(
          story(`T1: ${sql}`, { dialect, setup }),
          findContract(id)!,
        );
        expect(findings.map(explain)).toEqual([]);
        expect(skipped.map(({ what }) => what)).toEqual(['read']);
      }
  });

  it('and the rows beside a function that is not computed are judged', () => {
    const read = (rows: string) => story(`T1: SELECT id, ROUND(v) FROM t -> ${rows}`, { setup });
    const contract = findContract(contracts.postgres[0]!)!;
    expect(verifyMechanism(read('1,10 | 2,20'), contract).findings).toEqual([]);
    expect(verifyMechanism(read('1,10'), contract).findings).not.toEqual([]);
  });
});

describe('no alarm where a session makes what changes rows by itself:', () => {
  it.each([
    [
      'a function',
      `T1: CREATE FUNCTION f() RETURNS INT LANGUAGE sql AS 'UPDATE t SET v = 0 RETURNING 1'
       T1: SELECT f() -> 1
       T2: SELECT id, v FROM t -> 1,0 | 2,0`,
    ],
    [
      'a trigger',
      `T1: CREATE TRIGGER g AFTER UPDATE ON t FOR EACH ROW EXECUTE FUNCTION f()
       T1: UPDATE t SET v = 11 WHERE id = 1 -> 1
       T2: SELECT id, w FROM u -> 1,8 | 3,9
       T1: UPDATE t SET v = 12 WHERE id = 1 -> 1
       T2: SELECT id, w FROM u -> 1,9 | 3,9
       T2: SELECT id, v FROM t -> 1,13 | 2,20`,
    ],
    [
      'a rule',
      `T1: CREATE RULE r AS ON UPDATE TO t DO INSTEAD NOTHING
       T1: UPDATE t SET v = 11 WHERE id = 1 -> 0
       T2: SELECT id, v FROM t -> 1,10 | 2,20`,
    ],
    [
      'a view that is written through',
      `T1: CREATE VIEW w AS SELECT id, v FROM t
       T1: UPDATE w SET v = 0 WHERE id = 1 -> 1
       T2: SELECT id, v FROM t -> 1,0 | 2,20`,
    ],
    [
      'a procedure',
      `T1: CREATE PROCEDURE p() LANGUAGE sql AS 'UPDATE t SET v = 0'
       T1: CALL p()
       T2: SELECT id, v FROM t -> 1,0 | 2,0`,
    ],
  ])('%s', (_, text) => {
    for (const id of contracts.postgres) {
      const { findings } = verifyMechanism(story(text, { setup }), findContract(id)!);
      expect(findings.map(explain)).toEqual([]);
    }
  });
});

describe('no alarm about tables whose rows are also those of others:', () => {
  it.each([
    [
      'INHERITS',
      ['CREATE TABLE p (id INT PRIMARY KEY, v INT)', 'CREATE TABLE c (w INT) INHERITS (p)'],
      'INSERT INTO c VALUES (1, 11, 5) -> 1',
    ],
    [
      'PARTITION OF',
      [
        'CREATE TABLE p (id INT, v INT) PARTITION BY RANGE (id)',
        'CREATE TABLE c PARTITION OF p FOR VALUES FROM (0) TO (10)',
      ],
      'INSERT INTO c VALUES (1, 11) -> 1',
    ],
    [
      'ATTACH PARTITION',
      [
        'CREATE TABLE p (id INT, v INT) PARTITION BY RANGE (id)',
        'CREATE TABLE c (id INT, v INT)',
        'ALTER TABLE p ATTACH PARTITION c DEFAULT',
      ],
      'INSERT INTO c VALUES (1, 11) -> 1',
    ],
    [
      'INHERIT',
      ['CREATE TABLE p (id INT, v INT)', 'CREATE TABLE c (id INT, v INT)', 'ALTER TABLE c INHERIT p'],
      'INSERT INTO c VALUES (1, 11) -> 1',
    ],
  ])('%s', (_, family, insert) => {
    const text = `
      T1: INSERT INTO p VALUES (1, 10) -> 1
      T1: ${insert}
      T2: SELECT id, v FROM p -> 1,10 | 1,11
      T2: UPDATE p SET v = 0 -> 2
      T2: DELETE FROM c -> 1
      T1: SELECT id, v FROM p -> 1,0
      T1: SELECT id, v FROM c -> nothing`;
    for (const id of contracts.postgres) {
      const inSetup = verifyMechanism(story(text, { setup: family }), findContract(id)!);
      expect(inSetup.findings.map(explain)).toEqual([]);
      const made = family.slice(1).map((sql) => `T1: ${sql}`);
      const later = story(`${made.join('\n')}\n${text}`, { setup: family.slice(0, 1) });
      expect(verifyMechanism(later, findContract(id)!).findings.map(explain)).toEqual([]);
    }
  });

  it('a partition that a query names', () => {
    const read = story('T1: SELECT id FROM t PARTITION (p0) -> 1', { dialect: 'mysql', setup });
    expect(verifyMechanism(read, findContract(contracts.mysql[0]!)!).findings.map(explain)).toEqual([]);
  });
});

describe('no alarm where EXCLUDE keeps a row out:', () => {
  const columns = 'id INT, v INT';
  it.each([
    ['in the table', [`CREATE TABLE t (${columns}, EXCLUDE (v WITH =))`]],
    [
      'added later',
      [`CREATE TABLE t (${columns})`, 'ALTER TABLE t ADD CONSTRAINT x EXCLUDE USING gist (v WITH =)'],
    ],
  ])('%s', (_, definitions) => {
    const text = `
      T1: INSERT INTO t VALUES (3, 10) ON CONFLICT DO NOTHING -> 0
      T2: SELECT * FROM t -> 1,10`;
    const history = story(text, { setup: [...definitions, 'INSERT INTO t VALUES (1, 10)'] });
    for (const id of contracts.postgres)
      expect(verifyMechanism(history, findContract(id)!).findings.map(explain)).toEqual([]);
  });
});

describe('no alarm after a setting by which statements mean something else:', () => {
  it.each([
    ['fewer rows', 'SET sql_select_limit = 1', 'SELECT id FROM t -> 1', 'mysql'],
    ['another table', 'SET search_path = other', 'INSERT INTO t VALUES (3, 30) -> 1', 'postgres'],
    [
      'another table, by a function',
      "SELECT set_config('search_path', 'o', false) -> o",
      'DELETE FROM t -> 0',
      'postgres',
    ],
    ['another database', 'USE other', 'SELECT id FROM t -> nothing', 'mysql'],
    [
      'a deletion',
      'SET STATEMENT max_statement_time = 1 FOR DELETE FROM t',
      'SELECT * FROM t -> nothing',
      'mysql',
    ],
  ] as const)('%s', (name, setting, statement, dialect) => {
    const left = name === 'a deletion' ? 'nothing' : '1,10 | 2,20';
    const history = story(`T1: ${setting}\nT1: ${statement}\nT2: SELECT * FROM t -> ${left}`, {
      dialect,
      setup,
    });
    for (const id of contracts[dialect])
      expect(verifyMechanism(history, findContract(id)!).findings.map(explain)).toEqual([]);
  });

  it('and after a harmless one everything is judged', () => {
    const history = story('T1: SET enable_seqscan = off\nT1: SELECT id FROM t -> 1', { setup });
    for (const id of contracts.postgres)
      expect(verifyMechanism(history, findContract(id)!).findings).not.toEqual([]);
  });
});

describe('what is followed is still judged:', () => {
  // Of each, a state that no engine can have after it.
  it.each([
    ['UPDATE t SET v = 0 WHERE id = (SELECT MIN(id) FROM u) -> 1', '1,10 | 2,20', 'postgres'],
    ['INSERT INTO t SELECT id, w FROM u WHERE id > 1 -> 1', '1,10 | 2,20 | 3,8', 'postgres'],
    [
      'INSERT INTO t VALUES (1, 5) ON CONFLICT (id) DO UPDATE SET v = t.v + EXCLUDED.v -> 1',
      '1,5 | 2,20',
      'sqlite',
    ],
    [
      'INSERT INTO t VALUES (1, 5) ON CONFLICT (id) DO UPDATE SET v = 0 WHERE t.v > 50 -> 0',
      '1,0 | 2,20',
      'duckdb',
    ],
    ['REPLACE INTO t VALUES (3, 30) -> 1', '1,10 | 2,20 | 3,31', 'mysql'],
    ['DELETE FROM t WHERE (id, v) IN ((1, 10), (2, 9)) -> 1', '1,10 | 2,20', 'postgres'],
  ] as const)('%s does not leave %s (%s)', (sql, after, dialect) => {
    for (const result of verify(sql, after, dialect, false)) expect(result.findings).not.toEqual([]);
  });
});

describe('what is not followed says so:', () => {
  it.each([
    ['CALL change()', /CALL/],
    ['DO $$ BEGIN UPDATE t SET v = 0; END $$', /DO/],
    ['UPDATE t SET v = u.w FROM u WHERE u.id = t.id -> 1', /FROM|other tables|not followed|several/i],
    ['TRUNCATE t', /TRUNCATE|schema/],
  ])('%s', (sql, reason) => {
    for (const { skipped } of verify(sql, '1,0 | 2,0', 'postgres', false)) {
      expect(skipped.map((each) => each.what)).toContain('read');
      expect(skipped.map((each) => each.reason).join('; ')).toMatch(reason);
    }
  });
});
