-- isolde script
-- name: postgresql-16676
-- description: FETCH FIRST … WITH TIES FOR UPDATE SKIP LOCKED locks the first row behind the ties, so that the next reader skips it.
-- dialect: postgres
-- level: read committed
-- source: facts
-- wrong: T2.2 rows (4, 3)

CREATE TABLE queue (id INT, batch_id INT NOT NULL);
INSERT INTO queue VALUES (1, 1), (2, 1), (3, 2), (4, 3);

T1: BEGIN;
T1: SELECT id, batch_id FROM queue ORDER BY batch_id FETCH FIRST ROW WITH TIES FOR UPDATE SKIP LOCKED;
T2: BEGIN;
T2: SELECT id, batch_id FROM queue ORDER BY batch_id FETCH FIRST ROW WITH TIES FOR UPDATE SKIP LOCKED;
T1: COMMIT;
T2: COMMIT;
