-- isolde script
-- name: tidb-44379
-- description: A row that another transaction deleted, and that a delete of one’s own covers, is still returned.
-- level: repeatable read
-- source: title
-- wrong: T1.4 rows (1, 10)

CREATE TABLE t (id INT PRIMARY KEY, v INT);
INSERT INTO t VALUES (1, 10), (2, 20);

T1: BEGIN;
T1: SELECT id, v FROM t;
T2: DELETE FROM t WHERE id = 1;
T1: DELETE FROM t WHERE id <= 2;
T1: SELECT id, v FROM t;
T1: COMMIT;
