-- isolde script
-- name: isolde-turso-replaced-row
-- description: A transaction inserts a key that another one has inserted since; both succeed, and the later row is gone.
-- dialect: sqlite
-- level: snapshot
-- source: hunt
-- bug: turso-keys-of-open-transactions
-- wrong: T1.2 ok
-- wrong: T1.3 ok
-- wrong: T2.2 rows (1, 0)

CREATE TABLE t (rid INT, k INTEGER PRIMARY KEY);

T1: BEGIN CONCURRENT;
T2: INSERT OR REPLACE INTO t (rid, k) VALUES (1, 0);
T1: INSERT INTO t (rid, k) SELECT 0, 0;
T1: COMMIT;
T2: SELECT rid, k FROM t;
