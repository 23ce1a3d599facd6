-- isolde script
-- name: tidb-34978
-- description: A locking read fails after another session has dropped a NOT NULL column.
-- level: read committed
-- source: facts
-- wrong: T1.2 error

CREATE TABLE t (id INT PRIMARY KEY, c INT NOT NULL);
INSERT INTO t VALUES (1, 1), (2, 2);

T1: BEGIN;
T2: ALTER TABLE t DROP COLUMN c;
T2: INSERT INTO t VALUES (3);
T1: SELECT id FROM t FOR UPDATE;
T1: COMMIT;
