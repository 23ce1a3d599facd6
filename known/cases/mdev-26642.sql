-- isolde script
-- name: mdev-26642
-- description: An update of all rows does not show, to its own transaction, in the row that another transaction has set to the same value after the snapshot was taken.
-- level: repeatable read
-- source: facts
-- bug: innodb-no-op-update
-- wrong: T1.4 rows (10, 0) (1, 1) (10, 2)

CREATE TABLE t (a INT, b INT);
INSERT INTO t VALUES (0, 0), (1, 1), (2, 2);

T1: BEGIN;
T1: SELECT a, b FROM t;
T2: BEGIN;
T2: UPDATE t SET a = 10 WHERE b = 1;
T2: COMMIT;
T1: UPDATE t SET a = 10 WHERE 1 = 1;
T1: SELECT a, b FROM t;
T1: COMMIT;
