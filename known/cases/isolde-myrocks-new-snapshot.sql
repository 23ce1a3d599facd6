-- isolde script
-- name: isolde-myrocks-new-snapshot
-- description: In MyRocks a statement that fails after it has written a row takes the snapshot with it: the rest of the transaction sees a newer one.
-- dialect: mysql
-- level: repeatable read
-- source: hunt
-- bug: myrocks-new-snapshot
-- wrong: T1.3 error
-- wrong: T1.5 rows (1, 10) (2, 121)

CREATE TABLE t (id INT PRIMARY KEY, v INT);
INSERT INTO t VALUES (1, 10), (2, 20);

T1: BEGIN;
T1: SELECT id, v FROM t;
T2: UPDATE t SET v = v + 1 WHERE id = 2;
T1: UPDATE t SET v = v + 100;
T1: UPDATE t SET v = v + 100 WHERE id = 2;
T1: SELECT id, v FROM t;
T1: COMMIT;
