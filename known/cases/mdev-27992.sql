-- isolde script
-- name: mdev-27992
-- description: A delete that waited for an update of the primary key deletes nothing, and the row is still there.
-- dialect: mysql
-- level: read committed
-- source: facts
-- wrong: T2.3 rows (3, 5)

CREATE TABLE t (c1 INT PRIMARY KEY, c2 INT);
INSERT INTO t (c1) VALUES (8);

T1: BEGIN;
T2: BEGIN;
T1: UPDATE t SET c1 = 5, c2 = 5;
T2: DELETE FROM t;
T1: UPDATE t SET c1 = 3;
T1: COMMIT;
T2: SELECT c1, c2 FROM t FOR UPDATE;
T2: ROLLBACK;
