-- isolde script
-- name: tidb-20773
-- description: A transaction that inserts, updates and deletes fails at COMMIT because another session has added a column.
-- dialect: mysql
-- level: repeatable read
-- source: facts
-- wrong: T1.4 error

CREATE TABLE t (id INT PRIMARY KEY, s VARCHAR(20));
INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, NULL);

T1: BEGIN;
T2: ALTER TABLE t ADD COLUMN s2 VARCHAR(20);
T1: UPDATE t SET s = NULL WHERE id = 2;
T1: DELETE FROM t WHERE id = 3;
T1: COMMIT;
