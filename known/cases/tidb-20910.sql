-- isolde script
-- name: tidb-20910
-- description: A unique index is added while a transaction makes two rows equal; both succeed.
-- dialect: mysql
-- level: repeatable read
-- source: facts
-- wrong: T1.4 rows (1, 2) (3, 2)

CREATE TABLE t (id INT PRIMARY KEY, c INT);
INSERT INTO t VALUES (1, 2), (3, 4);

T1: BEGIN;
T2: ALTER TABLE t ADD UNIQUE INDEX uk (c);
T1: UPDATE t SET c = 2 WHERE id = 3;
T1: COMMIT;
T1: SELECT id, c FROM t;
