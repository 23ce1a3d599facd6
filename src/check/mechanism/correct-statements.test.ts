/** What correct databases answer to statements that do more, or less, than they say: failures, lost answers, DDL, upserts, names. */
import { describe } from 'vitest';
import { type Contracts, embedded, mariadb, postgres, type Told, tell } from './told-twice.case.js';

const sqlite: Contracts = embedded.filter(([, dialect]) => dialect === 'sqlite');
const duckdb: Contracts = embedded.filter(([, dialect]) => dialect === 'duckdb');

describe('a statement that failed', () => {
  tell({
    'by itself has done nothing': {
      text: `
        T1: INSERT INTO t VALUES (3, 30), (1, 11) -> error duplicate-key
        T2: SELECT id, v FROM t -> 1,10 | 2,20`,
      wrong: ['1,10 | 2,20', '1,10 | 2,20 | 3,30'],
    },
    'leaves the rest of its transaction where the engine goes on': {
      text: `
        T1: BEGIN
        T1: UPDATE t SET v = 11 WHERE id = 1 -> 1
        T1: INSERT INTO t VALUES (3, 30), (2, 0) -> error duplicate-key
        T1: SELECT id, v FROM t -> 1,11 | 2,20
        T1: COMMIT
        T2: SELECT id, v FROM t -> 1,11 | 2,20`,
      wrong: ['T2: SELECT id, v FROM t -> 1,11', 'T2: SELECT id, v FROM t -> 1,10'],
      under: [...mariadb, ...sqlite],
    },
    'takes its transaction with it in PostgreSQL': {
      text: `
        T1: BEGIN
        T1: UPDATE t SET v = 11 WHERE id = 1 -> 1
        T1: INSERT INTO t VALUES (1, 0) -> error duplicate-key
        T1: ROLLBACK
        T2: SELECT id, v FROM t -> 1,10 | 2,20`,
      wrong: ['1,10 | 2,20', '1,11 | 2,20'],
      under: postgres,
    },
    'lets others have the rows at once in PostgreSQL, before the client has answered': {
      text: `
        T1: BEGIN
        T1: UPDATE t SET v = 11 WHERE id = 1 -> 1
        T1: INSERT INTO t VALUES (1, 0) -> error duplicate-key
        T2: UPDATE t SET v = 12 WHERE id = 1 -> 1
        T1: ROLLBACK
        T2: SELECT id, v FROM t -> 1,12 | 2,20`,
      wrong: ['1,12 | 2,20', '1,10 | 2,20'],
      under: postgres,
    },
    'is saved by a savepoint': {
      text: `
        T1: BEGIN
        T1: UPDATE t SET v = 11 WHERE id = 1 -> 1
        T1: SAVEPOINT s
        T1: INSERT INTO t VALUES (1, 0) -> error duplicate-key
        T1: ROLLBACK TO SAVEPOINT s
        T1: COMMIT
        T2: SELECT id, v FROM t -> 1,11 | 2,20`,
      wrong: ['1,11 | 2,20', '1,10 | 2,20'],
      under: [...postgres, ...mariadb],
    },
  });
});

describe('a transaction that has not ended', () => {
  tell({
    'is not seen': {
      text: `
        T1: BEGIN
        T1: UPDATE t SET v = 11 WHERE id = 1 -> 1
        T1: INSERT INTO t VALUES (3, 30) -> 1
        T2: SELECT id, v FROM t -> 1,10 | 2,20`,
      wrong: ['1,10 | 2,20', '1,10 | 2,20 | 3,30'],
      // Locking reads of InnoDB's SERIALIZABLE would wait; uncommitted ones see it.
      under: [
        ...postgres,
        ['mariadb:read-committed', 'mysql'],
        ['mariadb:repeatable-read', 'mysql'],
        ...embedded,
      ],
    },
    'sees itself': {
      text: `
        T1: BEGIN
        T1: DELETE FROM t WHERE id = 1 -> 1
        T1: INSERT INTO t VALUES (3, 30) -> 1
        T1: UPDATE t SET v = v + 1 WHERE id >= 2 -> 2
        T1: SELECT id, v FROM t -> 2,21 | 3,31`,
      wrong: ['2,21 | 3,31', '2,21 | 3,30'],
    },
    'whose COMMIT failed is not seen': {
      text: `
        T1: BEGIN
        T1: UPDATE t SET v = 11 WHERE id = 1 -> 1
        T1: ROLLBACK
        T2: BEGIN
        T2: UPDATE t SET v = 12 WHERE id = 1 -> 1
        T2: COMMIT
        T3: SELECT id, v FROM t -> 1,12 | 2,20`,
      wrong: ['1,12 | 2,20', '1,11 | 2,20'],
    },
  });
});

