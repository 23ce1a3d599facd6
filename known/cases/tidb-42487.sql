-- isolde script
-- name: tidb-42487
-- description: A transaction cannot read its own update where another transaction has committed the same value to one of the rows.
-- level: repeatable read
-- source: title
-- bug: tidb-no-op-update
-- wrong: T1.4 rows (1, 7, 5) (2, 2, 5) (3, 7, 5)

CREATE TABLE t (id INT PRIMARY KEY, a INT, b INT);
INSERT INTO t VALUES (1, 1, 5), (2, 2, 5), (3, 3, 5);

T1: BEGIN;
T1: SELECT id, a, b FROM t;
T2: BEGIN;
T2: UPDATE t SET a = 7 WHERE id = 2;
T2: COMMIT;
T1: UPDATE t SET a = 7 WHERE b = 5;
T1: SELECT id, a, b FROM t;
T1: COMMIT;
