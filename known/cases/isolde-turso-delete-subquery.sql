-- isolde script
-- name: isolde-turso-delete-subquery
-- description: A DELETE whose condition, in parentheses, has a subquery deletes rows that do not satisfy it. Not isolation: one session is enough.
-- dialect: sqlite
-- level: serializable
-- source: hunt
-- wrong: T1.2 rows none

CREATE TABLE t (rid INT, v INT);
INSERT INTO t VALUES (1, 10), (2, 20);

T1: DELETE FROM t WHERE (v >= (SELECT MAX(s.v) FROM t AS s WHERE s.rid > 2));
T1: SELECT rid, v FROM t;
