-- isolde script
-- name: mysql-101667
-- description: With the adaptive hash index, the second of two equal reads misses a row that another transaction has deleted and not committed.
-- level: repeatable read
-- source: facts
-- wrong: T1.3 rows none

CREATE TABLE t1 (id VARCHAR(16) PRIMARY KEY);
INSERT INTO t1 VALUES ('foo');

T1: BEGIN;
T1: SELECT id FROM t1 WHERE id = 'foo';
T2: BEGIN;
T2: DELETE FROM t1 WHERE id = 'foo';
T1: SELECT id FROM t1 WHERE id = 'foo';
T2: ROLLBACK;
T1: COMMIT;
