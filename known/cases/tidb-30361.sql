-- isolde script
-- name: tidb-30361
-- description: The second of two equal reads misses rows that another transaction has deleted meanwhile.
-- level: repeatable read
-- source: facts
-- wrong: T2.3 rows none

CREATE TABLE t (id INT PRIMARY KEY, v INT);
INSERT INTO t VALUES (1, 10), (2, 20);

T1: BEGIN;
T2: BEGIN;
T2: SELECT v FROM t ORDER BY v DESC;
T1: DELETE FROM t;
T1: COMMIT;
T2: SELECT v FROM t ORDER BY v DESC;
T2: COMMIT;
