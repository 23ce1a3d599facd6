-- isolde script
-- name: postgresql-15875
-- description: An insert fails with a serialization error although the keys that the two transactions read and insert are all different.
-- level: serializable
-- source: facts
-- wrong: T1.3 error serialization

CREATE TABLE foo (id INT PRIMARY KEY);
INSERT INTO foo VALUES (44), (33);

T1: BEGIN;
T1: SELECT id FROM foo WHERE id = 44;
T2: BEGIN;
T2: SELECT id FROM foo WHERE id = 33;
T2: INSERT INTO foo VALUES (1);
T2: COMMIT;
T1: INSERT INTO foo VALUES (2);
T1: COMMIT;
