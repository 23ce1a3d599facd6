-- isolde script
-- name: tidb-37653
-- description: A locking read by primary key locks the row although another condition rules it out.
-- level: read committed
-- source: facts
-- wrong: T2.2 waits

CREATE TABLE t1 (id1 INT PRIMARY KEY, id2 INT UNIQUE, id3 INT);
INSERT INTO t1 VALUES (1, 1, 1);

T1: BEGIN;
T1: SELECT id1 FROM t1 WHERE id1 = 1 AND id2 = 2 FOR UPDATE;
T2: BEGIN;
T2: SELECT id1 FROM t1 WHERE id1 = 1 FOR UPDATE;
T1: COMMIT;
T2: COMMIT;
