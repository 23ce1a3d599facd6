-- isolde script
-- name: mysql-117860
-- description: A serializable transaction that began with a consistent snapshot reads a row that another transaction has inserted since.
-- dialect: mysql
-- level: serializable
-- source: text
-- wrong: T1.2 rows (1, 1) (2, 2)

CREATE TABLE t (id INT PRIMARY KEY, v INT);
INSERT INTO t VALUES (1, 1);

T1: START TRANSACTION WITH CONSISTENT SNAPSHOT;
T2: INSERT INTO t VALUES (2, 2);
T1: SELECT id, v FROM t;
T1: COMMIT;
