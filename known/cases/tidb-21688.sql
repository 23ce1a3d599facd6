-- isolde script
-- name: tidb-21688
-- description: An update that finds its row by a unique key and matches nothing locks the key all the same.
-- dialect: mysql
-- level: repeatable read
-- source: facts
-- wrong: T2.2 waits

CREATE TABLE t (k1 INT UNIQUE, k2 INT, v INT);
INSERT INTO t VALUES (1, 1, NULL), (2, 2, 2);

T1: BEGIN;
T2: BEGIN;
T1: UPDATE t SET v = 10 WHERE (k1, v) IN ((1, NULL));
T2: UPDATE t SET v = 11 WHERE (k1, v) IN ((1, NULL));
T1: COMMIT;
T2: COMMIT;
