-- isolde script
-- name: isolde-tidb-moved-key-limit
-- description: The same as TiDB #48960 in a query with LIMIT: a row whose primary key another transaction has changed is there twice after an update of one’s own.
-- dialect: mysql
-- level: repeatable read
-- source: hunt
-- bug: tidb-moved-key
-- wrong: T2.3 rows (2, 0, 0) (2, 1, 1)

CREATE TABLE t (a INT, b INT, v INT, PRIMARY KEY (a, b));
INSERT INTO t VALUES (2, 1, 1);

T2: BEGIN;
T1: UPDATE t SET b = 0;
T2: UPDATE t SET v = 0;
T2: SELECT * FROM t LIMIT 2;
T2: ROLLBACK;
