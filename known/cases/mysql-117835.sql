-- isolde script
-- name: mysql-117835
-- description: A transaction that began with a consistent snapshot reads a value committed later, after it has changed another column of that row.
-- dialect: mysql
-- level: repeatable read
-- source: text
-- bug: innodb-changed-columns-after-own-update
-- wrong: T1.4 rows (1, 9, 2)

CREATE TABLE t (id INT PRIMARY KEY, a INT, b INT);
INSERT INTO t VALUES (1, 1, 1);

T1: START TRANSACTION WITH CONSISTENT SNAPSHOT;
T1: SELECT id, a, b FROM t;
T2: UPDATE t SET a = 9;
T1: UPDATE t SET b = 2;
T1: SELECT id, a, b FROM t;
T1: COMMIT;
