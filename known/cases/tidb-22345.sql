-- isolde script
-- name: tidb-22345
-- description: A locking read inside a scalar subquery fails with a write conflict instead of reading the newest value.
-- dialect: mysql
-- level: repeatable read
-- source: facts
-- wrong: T1.3 error

CREATE TABLE t (id INT PRIMARY KEY, v INT);
INSERT INTO t VALUES (1, 10), (2, 20);

T1: BEGIN;
T1: SELECT id, v FROM t;
T2: UPDATE t SET v = v * 10;
T1: SELECT (SELECT v FROM t WHERE id = 2 FOR UPDATE) AS v;
T1: COMMIT;
