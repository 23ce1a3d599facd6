-- isolde script
-- name: isolde-duckdb-upsert-of-self
-- description: An upsert that sets an indexed column to itself replaces the other columns of the row as well. Not isolation: one session is enough.
-- dialect: duckdb
-- level: snapshot
-- source: hunt
-- wrong: T1.2 rows (1, 0, 0)

CREATE TABLE t (rid INT, k INT PRIMARY KEY, v INT);
CREATE INDEX i ON t (v);
INSERT INTO t VALUES (0, 0, 0);

T1: INSERT INTO t VALUES (1, 0, 0) ON CONFLICT (k) DO UPDATE SET v = t.v;
T1: SELECT rid, k, v FROM t;
