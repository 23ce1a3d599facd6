-- isolde script
-- name: tidb-21658
-- description: A plain read of several keys waits for a transaction that is changing them.
-- level: read committed
-- source: facts
-- wrong: T1.3 waits

CREATE TABLE t (id INT PRIMARY KEY, v INT);
INSERT INTO t VALUES (0, 0), (1, 10), (2, 20), (3, 30);

T1: BEGIN;
T1: SELECT id, v FROM t WHERE id = 1 OR id = 2 OR id = 3 ORDER BY id;
T2: BEGIN;
T2: UPDATE t SET v = v + 1 WHERE id > 0;
T1: SELECT id, v FROM t WHERE id = 1 OR id = 2 OR id = 3 ORDER BY id;
T2: COMMIT;
T1: COMMIT;
