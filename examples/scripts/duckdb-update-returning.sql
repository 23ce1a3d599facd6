-- name: an UPDATE with RETURNING beside another update of the row
-- description: T1 updates a row and has not committed; T2 updates the same column of the row, with RETURNING, meets no conflict and commits. T1 commits, too, and what it wrote is gone. Without RETURNING, or without a key or index on the table, DuckDB refuses T2's update.
CREATE TABLE t (id INT PRIMARY KEY, v INT);
INSERT INTO t VALUES (1, 10);

T1: BEGIN;
T1: UPDATE t SET v = v + 1;
T2: UPDATE t SET v = v + 100 RETURNING v;
T1: COMMIT;
T1: SELECT * FROM t;
