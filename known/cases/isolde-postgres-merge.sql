-- isolde script
-- name: isolde-postgres-merge
-- description: MERGE waits for a transaction that updates its row twice, and then updates from the first of the two versions.
-- dialect: postgres
-- level: read committed
-- source: hunt
-- wrong: T1.5 rows (1, 11)

CREATE TABLE t (id INT PRIMARY KEY, v INT);
INSERT INTO t VALUES (1, 0);

T1: BEGIN;
T1: UPDATE t SET v = v + 1 WHERE id = 1;
T1: UPDATE t SET v = v + 1 WHERE id = 1;
T2: MERGE INTO t USING (VALUES (1)) AS s(id) ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = t.v + 10;
T1: COMMIT;
T1: SELECT id, v FROM t;
