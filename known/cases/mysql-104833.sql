-- isolde script
-- name: mysql-104833
-- description: An update that waited for another transaction leaves out the row it waited at, although that row fulfils its condition by then.
-- dialect: mysql
-- level: read uncommitted
-- source: facts
-- wrong: T1.4 rows (10, 1) (10, 20) (10, 20) (10, 20) (10, 20)

CREATE TABLE t (a INT, b INT);
INSERT INTO t VALUES (NULL, 1), (2, 2), (NULL, NULL), (NULL, 3), (4, NULL);

T1: BEGIN;
T1: UPDATE t SET a = 10 WHERE 1;
T2: BEGIN;
T2: UPDATE t SET b = 20 WHERE a;
T1: COMMIT;
T2: COMMIT;
T1: SELECT a, b FROM t;
