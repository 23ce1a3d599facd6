-- isolde script
-- name: tidb-20535
-- description: An insert of a key that another transaction has deleted and not committed fails as a duplicate instead of waiting.
-- level: repeatable read
-- source: facts
-- wrong: T2.2 at once
-- wrong: T2.2 error duplicate-key

CREATE TABLE t2 (k INT, kk INT, val INT, PRIMARY KEY (k, kk));
INSERT INTO t2 VALUES (1, 1, 1);

T1: BEGIN;
T2: BEGIN;
T1: DELETE FROM t2 WHERE k = 1;
T2: INSERT INTO t2 VALUES (1, 1, 2);
T1: COMMIT;
T2: COMMIT;
