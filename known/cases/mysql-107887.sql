-- isolde script
-- name: mysql-107887
-- description: The same with a condition: a row is returned after a delete of one’s own, since another transaction has deleted it before.
-- level: repeatable read
-- bug: innodb-own-delete
-- wrong: T2.4 rows (1, 10) (3, 30)

CREATE TABLE t (id INT PRIMARY KEY, v INT);
INSERT INTO t VALUES (1, 10), (2, 20), (3, 30);

T2: BEGIN;
T2: SELECT id, v FROM t;
T1: DELETE FROM t WHERE v = 10;
T2: DELETE FROM t WHERE v < 30;
T2: SELECT id, v FROM t;
T2: COMMIT;
