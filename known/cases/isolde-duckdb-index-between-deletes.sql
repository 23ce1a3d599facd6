-- isolde script
-- name: isolde-duckdb-index-between-deletes
-- description: While a transaction is open that only reads, another session deletes a row, makes an index and deletes another row. The COMMIT fails, and the database answers nobody any more until it is opened again.
-- dialect: duckdb
-- level: snapshot
-- source: hunt
-- wrong: T1.3 error crash
-- wrong: T2.4 error crash

CREATE TABLE t (id INT PRIMARY KEY, v INT);
INSERT INTO t VALUES (1, 10), (2, 20);

T1: BEGIN;
T1: SELECT id, v FROM t;
T2: DELETE FROM t WHERE id = 1;
T2: CREATE INDEX i ON t (v);
T2: DELETE FROM t WHERE id = 2;
T1: COMMIT;
T2: SELECT id, v FROM t;
