-- isolde script
-- name: isolde-turso-dirty-read
-- description: A read sees a row that another transaction has inserted and not committed.
-- dialect: sqlite
-- level: snapshot
-- source: hunt
-- wrong: T2.1 rows (0) (1) (2)

CREATE TABLE t (u INT UNIQUE);
INSERT INTO t VALUES (0), (1);

T1: BEGIN CONCURRENT;
T1: UPDATE t SET u = 0;
T1: DELETE FROM t;
T1: INSERT INTO t VALUES (2);
T2: SELECT u FROM t;
