import { describe, expect, it } from 'vitest';
import { parseScript } from '../cases/index.js';
import { parseStatement } from '../sql/index.js';
import { kindLine } from './act-kind.js';
import { writeKind } from './conflict.js';
import { actOf } from './events.js';
import { keyColumnsOf } from './keys.js';

/** The kind of an UPDATE under a set-up. */
const kindOf = (setup: string, sql: string, dialect: 'postgres' | 'mysql' | 'sqlite'): string => {
  const { case: program } = parseScript(`${setup}\nT1: SELECT 1;\n`, { file: 'test', dialect });
  expect(program.setup.every((each) => parseStatement(each, dialect).type !== 'opaque')).toBe(true);
  return kindLine(writeKind(actOf(sql, dialect), keyColumnsOf(program, dialect)));
};

describe('an update of a key', () => {
  it.each([
    ['CREATE TABLE t (id INT PRIMARY KEY, a INT);', 'UPDATE t SET id = 2', 'postgres'],
    ['CREATE TABLE t (id INT PRIMARY KEY, a INT);', 'UPDATE T SET ID = 2', 'postgres'],
    ['CREATE TABLE "T" ("Id" INT PRIMARY KEY, a INT);', 'UPDATE "T" SET "Id" = 2', 'postgres'],
    [
      'CREATE TABLE "T" (id INT, "A" INT);\nCREATE INDEX i ON "T" ("A");',
      'UPDATE "T" SET "A" = 2',
      'postgres',
    ],
    ['CREATE TABLE T (Id INT PRIMARY KEY, a INT);', 'UPDATE T SET iD = 2', 'mysql'],
    ['CREATE TABLE T (Id INT, a INT, UNIQUE (a, Id));', 'UPDATE t SET ID = 2', 'sqlite'],
  ] as const)('%s %s (%s)', (setup, sql, dialect) => {
    expect(kindOf(setup, sql, dialect)).toBe('update of a key');
  });

  it.each([
    ['CREATE TABLE "T" ("Id" INT PRIMARY KEY, id INT);', 'UPDATE "T" SET id = 2', 'postgres'],
    ['CREATE TABLE t (id INT PRIMARY KEY);\nCREATE TABLE "T" (id INT);', 'UPDATE "T" SET id = 2', 'postgres'],
    ['CREATE TABLE t (id INT PRIMARY KEY, a INT);', 'UPDATE t SET a = 2', 'mysql'],
  ] as const)('is not: %s %s (%s)', (setup, sql, dialect) => {
    expect(kindOf(setup, sql, dialect)).toBe('update');
  });
});
