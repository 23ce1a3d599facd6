-- isolde script
-- name: isolde-turso-in-null
-- description: A value that is not in the list of a subquery with a NULL is taken for certainly not in it: IN gives false where it should give NULL. Not isolation: one session is enough.
-- dialect: sqlite
-- level: serializable
-- source: hunt
-- wrong: T1.1 rows (0)

CREATE TABLE t (v INT);
INSERT INTO t VALUES (NULL), (1);

T1: SELECT 2 IN (SELECT v FROM t);
