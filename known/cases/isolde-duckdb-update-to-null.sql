-- isolde script
-- name: isolde-duckdb-update-to-null
-- description: A transaction sets a row to NULL that another one has updated and not committed, and meets no conflict; both commit, and one update is lost.
-- level: snapshot
-- source: hunt
-- wrong: T2.1 count 1
-- wrong: T1.3 ok
-- wrong: T1.4 rows (NULL)

CREATE TABLE t (v INT);
INSERT INTO t VALUES (1);

T1: BEGIN;
T1: UPDATE t SET v = 0;
T2: UPDATE t SET v = NULL;
T1: COMMIT;
T1: SELECT v FROM t;
