-- isolde script
-- name: tidb-28212
-- description: TiDB’s form of the no-op update: the row that another transaction has set to the same value keeps its old value for its own transaction.
-- level: repeatable read
-- source: facts
-- bug: tidb-no-op-update
-- wrong: T1.5 rows (10, 0) (1, 1) (10, 2)

CREATE TABLE t (a INT, b INT);
INSERT INTO t VALUES (0, 0), (1, 1), (2, 2);

T1: BEGIN;
T1: SELECT a, b FROM t;
T2: UPDATE t SET a = 10 WHERE b = 1;
T1: SELECT a, b FROM t;
T1: UPDATE t SET a = 10 WHERE 1 = 1;
T1: SELECT a, b FROM t;
T1: COMMIT;
