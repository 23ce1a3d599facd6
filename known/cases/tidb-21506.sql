-- isolde script
-- name: tidb-21506
-- description: INSERT … SELECT reads rows committed after the snapshot of its transaction.
-- dialect: mysql
-- level: repeatable read
-- source: facts
-- wrong: T1.4 rows (1, 10) (2, 20) (3, 10) (4, 20)

CREATE TABLE t1 (id INT PRIMARY KEY, v INT);
CREATE TABLE t2 (id INT PRIMARY KEY, v INT);
INSERT INTO t1 VALUES (1, 10), (2, 20);

T1: BEGIN;
T1: SELECT id, v FROM t1;
T2: UPDATE t1 SET id = id + 2 ORDER BY id DESC;
T1: INSERT INTO t2 SELECT id, v FROM t1 UNION ALL SELECT id - 2, v FROM t1;
T1: SELECT id, v FROM t2;
T1: COMMIT;
