-- isolde script
-- name: isolde-duckdb-to-null
-- description: An update to NULL of a row that another transaction has deleted succeeds.
-- level: snapshot
-- source: hunt
-- bug: duckdb-update-of-deleted-row
-- wrong: T2.3 count 1
-- wrong: T2.4 ok
-- wrong: T1.2 rows (2, 20)

CREATE TABLE t (id INT, v INT);
INSERT INTO t VALUES (1, 10), (2, 20);

T2: BEGIN;
T2: SELECT id, v FROM t;
T1: DELETE FROM t WHERE id = 1;
T2: UPDATE t SET v = NULL WHERE id = 1;
T2: COMMIT;
T1: SELECT id, v FROM t;
