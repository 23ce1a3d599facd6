-- isolde script
-- name: tidb-48960
-- description: A row whose primary key another transaction has changed is seen under both keys after an update of one’s own.
-- dialect: mysql
-- level: repeatable read
-- source: facts
-- bug: tidb-moved-key
-- wrong: T2.4 rows (1, 5) (2, 20) (4, 5)

CREATE TABLE t (k INT PRIMARY KEY, v INT);
INSERT INTO t VALUES (1, 10), (2, 20);

T1: BEGIN;
T2: BEGIN;
T2: SELECT k, v FROM t;
T1: UPDATE t SET k = 4 WHERE v = 20;
T1: COMMIT;
T2: UPDATE t SET v = 5;
T2: SELECT k, v FROM t;
T2: COMMIT;
