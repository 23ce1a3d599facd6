-- isolde script
-- name: tidb-26251
-- description: A locking join of a partitioned with a plain table does not lock the rows of the plain one.
-- dialect: mysql
-- level: repeatable read
-- source: facts
-- wrong: T2.2 at once

CREATE TABLE tp (id INT PRIMARY KEY) PARTITION BY RANGE (id) (PARTITION p0 VALUES LESS THAN (100));
CREATE TABLE tn (id INT PRIMARY KEY);
INSERT INTO tp VALUES (1), (2);
INSERT INTO tn VALUES (1), (2);

T1: BEGIN;
T1: SELECT tp.id FROM tp, tn WHERE tp.id = tn.id AND tn.id <= 1 FOR UPDATE;
T2: BEGIN;
T2: SELECT id FROM tn WHERE id = 1 FOR UPDATE;
T1: COMMIT;
T2: COMMIT;
