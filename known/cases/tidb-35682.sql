-- isolde script
-- name: tidb-35682
-- description: A key stays locked after the statement that wanted it has failed with a lock time-out.
-- dialect: mysql
-- level: repeatable read
-- source: facts
-- wrong: T3.2 waits

CREATE TABLE t (id INT PRIMARY KEY, v INT, idx INT UNIQUE);
INSERT INTO t VALUES (1, 10, 1), (2, 20, 2);

T1: BEGIN;
T2: BEGIN;
T2: UPDATE t SET v = v + 1 WHERE id = 1;
T1: SELECT id FROM t WHERE idx = 1 FOR UPDATE NOWAIT;
T1: SELECT id FROM t WHERE idx = 2 FOR UPDATE;
T2: COMMIT;
T3: BEGIN;
T3: SELECT id FROM t WHERE idx = 1 FOR UPDATE;
T3: ROLLBACK;
T1: ROLLBACK;
