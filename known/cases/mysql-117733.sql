-- isolde script
-- name: mysql-117733
-- description: A reader at READ COMMITTED sees a value that is not committed.
-- level: read committed
-- source: text
-- wrong: T2.2 rows (1, 2)

CREATE TABLE t (id INT PRIMARY KEY, v INT);
INSERT INTO t VALUES (1, 1);

T1: BEGIN;
T1: UPDATE t SET v = 2 WHERE id = 1;
T2: BEGIN;
T2: SELECT id, v FROM t;
T1: ROLLBACK;
T2: COMMIT;