describe('a statement without an answer', () => {
  tell({
    'may have been carried out': {
      text: `
        T1: UPDATE t SET v = 11 WHERE id = 1 -> lost
        T2: SELECT id, v FROM t -> 1,11 | 2,20`,
      wrong: ['1,11 | 2,20', '1,11 | 2,21'],
    },
    'may not have been': {
      text: `
        T1: UPDATE t SET v = 11 WHERE id = 1 -> lost
        T2: SELECT id, v FROM t -> 1,10 | 2,20`,
      wrong: ['1,10 | 2,20', '1,10'],
    },
    'may be carried out later': {
      text: `
        T1: UPDATE t SET v = 11 WHERE id = 1 -> lost
        T2: SELECT id, v FROM t -> 1,10 | 2,20
        T2: SELECT id, v FROM t -> 1,11 | 2,20`,
      wrong: ['1,11 | 2,20', '1,11 | 2,21'],
    },
    'may have been a COMMIT': {
      text: `
        T1: BEGIN
        T1: UPDATE t SET v = 11 WHERE id = 1 -> 1
        T1: COMMIT -> lost
        T2: SELECT id, v FROM t -> 1,11 | 2,20`,
      wrong: ['1,11 | 2,20', '1,12 | 2,20'],
    },
    'may have been a COMMIT that did not happen': {
      text: `
        T1: BEGIN
        T1: UPDATE t SET v = 11 WHERE id = 1 -> 1
        T1: COMMIT -> lost
        T2: SELECT id, v FROM t -> 1,10 | 2,20`,
      wrong: ['1,10 | 2,20', '1,12 | 2,20'],
    },
    'may have put in a row, once': {
      text: `
        T1: INSERT INTO t VALUES (3, 30) -> lost
        T2: SELECT id, v FROM t -> 1,10 | 2,20 | 3,30`,
      wrong: ['1,10 | 2,20 | 3,30', '2,20 | 3,30'],
    },
  });
});

describe('names', () => {
  tell({
    'in quotes are as they are written in PostgreSQL': {
      setup: [
        'CREATE TABLE t (id INT PRIMARY KEY, v INT)',
        'CREATE TABLE "T" ("Id" INT PRIMARY KEY, "V" INT)',
        'INSERT INTO t VALUES (1, 10)',
        'INSERT INTO "T" VALUES (1, 50)',
      ],
      text: `
        T1: UPDATE "T" SET "V" = 51 WHERE "Id" = 1 -> 1
        T2: SELECT id, v FROM T -> 1,10
        T2: SELECT "Id", "V" FROM "T" -> 1,51`,
      wrong: ['1,51', '1,50'],
      under: postgres,
    },
    'are the same in any case where the engine folds them': {
      text: `
        T1: UPDATE T SET V = 11 WHERE ID = 1 -> 1
        T2: SELECT Id, v FROM t -> 1,11 | 2,20`,
      wrong: ['1,11', '1,10'],
    },
    'in quotes are folded all the same in MySQL and SQLite': {
      text: `
        T1: UPDATE t SET \`V\` = 11 WHERE \`ID\` = 1 -> 1
        T2: SELECT id, v FROM t -> 1,11 | 2,20`,
      wrong: ['1,11', '1,10'],
      under: mariadb,
    },
    'may be words of SQL, and have blanks': {
      setup: [
        'CREATE TABLE "select" ("order by" INT PRIMARY KEY, "a b" INT)',
        'INSERT INTO "select" VALUES (1, 10)',
      ],
      text: `
        T1: UPDATE "select" SET "a b" = 11 WHERE "order by" = 1 -> 1
        T2: SELECT "order by", "a b" FROM "select" -> 1,11`,
      wrong: ['1,11', '1,10'],
      under: [...postgres, ...embedded],
    },
    'of tables may come with an alias': {
      text: `
        T1: UPDATE t AS x SET v = x.v + 1 WHERE x.id = 1 -> 1
        T2: SELECT x.id, x.v FROM t AS x WHERE x.v > 10 -> 1,11 | 2,20`,
      wrong: ['1,11 | 2,20', '2,20'],
      under: [...postgres, ...mariadb, ...sqlite],
    },
  });
});

