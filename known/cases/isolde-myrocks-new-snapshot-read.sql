-- isolde script
-- name: isolde-myrocks-new-snapshot-read
-- description: In MyRocks a statement that fails after it has written a row takes the snapshot with it: what was committed meanwhile is there.
-- dialect: mysql
-- level: repeatable read
-- source: hunt
-- bug: myrocks-new-snapshot
-- wrong: T1.3 error
-- wrong: T1.4 rows (1, 10) (2, 21)

CREATE TABLE t (id INT PRIMARY KEY, v INT);
INSERT INTO t VALUES (1, 10), (2, 20);

T1: BEGIN;
T1: SELECT id, v FROM t;
T2: UPDATE t SET v = 21 WHERE id = 2;
T1: UPDATE t SET v = 0;
T1: SELECT id, v FROM t;
T1: ROLLBACK;
