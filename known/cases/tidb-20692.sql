-- isolde script
-- name: tidb-20692
-- description: An update by a unique key does not wait for a transaction that has deleted the row and one that waits to insert it again.
-- level: repeatable read
-- source: facts
-- wrong: T3.2 at once

CREATE TABLE t (id INT PRIMARY KEY, v INT, vv INT, vvv INT, UNIQUE (id, v, vv));
INSERT INTO t VALUES (1, 1, 1, 1);

T1: BEGIN;
T2: BEGIN;
T3: BEGIN;
T1: DELETE FROM t WHERE id = 1 AND v = 1 AND vv = 1;
T2: INSERT INTO t VALUES (1, 2, 3, 4);
T3: UPDATE t SET id = 10, v = 20, vv = 30, vvv = 40 WHERE id = 1 AND v = 2 AND vv = 3;
T1: COMMIT;
T2: COMMIT;
T3: COMMIT;
