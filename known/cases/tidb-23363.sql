-- isolde script
-- name: tidb-23363
-- description: A column becomes NOT NULL while a transaction sets it to NULL, and both succeed.
-- dialect: mysql
-- level: repeatable read
-- source: facts
-- wrong: T1.4 rows (0, NULL)

CREATE TABLE t (id INT PRIMARY KEY, v INT);
INSERT INTO t VALUES (0, 0);

T1: BEGIN;
T2: ALTER TABLE t MODIFY COLUMN v INT NOT NULL;
T1: UPDATE t SET v = NULL WHERE id = 0;
T1: COMMIT;
T1: SELECT id, v FROM t;
