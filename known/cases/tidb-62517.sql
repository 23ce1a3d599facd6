-- isolde script
-- name: tidb-62517
-- description: A read at READ COMMITTED still shows a row whose delete is committed.
-- level: read committed
-- source: facts
-- wrong: T1.3 rows (1, 1, 1)

CREATE TABLE kv (id INT PRIMARY KEY, k INT, v INT);
INSERT INTO kv VALUES (1, 1, 1);

T1: BEGIN;
T1: SELECT id, k, v FROM kv;
T2: DELETE FROM kv;
T1: SELECT id, k, v FROM kv;
T1: COMMIT;
