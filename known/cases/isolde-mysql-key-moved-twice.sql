-- isolde script
-- name: isolde-mysql-key-moved-twice
-- description: Two transactions change the primary key of a row one after the other; the second sees the row under its own key and under that of its snapshot, too.
-- dialect: mysql
-- level: repeatable read
-- source: hunt
-- bug: innodb-moved-key
-- wrong: T1.4 rows (0, 1) (0, 2)

CREATE TABLE t (a INT, k INT PRIMARY KEY);
INSERT INTO t VALUES (0, 1);

T1: BEGIN;
T1: SELECT a, k FROM t;
T2: UPDATE t SET k = 0;
T1: UPDATE t SET k = 2;
T1: SELECT a, k FROM t;
T1: ROLLBACK;
