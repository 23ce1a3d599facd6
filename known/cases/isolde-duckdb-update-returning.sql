-- isolde script
-- name: isolde-duckdb-update-returning
-- description: A transaction updates a row with RETURNING that another one has updated and not committed, and meets no conflict; both commit, and one update is lost. It takes a key or an index.
-- dialect: duckdb
-- level: snapshot
-- source: hunt
-- wrong: T2.1 rows (110)
-- wrong: T1.3 ok
-- wrong: T1.4 rows (1, 110)

CREATE TABLE t (id INT PRIMARY KEY, v INT);
INSERT INTO t VALUES (1, 10);

T1: BEGIN;
T1: UPDATE t SET v = v + 1;
T2: UPDATE t SET v = v + 100 RETURNING v;
T1: COMMIT;
T1: SELECT id, v FROM t;
