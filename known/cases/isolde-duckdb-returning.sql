-- isolde script
-- name: isolde-duckdb-returning
-- description: An update with RETURNING of a row that another transaction has deleted succeeds and returns the row.
-- dialect: duckdb
-- level: snapshot
-- source: hunt
-- bug: duckdb-update-of-deleted-row
-- wrong: T2.3 rows (55)
-- wrong: T1.2 rows (2, 20)

CREATE TABLE t (id INT, v INT);
INSERT INTO t VALUES (1, 10), (2, 20);

T2: BEGIN;
T2: SELECT id, v FROM t;
T1: DELETE FROM t WHERE id = 1;
T2: UPDATE t SET v = 55 WHERE id = 1 RETURNING v;
T2: COMMIT;
T1: SELECT id, v FROM t;
