-- isolde script
-- name: tidb-21218
-- description: A locking read by a key of two columns does not lock it: an insert of the same key fails at once instead of waiting.
-- level: repeatable read
-- source: facts
-- wrong: T2.2 at once
-- wrong: T2.2 error duplicate-key

CREATE TABLE t (id INT, v INT, val INT, PRIMARY KEY (id, v));
INSERT INTO t VALUES (1, 1, 1);

T1: BEGIN;
T2: BEGIN;
T1: SELECT id, v, val FROM t WHERE id = 1 AND v = 1 FOR UPDATE;
T2: INSERT INTO t VALUES (1, 1, 2);
T1: UPDATE t SET v = 2 WHERE id = 1 AND v = 1;
T1: COMMIT;
T2: COMMIT;
