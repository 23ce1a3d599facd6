-- isolde script
-- name: cockroachdb-88251
-- description: A locking read that goes through a secondary index locks nothing: an update of the row goes through.
-- level: serializable
-- source: facts
-- wrong: T2.1 at once

CREATE TABLE t1 (a INT PRIMARY KEY, b INT, c INT UNIQUE);
INSERT INTO t1 VALUES (1, 1, 1), (2, 2, 2);

T1: BEGIN;
T1: SELECT a FROM t1 WHERE c = 1 FOR UPDATE;
T2: UPDATE t1 SET c = -1 WHERE a = 1;
T1: COMMIT;
