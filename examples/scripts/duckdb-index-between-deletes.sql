-- name: an index made between two deletes that an open transaction can still see
-- description: T1 only reads. While it is open, T2 deletes a row, makes an index and deletes another row. T1's COMMIT ends with a FATAL error, and the database answers nobody any more until it is opened again. Run it with --target "duckdb:?process=own".
CREATE TABLE t (id INT PRIMARY KEY, v INT);
INSERT INTO t VALUES (1, 10), (2, 20);

T1: BEGIN;
T1: SELECT * FROM t;
T2: DELETE FROM t WHERE id = 1;
T2: CREATE INDEX i ON t (v);
T2: DELETE FROM t WHERE id = 2;
T1: COMMIT;
T2: SELECT * FROM t;
