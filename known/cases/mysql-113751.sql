-- isolde script
-- name: mysql-113751
-- description: The same query gives another result within one transaction once an update of its own has touched a row that another transaction inserted.
-- level: repeatable read
-- source: text
-- wrong: T1.4 rows (1, 0) (2, 0)

CREATE TABLE t (id INT PRIMARY KEY, v INT);
INSERT INTO t VALUES (1, 10);

T1: BEGIN;
T1: SELECT id, v FROM t;
T2: INSERT INTO t VALUES (2, 20);
T1: UPDATE t SET v = 0;
T1: SELECT id, v FROM t;
T1: COMMIT;
