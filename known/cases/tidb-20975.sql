-- isolde script
-- name: tidb-20975
-- description: COMMIT fails because another session has created a table that the transaction never touched.
-- level: repeatable read
-- source: facts
-- wrong: T1.3 error

CREATE TABLE t1 (a INT);
INSERT INTO t1 VALUES (1);

T1: BEGIN;
T1: UPDATE t1 SET a = a;
T2: CREATE TABLE t2 (a INT);
T1: COMMIT;
