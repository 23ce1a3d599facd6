-- isolde script
-- name: isolde-mariadb-index-skip
-- description: With innodb_snapshot_isolation a write that finds its rows by a secondary index passes by a row that was deleted since the snapshot, without the conflict that it should raise.
-- dialect: mysql
-- level: repeatable read
-- source: hunt
-- bug: mariadb-index-skip
-- wrong: T2.3 count 0
-- wrong: T2.4 rows (1, 10)

CREATE TABLE t (id INT PRIMARY KEY, v INT, KEY (v));
INSERT INTO t VALUES (1, 10);

T2: BEGIN;
T2: SELECT id, v FROM t WHERE v > 0;
T1: DELETE FROM t;
T2: UPDATE t SET v = 30 WHERE v > 0;
T2: SELECT id, v FROM t WHERE v > 0;
T2: COMMIT;
