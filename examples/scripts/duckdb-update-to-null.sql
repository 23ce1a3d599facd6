-- name: an update to NULL beside another update of the row
-- description: T1 updates a row and has not committed; T2 sets the same row to NULL, meets no conflict and commits. T1 commits, too, and what it wrote is gone. DuckDB since 1.4.0; 1.3.2 refuses T2's update.
CREATE TABLE t (a INT);
INSERT INTO t VALUES (1);

T1: BEGIN;
T1: UPDATE t SET a = 0;
T2: UPDATE t SET a = NULL;
T1: COMMIT;
T1: SELECT * FROM t;
