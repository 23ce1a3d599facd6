-- isolde script
-- name: mdev-29123
-- description: A query with a window function in the list of NOT IN returns other rows while another transaction has deleted rows and not committed: the plan follows the number of rows, and one of the plans is wrong.
-- dialect: mysql
-- level: read committed
-- source: facts
-- wrong: T2.2 rows (1)

CREATE TABLE t0 (a INT);
INSERT INTO t0 VALUES (0), (1);
CREATE TABLE t1 (a INT);
INSERT INTO t1 VALUES (1), (0);

T1: BEGIN;
T1: DELETE FROM t0;
T2: BEGIN;
T2: SELECT a FROM t0 WHERE a NOT IN (SELECT ROW_NUMBER() OVER (ORDER BY s.a) FROM t1 AS s);
T1: ROLLBACK;
T2: COMMIT;
