-- isolde script
-- name: tidb-36438
-- description: An update that leaves a row as it is does not lock its unique key: an insert of that key fails at once instead of waiting.
-- dialect: mysql
-- level: repeatable read
-- source: facts
-- wrong: T2.1 at once

CREATE TABLE t (i VARCHAR(20) PRIMARY KEY);
INSERT INTO t VALUES ('a');

T1: BEGIN;
T1: SELECT i FROM t;
T1: UPDATE t SET i = 'a';
T2: INSERT INTO t VALUES ('a');
T1: COMMIT;
