-- isolde script
-- name: isolde-turso-insert-beside-write
-- description: A key is inserted that another transaction has inserted since; COMMIT does not notice it while a third transaction has an uncommitted change of that row.
-- dialect: sqlite
-- level: snapshot
-- source: hunt
-- wrong: T1.3 ok

CREATE TABLE t (k INTEGER PRIMARY KEY, v INT);

T1: BEGIN CONCURRENT;
T2: INSERT INTO t VALUES (0, 1);
T1: INSERT INTO t VALUES (0, 2);
T2: BEGIN CONCURRENT;
T2: UPDATE t SET v = 3;
T1: COMMIT;
T2: ROLLBACK;
