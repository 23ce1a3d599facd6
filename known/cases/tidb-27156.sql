-- isolde script
-- name: tidb-27156
-- description: A locking read of a partitioned table locks nothing: an update of the row it returned goes through.
-- dialect: mysql
-- level: repeatable read
-- source: facts
-- wrong: T2.2 at once

CREATE TABLE t2 (c1 INT PRIMARY KEY, c2 INT, c3 INT, c4 INT, KEY k2 (c2), KEY k3 (c3)) PARTITION BY HASH (c1) PARTITIONS 10;
INSERT INTO t2 VALUES (1, 1, 1, 1), (2, 2, 2, 2), (3, 3, 3, 3), (4, 4, 4, 4);

T1: BEGIN;
T1: SELECT c1 FROM t2 WHERE c4 > 2 FOR UPDATE;
T2: BEGIN;
T2: UPDATE t2 SET c4 = c4 + 1 WHERE c3 = 3;
T1: COMMIT;
T2: COMMIT;
