-- isolde script
-- name: mysql-93806
-- description: An upsert that meets an existing primary key locks the gap before it, too: an insert of a smaller key waits.
-- dialect: mysql
-- level: repeatable read
-- source: facts
-- wrong: T2.1 waits

CREATE TABLE t (id INT PRIMARY KEY, a INT);
INSERT INTO t VALUES (1, 1), (5, 5);

T1: BEGIN;
T1: INSERT INTO t VALUES (5, 5) ON DUPLICATE KEY UPDATE a = a + 1;
T2: INSERT INTO t VALUES (4, 4);
T1: COMMIT;
