-- isolde script
-- name: isolde-turso-insert-count
-- description: An INSERT of two rows reports none. Not isolation: one session is enough.
-- dialect: sqlite
-- level: serializable
-- source: hunt
-- wrong: T1.1 count 0

CREATE TABLE t (c INT PRIMARY KEY);

T1: INSERT INTO t VALUES (0), (1);
