-- isolde script
-- name: mysql-100293
-- description: A read that the query cache answers takes no lock: another transaction inserts into the table although the reader is serializable.
-- level: serializable
-- source: facts
-- wrong: T2.1 at once

CREATE TABLE t (c1 INT);
INSERT INTO t VALUES (1), (2);

T1: BEGIN;
T1: SELECT c1 FROM t;
T2: INSERT INTO t VALUES (3);
T1: COMMIT;
