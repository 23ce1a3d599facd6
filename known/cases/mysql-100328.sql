-- isolde script
-- name: mysql-100328
-- description: An update that sets a row to the value another transaction has just committed is not seen by its own transaction.
-- dialect: mysql
-- level: repeatable read
-- source: facts
-- bug: innodb-no-op-update
-- wrong: T1.5 rows (10, 0) (2, 1) (10, 2)

CREATE TABLE t (a INT, b INT);
INSERT INTO t VALUES (1, 0), (2, 1), (3, 2);

T1: BEGIN;
T1: SELECT a, b FROM t;
T2: UPDATE t SET a = 10 WHERE b = 1;
T1: SELECT a, b FROM t;
T1: UPDATE t SET a = 10 WHERE a;
T1: SELECT a, b FROM t;
T1: COMMIT;
