-- isolde script
-- name: tidb-21618
-- description: A locking read of a partitioned table through a subquery locks nothing.
-- dialect: mysql
-- level: repeatable read
-- source: facts
-- wrong: T2.2 at once

CREATE TABLE t (c INT PRIMARY KEY, d INT, KEY (d)) PARTITION BY HASH (c) PARTITIONS 4;
INSERT INTO t VALUES (1, 2);

T1: BEGIN;
T1: SELECT c FROM t WHERE d IN (SELECT d FROM t WHERE c = 1) FOR UPDATE;
T2: BEGIN;
T2: SELECT c FROM t WHERE d = 2 FOR UPDATE;
T1: COMMIT;
T2: COMMIT;
