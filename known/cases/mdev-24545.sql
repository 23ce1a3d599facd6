-- isolde script
-- name: mdev-24545
-- description: A sequence that another session has created is not found after the transaction that was open meanwhile has ended.
-- dialect: mysql
-- level: repeatable read
-- source: facts
-- wrong: T1.4 error

CREATE TABLE t1 (a INT);

T1: BEGIN;
T1: SELECT a FROM t1;
T2: CREATE SEQUENCE s1;
T1: COMMIT;
T1: SELECT NEXT VALUE FOR s1;
