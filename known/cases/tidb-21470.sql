-- isolde script
-- name: tidb-21470
-- description: A column is narrowed while a transaction inserts a longer value; both succeed and the value is gone.
-- dialect: mysql
-- level: repeatable read
-- source: facts
-- wrong: T1.4 rows (1, NULL)

CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(10));

T1: BEGIN;
T2: ALTER TABLE t MODIFY COLUMN v VARCHAR(5);
T1: INSERT INTO t VALUES (1, '123456789');
T1: COMMIT;
T1: SELECT id, v FROM t;
