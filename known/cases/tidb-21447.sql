-- isolde script
-- name: tidb-21447
-- description: After an update to the value another transaction has committed, a scan and a lookup by key in the same transaction show the old value.
-- level: repeatable read
-- source: facts
-- bug: tidb-no-op-update
-- wrong: T2.4 rows (1, 'abc')

CREATE TABLE t1 (id INT PRIMARY KEY, name VARCHAR(20));
INSERT INTO t1 VALUES (1, 'abc');

T1: BEGIN;
T2: BEGIN;
T2: SELECT id, name FROM t1 WHERE id = 1;
T1: UPDATE t1 SET name = 'xyz';
T1: COMMIT;
T2: UPDATE t1 SET name = 'xyz';
T2: SELECT id, name FROM t1;
T2: SELECT id, name FROM t1 WHERE id = 1;
T2: COMMIT;
