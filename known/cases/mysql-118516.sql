-- isolde script
-- name: mysql-118516
-- description: A read of other rows makes an update wait: without an index, a serializable read locks every row it passes.
-- level: serializable
-- source: text
-- wrong: T1.2 waits

CREATE TABLE m (id INT PRIMARY KEY, x INT);
INSERT INTO m VALUES (1, 1), (2, 2);

T2: BEGIN;
T2: SELECT id, x FROM m WHERE x = 0;
T1: BEGIN;
T1: UPDATE m SET x = 3 WHERE id = 1;
T2: COMMIT;
T1: COMMIT;
