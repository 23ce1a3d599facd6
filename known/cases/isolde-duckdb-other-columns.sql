-- isolde script
-- name: isolde-duckdb-other-columns
-- description: Two transactions update different columns of one row; both succeed, though the second should meet a conflict.
-- level: snapshot
-- source: hunt
-- wrong: T2.4 ok
-- wrong: T1.2 rows (1, 11, 101)

CREATE TABLE t (id INT, v INT, w INT);
INSERT INTO t VALUES (1, 10, 100);

T2: BEGIN;
T2: SELECT id, v, w FROM t;
T1: UPDATE t SET v = 11 WHERE id = 1;
T2: UPDATE t SET w = 101 WHERE id = 1;
T2: COMMIT;
T1: SELECT id, v, w FROM t;
