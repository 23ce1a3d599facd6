-- isolde script
-- name: mysql-113468
-- description: A row that a locking read waited for and that does not fulfil its condition any more stays locked.
-- dialect: mysql
-- level: read committed
-- source: text
-- wrong: T3.2 waits

CREATE TABLE t (id INT PRIMARY KEY, v INT);
INSERT INTO t VALUES (1, 1), (2, 2);

T2: BEGIN;
T2: UPDATE t SET v = 5 WHERE id = 1;
T1: BEGIN;
T1: SELECT id, v FROM t WHERE v = 1 FOR UPDATE;
T2: COMMIT;
T3: BEGIN;
T3: UPDATE t SET v = 6 WHERE id = 1;
T1: COMMIT;
T3: COMMIT;