describe('tables that come and change', () => {
  tell({
    'are followed where a session creates them': {
      text: `
        T1: CREATE TABLE n (id INT PRIMARY KEY, v INT)
        T1: INSERT INTO n VALUES (1, 5) -> 1
        T2: SELECT id, v FROM n -> 1,5
        T2: SELECT id, v FROM t -> 1,10 | 2,20`,
      wrong: ['n -> 1,5', 'n -> 1,6'],
    },
    'are not touched by an index': {
      text: `
        T1: CREATE INDEX i ON t (v)
        T1: UPDATE t SET v = 11 WHERE v = 10 -> 1
        T2: SELECT id, v FROM t -> 1,11 | 2,20`,
      wrong: ['1,11', '1,10'],
    },
    'have their defaults': {
      setup: ['CREATE TABLE t (id INT PRIMARY KEY, v INT DEFAULT 7)', 'INSERT INTO t VALUES (1, 10)'],
      text: `
        T1: INSERT INTO t (id) VALUES (2) -> 1
        T1: INSERT INTO t VALUES (3, DEFAULT) -> 1
        T2: SELECT id, v FROM t WHERE id <= 2 -> 1,10 | 2,7`,
      wrong: ['2,7', '2,NULL'],
      under: [...postgres, ...mariadb, ...duckdb],
    },
    'get their columns in the order the statement says': {
      text: `
        T1: INSERT INTO t (v, id) VALUES (30, 3) -> 1
        T2: SELECT v, id FROM t WHERE id = 3 -> 30,3`,
      wrong: ['30,3', '3,30'],
    },
  });
});

describe('statements that write what they find', () => {
  const sums = [
    'CREATE TABLE t (id INT PRIMARY KEY, v INT)',
    'INSERT INTO t VALUES (1, 10), (2, 20)',
    'CREATE TABLE u (id INT PRIMARY KEY, v INT)',
    'INSERT INTO u VALUES (2, 200), (3, 300)',
  ];
  tell({
    'INSERT … SELECT copies what is there': {
      setup: sums,
      text: `
        T1: INSERT INTO u SELECT id + 10, v FROM t WHERE v > 10 -> 1
        T2: SELECT id, v FROM u -> 2,200 | 3,300 | 12,20`,
      wrong: ['12,20', '12,21'],
    },
    'INSERT … SELECT of its own table sees it as it was': {
      text: `
        T1: INSERT INTO t SELECT id + 10, v FROM t -> 2
        T2: SELECT id, v FROM t -> 1,10 | 2,20 | 11,10 | 12,20`,
      wrong: [' | 12,20', ' | 21,10'],
    },
    'ON CONFLICT changes the row that is there, or puts one in': {
      text: `
        T1: INSERT INTO t VALUES (1, 5) ON CONFLICT (id) DO UPDATE SET v = t.v + EXCLUDED.v -> 1
        T1: INSERT INTO t VALUES (3, 5) ON CONFLICT (id) DO UPDATE SET v = t.v + EXCLUDED.v -> 1
        T2: SELECT id, v FROM t -> 1,15 | 2,20 | 3,5`,
      wrong: ['1,15', '1,5'],
      under: [...postgres, ...embedded],
    },
    'ON CONFLICT DO NOTHING leaves the row that is there': {
      text: `
        T1: INSERT INTO t VALUES (1, 5) ON CONFLICT DO NOTHING -> 0
        T1: INSERT INTO t VALUES (3, 30) ON CONFLICT DO NOTHING -> 1
        T2: SELECT id, v FROM t -> 1,10 | 2,20 | 3,30`,
      wrong: ['1,10', '1,5'],
      under: [...postgres, ...embedded],
    },
    'ON DUPLICATE KEY UPDATE changes the row that is there': {
      text: `
        T1: INSERT INTO t VALUES (1, 5) ON DUPLICATE KEY UPDATE v = v + 1
        T2: SELECT id, v FROM t -> 1,11 | 2,20`,
      wrong: ['1,11', '1,5'],
      under: mariadb,
    },
    'IGNORE leaves the row that is there': {
      text: `
        T1: INSERT IGNORE INTO t VALUES (1, 5)
        T2: SELECT id, v FROM t -> 1,10 | 2,20`,
      wrong: ['1,10', '1,5'],
      under: mariadb,
    },
    'conditions with subqueries see other tables': {
      setup: sums,
      text: `
        T1: UPDATE t SET v = 0 WHERE id IN (SELECT id FROM u) -> 1
        T1: DELETE FROM u WHERE NOT EXISTS (SELECT 1 FROM t WHERE t.id = u.id) -> 1
        T2: SELECT id, v FROM t -> 1,10 | 2,0
        T2: SELECT id, v FROM u -> 2,200`,
      wrong: ['1,10 | 2,0', '1,0 | 2,0'],
    },
    'old values are those before the statement, in any order of assignments': {
      setup: ['CREATE TABLE t (id INT PRIMARY KEY, a INT, b INT)', 'INSERT INTO t VALUES (1, 1, 2)'],
      text: `
        T1: UPDATE t SET a = b, b = a WHERE id = 1 -> 1
        T2: SELECT id, a, b FROM t -> 1,2,1`,
      wrong: ['1,2,1', '1,2,2'],
      under: [...postgres, ...embedded],
    },
    'in MySQL assignments see those to their left': {
      setup: ['CREATE TABLE t (id INT PRIMARY KEY, a INT, b INT)', 'INSERT INTO t VALUES (1, 1, 2)'],
      text: `
        T1: UPDATE t SET a = b, b = a WHERE id = 1 -> 1
        T2: SELECT id, a, b FROM t -> 1,2,2`,
      wrong: ['1,2,2', '1,2,3'],
      under: mariadb,
    },
  });
});

