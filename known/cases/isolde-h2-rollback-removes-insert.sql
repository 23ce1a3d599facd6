-- isolde script
-- name: isolde-h2-rollback-removes-insert
-- description: A ROLLBACK removes the row that another transaction has inserted: an UPDATE and an INSERT wait for the same key, which a third transaction frees; the INSERT is answered, the UPDATE finds its row no more, and its ROLLBACK puts back what was at the key when it came.
-- dialect: postgres
-- level: read committed
-- source: hunt
-- wrong: T3.4 rows (1, 103, 1) (2, 10, 2)

CREATE TABLE t (a INT, k INT PRIMARY KEY, v INT);
INSERT INTO t VALUES (1, 3, 1), (2, 10, 2);

T1: BEGIN;
T1: UPDATE t SET k = 103 WHERE a = 1;
T2: BEGIN;
T2: UPDATE t SET v = 45;
T3: BEGIN;
T3: INSERT INTO t VALUES (16, 3, 60);
T1: COMMIT;
T3: SELECT a, k, v FROM t;
T2: ROLLBACK;
T3: SELECT a, k, v FROM t;
T3: COMMIT;
T3: SELECT a, k, v FROM t;
