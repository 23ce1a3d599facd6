-- isolde script
-- name: duckdb-17223
-- description: A transaction updates a row that another one has deleted and committed since the snapshot; both succeed and the update is lost.
-- level: snapshot
-- source: facts
-- bug: duckdb-update-of-deleted-row
-- wrong: T2.3 count 1
-- wrong: T1.2 rows (2, 20)

CREATE TABLE t (id INT, v INT);
INSERT INTO t VALUES (1, 10), (2, 20);

T2: BEGIN;
T2: SELECT id, v FROM t;
T1: DELETE FROM t WHERE id = 1;
T2: UPDATE t SET v = 55 WHERE id = 1;
T2: COMMIT;
T1: SELECT id, v FROM t;