describe('queries over whole tables', () => {
  const three = [
    'CREATE TABLE t (id INT PRIMARY KEY, v INT)',
    'INSERT INTO t VALUES (1, 10), (2, 20), (3, 20)',
  ];
  tell({
    'with ORDER BY and LIMIT show the first ones': {
      setup: three,
      text: `
        T1: UPDATE t SET v = 30 WHERE id = 1 -> 1
        T2: SELECT id, v FROM t ORDER BY v DESC, id LIMIT 2 -> 1,30 | 2,20`,
      wrong: ['1,30 | 2,20', '2,20 | 3,20'],
    },
    'with a LIMIT alone may show any': {
      setup: three,
      text: `
        T1: SELECT id, v FROM t LIMIT 2 -> 3,20 | 1,10
        T1: SELECT id, v FROM t -> 1,10 | 2,20 | 3,20`,
      wrong: ['t -> 1,10 | 2,20 | 3,20', 't -> 1,10 | 2,20'],
    },
    'with joins pair what is there': {
      setup: three,
      text: `
        T1: DELETE FROM t WHERE id = 3 -> 1
        T2: SELECT a.id, b.id FROM t AS a JOIN t AS b ON a.v < b.v -> 1,2`,
      wrong: ['-> 1,2', '-> 1,2 | 1,3'],
    },
    'with an outer join keep what has no partner': {
      setup: three,
      text: `
        T1: SELECT a.id, b.id FROM t AS a LEFT JOIN t AS b ON b.id = a.id + 1 -> 1,2 | 2,3 | 3,NULL`,
      wrong: [' | 3,NULL', ''],
    },
    'with UNION have no row twice, with UNION ALL they may': {
      setup: three,
      text: `
        T1: SELECT v FROM t UNION SELECT v FROM t -> 10 | 20
        T1: SELECT v FROM t WHERE id = 1 UNION ALL SELECT v FROM t WHERE id = 1 -> 10 | 10`,
      wrong: ['10 | 10', '10'],
    },
    'with HAVING show the groups that satisfy it': {
      setup: three,
      text: `
        T1: SELECT v FROM t GROUP BY v HAVING COUNT(*) > 1 -> 20
        T1: SELECT SUM(id) FROM t WHERE v > 100 -> NULL`,
      wrong: ['-> 20', '-> 10'],
    },
    'and COUNT of nothing are zero, one row of it': {
      text: `
        T1: DELETE FROM t -> 2
        T2: SELECT COUNT(*) FROM t -> 0
        T2: SELECT v, COUNT(*) FROM t GROUP BY v -> nothing`,
      wrong: ['-> 0', '-> 2'],
    },
  });
});

describe('a set-up that does more than it says', () => {
  const filled = ['CREATE TABLE t (id INT PRIMARY KEY, v INT)', 'INSERT INTO t VALUES (1, 10), (2, 20)'];
  const text = `
    T1: SELECT id, v FROM t -> 1,7 | 2,8
    T2: UPDATE t SET v = 9 WHERE id = 1 -> 1
    T1: SELECT id, v FROM t -> 1,9 | 2,8`;
  const told = [
    'DO $$ BEGIN UPDATE t SET v = id + 6; END $$',
    'CALL fill()',
    "COPY t FROM '/tmp/rows'",
    'MERGE INTO t USING (SELECT 1 AS id) AS s ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = 7',
    'WITH x AS (UPDATE t SET v = id + 6 RETURNING id) SELECT id FROM x',
  ].map((sql): [string, Told] => {
    const name = `${sql} is not taken to have left rows as they were`;
    return [name, { setup: [...filled, sql], text, wrong: ['1,9', '1,7'], under: postgres }];
  });
  tell(Object.fromEntries(told));
});
