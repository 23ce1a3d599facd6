import { expect, it } from 'vitest';
import { openCatalog } from './catalog.js';
import { doubtfulNames } from './quoted-names.js';

it.each([
  [['SELECT id FROM t', 'SELECT "id" FROM t'], ['id']],
  [['SELECT "id" FROM t', 'SELECT "ID" FROM t'], ['id']],
  [['SELECT "id" FROM "t"', 'UPDATE "t" SET "id" = 1'], []],
  [['SELECT id FROM t', `SELECT 'say "id"' FROM t`], []],
  [['SELECT "a b" FROM t', 'SELECT a, b FROM t'], []],
])('%j', (statements, expected) => {
  expect([...doubtfulNames(statements)]).toEqual(expected);
});

it('ends the following of tables of an engine that only speaks the dialect', () => {
  const source = {
    dialect: 'postgres' as const,
    setup: ['CREATE TABLE t (id INT PRIMARY KEY, v INT)', 'CREATE TABLE u (id2 INT)'],
    statements: [{ kind: 'update' as const, sql: 'UPDATE t SET "ID" = 5' }],
  };
  expect(openCatalog({ ...source, borrowed: true }).find('t')?.unfollowed).toMatch(/quotes/);
  expect(openCatalog({ ...source, borrowed: true }).find('u')?.unfollowed).toBeUndefined();
  expect(openCatalog(source).find('t')?.unfollowed).toBeUndefined();
});
