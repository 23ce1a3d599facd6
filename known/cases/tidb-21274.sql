-- isolde script
-- name: tidb-21274
-- description: COMMIT of an update fails because another session adds an index meanwhile.
-- dialect: mysql
-- level: repeatable read
-- source: facts
-- wrong: T1.3 error

CREATE TABLE t (c1 INT PRIMARY KEY, c2 INT);
INSERT INTO t VALUES (1, 1);

T1: BEGIN;
T1: UPDATE t SET c2 = 2 WHERE c1 = 1;
T2: ALTER TABLE t ADD INDEX k (c2);
T1: COMMIT;
