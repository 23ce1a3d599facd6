-- isolde script
-- name: isolde-mariadb-uncommitted-delete
-- description: With innodb_snapshot_isolation an UPDATE at READ UNCOMMITTED does not wait for a transaction that has deleted its row, and is lost when that is rolled back.
-- level: read uncommitted
-- source: hunt
-- bug: mariadb-uncommitted-search
-- wrong: T2.1 at once
-- wrong: T2.2 rows (1, 10)

CREATE TABLE t (id INT, v INT);
INSERT INTO t VALUES (1, 10);

T1: BEGIN;
T1: DELETE FROM t;
T2: UPDATE t SET v = 20;
T1: ROLLBACK;
T2: SELECT id, v FROM t;
