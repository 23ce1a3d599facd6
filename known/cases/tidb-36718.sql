-- isolde script
-- name: tidb-36718
-- description: A read after an update that changed nothing returns the value from before another transaction’s commit.
-- level: repeatable read
-- source: facts
-- bug: tidb-no-op-update
-- wrong: T2.4 rows (1, 1)

CREATE TABLE t (k INT PRIMARY KEY, v INT);
INSERT INTO t VALUES (1, 1);

T2: BEGIN;
T2: SELECT k, v FROM t WHERE k = 1;
T1: UPDATE t SET v = 2 WHERE k = 1;
T2: UPDATE t SET v = 2 WHERE k = 1;
T2: SELECT k, v FROM t WHERE k = 1;
T2: COMMIT;
