-- isolde script
-- name: isolde-turso-double-insert
-- description: Two transactions insert the same primary key; both commit, and the table has it twice.
-- dialect: sqlite
-- level: snapshot
-- source: hunt
-- bug: turso-keys-of-open-transactions
-- wrong: T1.4 rows (0) (0)

CREATE TABLE t (k INT PRIMARY KEY);

T1: BEGIN CONCURRENT;
T1: INSERT INTO t VALUES (0);
T2: INSERT INTO t VALUES (0);
T1: COMMIT;
T1: SELECT k FROM t;
