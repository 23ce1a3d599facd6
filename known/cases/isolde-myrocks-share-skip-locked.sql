-- isolde script
-- name: isolde-myrocks-share-skip-locked
-- description: In MyRocks a shared lock that skips locked rows locks nothing.
-- dialect: mysql
-- level: repeatable read
-- source: hunt
-- wrong: T1.2 rows (1, 10) (2, 20)
-- wrong: T2.1 at once

CREATE TABLE t (id INT PRIMARY KEY, v INT);
INSERT INTO t VALUES (1, 10), (2, 20);

T1: BEGIN;
T1: SELECT id, v FROM t LOCK IN SHARE MODE SKIP LOCKED;
T2: DELETE FROM t WHERE id = 1;
T1: COMMIT;
