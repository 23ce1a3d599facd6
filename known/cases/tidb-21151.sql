-- isolde script
-- name: tidb-21151
-- description: A read that merges two indexes shows a value from before another transaction’s commit.
-- dialect: mysql
-- level: read committed
-- source: facts
-- wrong: T1.3 rows (2, 10)

CREATE TABLE t (id INT PRIMARY KEY, value INT, a INT NOT NULL, b INT NOT NULL, INDEX ia (a), INDEX ib (b));
INSERT INTO t VALUES (1, 10, 2, 0), (2, 10, 4, 4), (3, 10, 0, 2), (4, 10, 0, 0);

T1: BEGIN;
T1: SELECT id, value FROM t WHERE a > 3 OR b > 3;
T2: UPDATE t SET value = 11 WHERE id = 2;
T1: SELECT id, value FROM t WHERE a > 3 OR b > 3;
T1: COMMIT;
