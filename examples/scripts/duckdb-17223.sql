-- name: update of a row that another transaction deleted
-- description: T1 deletes the row T2 has seen; T2 then updates it, is told that one row was updated, and commits. The row is gone. Snapshot isolation asks for a conflict (duckdb #17223).
CREATE TABLE t (id INT, v INT);
INSERT INTO t VALUES (1, 10), (2, 20);

T2: BEGIN;
T2: SELECT * FROM t;
T1: DELETE FROM t WHERE id = 1;
T2: UPDATE t SET v = 55 WHERE id = 1;
T2: COMMIT;
T1: SELECT * FROM t;
