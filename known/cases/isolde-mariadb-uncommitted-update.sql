-- isolde script
-- name: isolde-mariadb-uncommitted-update
-- description: With innodb_snapshot_isolation an UPDATE at READ UNCOMMITTED compares its condition with what another transaction has written and not committed, and does not wait for it.
-- dialect: mysql
-- level: read uncommitted
-- source: hunt
-- bug: mariadb-uncommitted-search
-- wrong: T2.1 at once
-- wrong: T2.2 rows (1, 10)

CREATE TABLE t (id INT, v INT);
INSERT INTO t VALUES (1, 10);

T1: BEGIN;
T1: UPDATE t SET v = 11;
T2: UPDATE t SET v = 20 WHERE v = 10;
T1: ROLLBACK;
T2: SELECT id, v FROM t;
