import { describe, expect, it } from 'vitest';
import { privateServerGuard, userServerGuard } from './postgres-guard.js';

describe('to a private server', () => {
  it.each([
    "ALTER ROLE CURRENT_USER PASSWORD 'x'",
    'ALTER/**/USER x SET a = 1',
    'SELECT lo_create(0)',
    'SELECT U&"lo\\005fcreate"(0)',
    "DO $$ BEGIN EXECUTE 'ALTER' || ' ROLE x'; END $$",
    'DO $$ BEGIN EXECUTE function; END $$',
    "CREATE FUNCTION f() RETURNS int LANGUAGE plperl AS 'x'",
    "DO LANGUAGE E'plp\\x65rl' 'x'",
    "SELECT query_to_xml('SELECT 1', true, true, '')",
  ])('%s is not sent', (sql) => {
    expect(privateServerGuard(sql)).toBeDefined();
    expect(userServerGuard(sql)).toBeDefined();
  });

  it.each([
    'ALTER TABLE t ADD COLUMN role int',
    'SELECT CURRENT_USER',
    'CREATE TRIGGER g BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION f()',
    'CREATE TRIGGER g BEFORE INSERT ON t EXECUTE PROCEDURE s.f ()',
    'EXECUTE p',
    'execute p (1, 2);',
    'CREATE FUNCTION f() RETURNS int LANGUAGE sql AS $$ SELECT 1 $$',
    'CREATE FUNCTION f() RETURNS int AS $$ BEGIN RETURN 1; END $$ LANGUAGE plpgsql',
    'SELECT slo_w FROM hello_world',
    'PREPARE p AS SELECT 1',
    'BEGIN TRANSACTION',
    'CREATE TABLE "group" (a int)',
  ])('%s is, to others, too', (sql) => {
    expect(privateServerGuard(sql)).toBeUndefined();
    expect(userServerGuard(sql)).toBeUndefined();
  });
});

describe('to a server of the user’s', () => {
  it.each([
    'CREATE SCHEMA left_behind',
    'CREATE EXTENSION hstore',
    'DROP OWNED BY CURRENT_USER',
    'GRANT tester TO PUBLIC',
    'NOTIFY news',
    "BEGIN; PREPARE TRANSACTION 'x'",
    "COMMIT PREPARED 'x'",
    'SELECT pg_terminate_backend(1)',
  ])('%s is not sent', (sql) => {
    expect(privateServerGuard(sql)).toBeUndefined();
    expect(userServerGuard(sql)).toBeDefined();
  });
});
