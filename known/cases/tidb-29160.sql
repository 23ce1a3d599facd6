-- isolde script
-- name: tidb-29160
-- description: A single update waits for a lock that another transaction’s locking read holds, where it failed at once before.
-- level: repeatable read
-- source: facts
-- wrong: T2.1 waits

CREATE TABLE t (id INT PRIMARY KEY, v INT);
INSERT INTO t VALUES (1, 1);

T1: BEGIN;
T1: SELECT id, v FROM t WHERE id = 1 FOR UPDATE;
T2: UPDATE t SET v = 2 WHERE id = 1;
T1: COMMIT;
