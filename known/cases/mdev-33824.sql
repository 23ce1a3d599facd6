-- isolde script
-- name: mdev-33824
-- description: Under READ UNCOMMITTED an update with a subquery changes other rows than a read with the same condition returns.
-- dialect: mysql
-- level: read uncommitted
-- source: facts
-- wrong: T2.2 rows (43)
-- wrong: T2.4 rows (100) (100)

CREATE TABLE t0 (pkey INT PRIMARY KEY, value INT);
INSERT INTO t0 VALUES (1, 20), (2, 56);
CREATE TABLE t1 (pkey INT PRIMARY KEY, value INT, c0 INT);
INSERT INTO t1 VALUES (2, 43, 8), (3, 57, 53);

T1: BEGIN;
T1: UPDATE t0 SET value = 162;
T1: UPDATE t1 SET c0 = 200 WHERE pkey = 3;
T2: BEGIN;
T2: SELECT value FROM t1 WHERE c0 <= (SELECT MIN(value) FROM t0);
T2: UPDATE t1 SET value = 100 WHERE c0 <= (SELECT MIN(value) FROM t0);
T1: ROLLBACK;
T2: SELECT value FROM t1;
T2: COMMIT;
