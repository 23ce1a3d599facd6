-- isolde script
-- name: isolde-mariadb-index-skip-update
-- description: With innodb_snapshot_isolation a write that finds its rows by a secondary index passes by a row whose indexed column was changed since the snapshot, without the conflict that it should raise.
-- dialect: mysql
-- level: repeatable read
-- source: hunt
-- bug: mariadb-index-skip
-- wrong: T2.3 count 0
-- wrong: T2.4 rows (1, 10)

CREATE TABLE t (id INT, v INT, KEY (v));
INSERT INTO t VALUES (1, 10);

T2: BEGIN;
T2: SELECT id, v FROM t;
T1: UPDATE t SET v = 20;
T2: UPDATE t SET v = 30 WHERE v = 10;
T2: SELECT id, v FROM t;
T2: COMMIT;
