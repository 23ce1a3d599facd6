-- isolde script
-- name: tidb-21498
-- description: After another session has dropped the index, a read at READ COMMITTED still finds a row by its old value.
-- dialect: mysql
-- level: read committed
-- source: facts
-- wrong: T1.2 rows (1, 10)

CREATE TABLE t (id INT PRIMARY KEY, v INT, INDEX iv (v));
INSERT INTO t VALUES (1, 10), (2, 20);

T1: BEGIN;
T2: ALTER TABLE t DROP INDEX iv;
T2: UPDATE t SET v = 11 WHERE id = 1;
T1: SELECT id, v FROM t WHERE v = 10;
T1: COMMIT;
