-- isolde script
-- name: mysql-107887
-- description: An UPDATE whose condition has a subquery finds rows that another transaction has inserted and rolled back; then they are read.
-- dialect: mysql
-- level: repeatable read
-- source: facts
-- bug: innodb-own-delete
-- wrong: T2.3 rows (1, 10, 10) (1, 20, 20) (1, 30, 30) (1, 40, 40)

CREATE TABLE t (w INT, a INT, b INT);

T1: BEGIN;
T2: BEGIN;
T1: INSERT INTO t VALUES (2, 10, 10), (3, 20, 20), (4, 30, 30), (5, 40, 40);
T1: ROLLBACK;
T2: UPDATE t SET w = 1 WHERE b NOT IN (SELECT s.a FROM (SELECT a FROM t) AS s WHERE s.a < (SELECT COUNT(*) FROM (SELECT a FROM t) AS u) ORDER BY s.a);
T2: SELECT w, a, b FROM t WHERE w = 1;
T2: COMMIT;
