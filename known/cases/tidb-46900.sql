-- isolde script
-- name: tidb-46900
-- description: A transaction reads one key twice: the deleted row of its snapshot and the row it has inserted in its place.
-- level: repeatable read
-- source: title
-- wrong: T1.4 rows (5, 1) (5, 2)

CREATE TABLE t (id INT PRIMARY KEY, k INT UNIQUE, v INT);
INSERT INTO t VALUES (1, 5, 1);

T1: BEGIN;
T1: SELECT k, v FROM t;
T2: DELETE FROM t WHERE k = 5;
T1: INSERT INTO t VALUES (2, 5, 2);
T1: SELECT k, v FROM t;
T1: COMMIT;
