-- isolde script
-- name: mysql-116067
-- description: An upsert that changes nothing is not seen by its own transaction when the row came from another transaction after the snapshot.
-- dialect: mysql
-- level: repeatable read
-- source: text
-- bug: innodb-no-op-update
-- wrong: T1.4 rows none

CREATE TABLE t (id INT PRIMARY KEY, u INT UNIQUE, v INT);
INSERT INTO t VALUES (1, 1, 1);

T1: BEGIN;
T1: SELECT id, u, v FROM t;
T2: INSERT INTO t VALUES (50, 7, 3) ON DUPLICATE KEY UPDATE v = 3;
T1: INSERT INTO t VALUES (60, 7, 3) ON DUPLICATE KEY UPDATE v = 3;
T1: SELECT u, v FROM t WHERE u = 7;
T1: COMMIT;
