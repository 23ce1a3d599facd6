-- isolde script
-- name: tidb-59781
-- description: Two transactions that wait for each other’s rows are not told apart by an error: no deadlock is reported.
-- level: repeatable read
-- source: title
-- wrong: T2.3 error lock-timeout

CREATE TABLE t (id INT PRIMARY KEY, v INT);
INSERT INTO t VALUES (1, 1), (2, 2);

T1: BEGIN;
T2: BEGIN;
T1: UPDATE t SET v = 10 WHERE id = 1;
T2: UPDATE t SET v = 20 WHERE id = 2;
T1: UPDATE t SET v = 11 WHERE id = 2;
T2: UPDATE t SET v = 21 WHERE id = 1;
T2: ROLLBACK;
T1: ROLLBACK;
