-- isolde script
-- name: mysql-101706
-- description: Two inserts of one unique value wait for a delete of it; when the delete commits both succeed, and the unique index holds the value twice.
-- dialect: mysql
-- level: repeatable read
-- source: facts
-- wrong: T1.4 rows (1, 5) (2, 5) (10, 9)

CREATE TABLE t (c1 INT NOT NULL AUTO_INCREMENT PRIMARY KEY, c2 INT UNIQUE) AUTO_INCREMENT = 10;
INSERT INTO t VALUES (10, 9), (12, 5);

T1: BEGIN;
T1: DELETE FROM t WHERE c2 = 5;
T2: INSERT INTO t SELECT 2, 5;
T3: INSERT INTO t SELECT 1, 5;
T1: COMMIT;
T1: SELECT c1, c2 FROM t;
