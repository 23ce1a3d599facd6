-- isolde script
-- name: mdev-29565
-- description: An update changes a row that a read with the same condition does not show in the same transaction: another transaction has inserted it after the snapshot.
-- level: repeatable read
-- source: text
-- wrong: T1.2 rows (1, 10)
-- wrong: T1.3 count 2

CREATE TABLE t (id INT PRIMARY KEY, v INT);
INSERT INTO t VALUES (1, 10);

T1: BEGIN;
T1: SELECT id, v FROM t WHERE v < 50;
T2: INSERT INTO t VALUES (2, 20);
T1: UPDATE t SET v = v + 1 WHERE v < 50;
T1: COMMIT;
