-- isolde script
-- name: mysql-111215
-- description: A transaction reads two rows with the same unique value: the one of its snapshot, deleted by another transaction, and the one it has inserted itself.
-- level: repeatable read
-- source: text
-- wrong: T1.4 rows (1, 7) (2, 7)

CREATE TABLE t (id INT PRIMARY KEY, u INT UNIQUE);
INSERT INTO t VALUES (1, 7);

T1: BEGIN;
T1: SELECT id, u FROM t;
T2: DELETE FROM t WHERE id = 1;
T1: INSERT INTO t VALUES (2, 7);
T1: SELECT id, u FROM t;
T1: COMMIT;
