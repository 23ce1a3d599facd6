-- isolde script
-- name: tidb-21284
-- description: COMMIT of a transaction that has to be tried again fails inside the server.
-- level: repeatable read
-- source: facts
-- wrong: T1.4 error

CREATE TABLE t (a INT);
INSERT INTO t VALUES (1);

T1: BEGIN;
T1: SELECT a FROM t;
T2: UPDATE t SET a = 2;
T1: UPDATE t SET a = 3;
T1: COMMIT;
