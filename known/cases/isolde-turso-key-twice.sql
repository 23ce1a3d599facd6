-- isolde script
-- name: isolde-turso-key-twice
-- description: A primary key can be inserted twice where another index covers all columns. Not isolation: one session is enough.
-- dialect: sqlite
-- level: snapshot
-- source: hunt
-- wrong: T1.3 rows (0, 0, 0) (0, 0, 0)

CREATE TABLE t (a INT, k INT PRIMARY KEY, v INT);
CREATE INDEX i ON t (v, k, a);
INSERT INTO t VALUES (0, 0, 0);

T1: BEGIN CONCURRENT;
T1: INSERT INTO t VALUES (0, 0, 0);
T1: SELECT a, k, v FROM t;
T1: COMMIT;
