-- isolde script
-- name: isolde-duckdb-key-update
-- description: One transaction changes the key of a row, another one changes the row; neither fails, and the change is lost.
-- dialect: duckdb
-- level: snapshot
-- source: hunt
-- bug: duckdb-update-of-deleted-row
-- wrong: T2.1 ok
-- wrong: T1.3 ok
-- wrong: T1.4 rows (k12, 1)

CREATE TABLE t (k TEXT PRIMARY KEY, v INT);
INSERT INTO t VALUES ('a', 1);

T1: BEGIN;
T1: UPDATE t SET k = 'k12';
T2: UPDATE t SET v = 0;
T1: COMMIT;
T1: SELECT k, v FROM t;
