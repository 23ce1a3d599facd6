-- isolde script
-- name: mysql-105670
-- description: Rows that another transaction deleted are still seen after a delete of one’s own that selects them.
-- level: repeatable read
-- source: facts
-- bug: innodb-own-delete
-- wrong: T2.4 rows (1, 10) (2, 20)

CREATE TABLE t (id INT PRIMARY KEY, v INT);
INSERT INTO t VALUES (1, 10), (2, 20);

T2: BEGIN;
T2: SELECT id, v FROM t;
T1: DELETE FROM t;
T2: DELETE FROM t;
T2: SELECT id, v FROM t;
T2: COMMIT;
