-- isolde script
-- name: mysql-102722
-- description: A locking read through an index keeps locks on index entries that the pushed condition has ruled out.
-- dialect: mysql
-- level: read committed
-- source: facts
-- wrong: T2.2 waits

CREATE TABLE ts (a INT PRIMARY KEY, b INT, c INT, d INT, INDEX (b, c));
INSERT INTO ts VALUES (1, 1, 1, 1), (2, 2, 2, 2), (3, 3, 3, 3), (4, 4, 4, 4), (5, 5, 5, 5), (6, 6, 6, 6), (7, 7, 7, 7), (8, 8, 8, 8), (9, 9, 9, 9);

T1: BEGIN;
T1: SELECT b, c, d FROM ts FORCE INDEX (b) WHERE b >= 5 AND b < 8 AND c = 7 FOR UPDATE;
T2: BEGIN;
T2: SELECT b, c FROM ts FORCE INDEX (b) WHERE b = 5 AND c = 5 FOR UPDATE;
T1: COMMIT;
T2: COMMIT;
