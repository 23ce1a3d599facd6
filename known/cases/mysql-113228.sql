-- isolde script
-- name: mysql-113228
-- description: A row whose primary key another transaction has changed is seen under both keys after an update of one’s own.
-- level: repeatable read
-- source: text
-- bug: innodb-moved-key
-- wrong: T2.4 rows (1, 3) (2, 2) (3, 3)

CREATE TABLE t (a INT PRIMARY KEY, b INT);
INSERT INTO t VALUES (1, 1), (2, 2);

T2: BEGIN;
T2: SELECT a, b FROM t;
T1: BEGIN;
T1: UPDATE t SET a = 3 WHERE b = 2;
T1: COMMIT;
T2: UPDATE t SET b = 3;
T2: SELECT a, b FROM t;
T2: COMMIT;
