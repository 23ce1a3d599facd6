-- isolde script
-- name: mdev-37318
-- description: After an update of its own, a transaction sees columns that another transaction has committed after the snapshot.
-- level: repeatable read
-- source: text
-- bug: innodb-changed-columns-after-own-update
-- wrong: T1.4 rows (1, 11, 5)

CREATE TABLE t (id INT PRIMARY KEY, v INT, w INT);
INSERT INTO t VALUES (1, 10, 100);

T1: BEGIN;
T1: SELECT id, v, w FROM t;
T2: UPDATE t SET w = 5 WHERE id = 1;
T1: UPDATE t SET v = 11 WHERE id = 1;
T1: SELECT id, v, w FROM t;
T1: COMMIT;
