-- isolde script
-- name: mysql-95049
-- description: A row changed behind a savepoint is locked no longer once the transaction has rolled back to the savepoint: another transaction changes it at once.
-- level: repeatable read
-- source: facts
-- wrong: T2.2 at once

CREATE TABLE person (id INT PRIMARY KEY, age INT NOT NULL);
INSERT INTO person VALUES (1, 29);

T1: BEGIN;
T1: SAVEPOINT s;
T1: UPDATE person SET age = 30 WHERE id = 1;
T1: ROLLBACK TO SAVEPOINT s;
T2: BEGIN;
T2: UPDATE person SET age = 40 WHERE id = 1;
T2: ROLLBACK;
T1: ROLLBACK;
