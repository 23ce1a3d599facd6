-- isolde script
-- name: mdev-26643
-- description: An UPDATE that waits for a row passes by the rows before it by their old values, and judges the rows after it by their new ones.
-- level: read committed
-- source: facts
-- wrong: T2.2 waits
-- wrong: T2.4 rows (10, 1) (10, 20) (10, 20)

CREATE TABLE t (a INT, b INT);
INSERT INTO t VALUES (NULL, 1), (2, 2), (NULL, 3);

T1: BEGIN;
T1: UPDATE t SET a = 10;
T2: BEGIN;
T2: UPDATE t SET b = 20 WHERE a > 0;
T1: COMMIT;
T2: COMMIT;
T2: SELECT a, b FROM t;
