-- isolde script
-- name: tidb-17851
-- description: A locking read of a key that does not exist does not lock it: another session inserts it at once.
-- level: repeatable read
-- source: facts
-- wrong: T2.1 at once

CREATE TABLE txn0 (id INT PRIMARY KEY, val VARCHAR(10));

T1: BEGIN;
T1: SELECT val FROM txn0 WHERE id = 25 FOR UPDATE;
T2: INSERT INTO txn0 (id, val) VALUES (25, '5');
T1: COMMIT;
