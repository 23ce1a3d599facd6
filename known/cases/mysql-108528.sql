-- isolde script
-- name: mysql-108528
-- description: An update whose condition has a subquery changes other rows than a read with the same condition shows: the subquery reads what was committed after the snapshot.
-- level: repeatable read
-- source: facts
-- wrong: T1.3 rows (1, 5)
-- wrong: T1.4 count 0

CREATE TABLE t0 (id INT PRIMARY KEY, vkey INT);
INSERT INTO t0 VALUES (1, 5), (2, 6);
CREATE TABLE t1 (id INT PRIMARY KEY, c0 INT);
INSERT INTO t1 VALUES (1, 5), (2, 100);

T1: BEGIN;
T1: SELECT id, c0 FROM t1 WHERE c0 <= (SELECT MIN(vkey) FROM t0);
T2: INSERT INTO t0 VALUES (3, 1);
T1: SELECT id, c0 FROM t1 WHERE c0 <= (SELECT MIN(vkey) FROM t0);
T1: UPDATE t1 SET c0 = 4 WHERE c0 <= (SELECT MIN(vkey) FROM t0);
T1: COMMIT;
