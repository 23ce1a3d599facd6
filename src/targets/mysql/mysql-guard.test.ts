import { describe, expect, it } from 'vitest';
import { userServerGuard } from './mysql-guard.js';

describe('on a server of the user’s', () => {
  it.each([
    'USE mysql',
    '/* a */ -- b\n#c\nUSE mysql',
    '/*!50000 USE mysql */',
    '/*M!100100 USE mysql */',
    '/*T![x] USE mysql */',
    'DROP DATABASE shop',
    'create user x',
    'SET GLOBAL a = 1',
    'SET a = 1, GLOBAL b = 2',
    'GRANT ALL ON *.* TO x',
    "SET PASSWORD = 'x'",
    "/*!50000 SET*/ PASSWORD = 'x'",
    "SET @a = 1, PASSWORD = 'x'",
    'CREATE OR REPLACE DATABASE isolde_x',
    "PREPARE p FROM 'SELECT 1'",
    "EXECUTE IMMEDIATE 'SELECT 1'",
    "XA PREPARE 'x'",
    'CREATE PROCEDURE p() KILL 7',
  ])('%s is not sent', (sql) => expect(userServerGuard(sql)).toBeDefined());

  it.each([
    'DROP TABLE t',
    'SET SESSION a = 1',
    'UPDATE used SET v = 1',
    'CREATE TABLE databases (i INT)',
    'CREATE TABLE user (password INT)',
    'UPDATE user SET a = 1, password = 2',
    'SELECT * FROM t USE INDEX (i)',
    'SELECT @@global.a',
    'CREATE TABLE role (event INT)',
    "XA START 'x'",
  ])('%s is', (sql) => expect(userServerGuard(sql)).toBeUndefined());
});
