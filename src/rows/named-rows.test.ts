import { describe, expect, it } from 'vitest';
import { parseStatement } from '../sql/index.js';
import { openCatalog } from './catalog.js';
import { columnConstants, conditionOf, namedKeys } from './named-rows.js';

const where = (condition: string, dialect: 'postgres' | 'mysql' = 'postgres') =>
  conditionOf(parseStatement(`SELECT * FROM t WHERE ${condition}`, dialect));

function keys(create: string, condition: string, dialect: 'postgres' | 'mysql' = 'postgres') {
  const table = openCatalog({ dialect, setup: [create], statements: [] }).find('t')!;
  return namedKeys(where(condition, dialect), table, { dialect });
}

describe('columnConstants', () => {
  it.each([
    ['id = 3', { id: [3] }],
    ['3 = id', { id: [3] }],
    ['id IN (1, 2)', { id: [1, 2] }],
    ['id = 3 AND v > 5', { id: [3] }],
    ["id = 3 AND name = 'a'", { id: [3], name: ['a'] }],
    ['id = 1 OR id = 2', { id: [1, 2] }],
    ['id = 1 OR v = 2', {}],
    ['id IN (1, 2) AND id = 2', { id: [2] }],
    ['id = 1 AND id = 2', { id: [] }],
    ['id = 1 AND id = 1.0', { id: [1] }],
    ['id = NULL', { id: [] }],
    ['id NOT IN (1)', {}],
    ['NOT id = 1', {}],
    ['id = v', {}],
    ['id = (SELECT 1)', {}],
  ])('%s', (condition, expected) => {
    expect(Object.fromEntries(columnConstants(where(condition), 'postgres'))).toEqual(expected);
  });

  it('leaves out the columns of other tables', () => {
    const condition = where('u.id = 3 AND t.v = 4');
    expect([...columnConstants(condition, 'postgres', ['t']).keys()]).toEqual(['v']);
    expect([...columnConstants(condition, 'postgres').keys()]).toEqual(['id', 'v']);
  });

  it('tells quoted names of PostgreSQL apart', () => {
    expect([...columnConstants(where('"Id" = 3 AND ID = 4'), 'postgres').keys()]).toEqual(['Id', 'id']);
  });
});

describe('namedKeys', () => {
  it.each([
    ['CREATE TABLE t (id INT PRIMARY KEY, v INT)', 'id = 3 AND v = 1', ['3']],
    ['CREATE TABLE t (id INT PRIMARY KEY, v INT)', 'v = 1', undefined],
    ['CREATE TABLE t (id INT PRIMARY KEY, v INT)', "id = '3'", undefined],
    ['CREATE TABLE t (a INT, b INT, PRIMARY KEY (a, b))', 'a IN (1, 2) AND b = 5', ['1,5', '2,5']],
    ['CREATE TABLE t (a INT, b INT, PRIMARY KEY (a, b))', 'a = 1', undefined],
    ['CREATE TABLE t (id TEXT PRIMARY KEY)', "id = 'a'", ['a']],
  ])('%s: %s', (create, condition, expected) => {
    expect(keys(create, condition)).toEqual(expected);
  });

  it('does not name rows by texts that a collation may take for one', () => {
    expect(keys('CREATE TABLE t (id VARCHAR(5) PRIMARY KEY)', "id = 'a'", 'mysql')).toBeUndefined();
    expect(keys('CREATE TABLE t (id INT PRIMARY KEY)', 'ID = 3', 'mysql')).toEqual(['3']);
  });
});
