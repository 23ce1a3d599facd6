import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CreateTableStatement, Dialect } from '../sql/index.js';
import { parseStatement, tableShape } from '../sql/index.js';
import { openCatalog } from './catalog.js';
import { definitionsIn } from './schema.js';
import { recordKeys, sharesKey, uniqueKeysOf } from './unique-keys.js';

function keysOf(create: string, setup: readonly string[] = [], dialect: Dialect = 'postgres') {
  const statements = [create, ...setup].map((sql) => parseStatement(sql, dialect));
  return uniqueKeysOf(definitionsIn(statements, dialect)[0]!, statements, dialect);
}

describe('the unique keys of a table', () => {
  it.each<[string, readonly string[], unknown]>([
    ['CREATE TABLE t (id INT PRIMARY KEY, v INT)', [], [[0]]],
    ['CREATE TABLE t (id INT, v INT UNIQUE)', [], [[1]]],
    ['CREATE TABLE t (a INT, b INT, PRIMARY KEY (b, a), UNIQUE (b))', [], [[1, 0], [1]]],
    ['CREATE TABLE t (a INT)', [], []],
    ['CREATE TABLE t (a INT, b INT)', ['CREATE UNIQUE INDEX i ON t (b)'], [[1]]],
    ['CREATE TABLE t (a INT, b INT)', ['CREATE INDEX i ON t (b)'], []],
    ['CREATE TABLE t (a INT, b INT)', ['CREATE UNIQUE INDEX i ON other (b)'], []],
    ['CREATE TABLE t (a INT, b INT)', ['CREATE UNIQUE INDEX i ON t (a, (b + 1))'], undefined],
    ['CREATE TABLE t (a INT, b INT UNIQUE NULLS NOT DISTINCT)', [], undefined],
    ['CREATE TABLE t (a INT, b INT)', ['CREATE UNIQUE INDEX i ON t (b) NULLS NOT DISTINCT'], undefined],
    ['CREATE TABLE t (a INT, b INT)', ['CREATE UNIQUE INDEX i ON t (b) INCLUDE (a)'], [[1]]],
  ])('%s, %j', (create, setup, keys) => {
    expect(keysOf(create, setup)).toEqual(keys);
  });

  it('a prefix of a column is no key we can compare', () => {
    expect(keysOf('CREATE TABLE t (s VARCHAR(9), UNIQUE KEY k (s(2)))', [], 'mysql')).toBeUndefined();
  });
});

describe('whether two rows agree in a key', () => {
  const create = 'CREATE TABLE t (a INT, s VARCHAR(9), d DECIMAL(6, 2))';
  const options = (dialect: Dialect) => ({
    shape: tableShape(parseStatement(create, dialect) as CreateTableStatement, dialect),
    dialect,
  });

  it.each<[string, readonly unknown[], readonly unknown[], readonly number[][], unknown, unknown]>([
    ['equal integers', [1, 'x', null], [1, 'y', null], [[0]], true, true],
    ['other integers', [1, 'x', null], [2, 'x', null], [[0]], false, false],
    ['NULL equals nothing', [null, 'x', null], [null, 'x', null], [[0]], false, false],
    ['case, where a collation may ignore it', [1, 'X', null], [1, 'x', null], [[1]], false, undefined],
    ['texts that no collation takes for one', [1, 'X', null], [1, 'y', null], [[1]], false, false],
    ['blanks at the end', [1, 'x', null], [1, 'x ', null], [[1]], false, undefined],
    ['all columns of a key', [1, 'x', null], [1, 'y', null], [[0, 1]], false, false],
    ['any of several keys', [1, 'x', null], [1, 'y', null], [[1], [0]], true, true],
    [
      'fractions may be equal',
      [1, 'x', { decimal: '1.0' }],
      [1, 'x', { decimal: '1.00' }],
      [[2]],
      undefined,
      undefined,
    ],
    ['what is not known', [{ undecidable: 'test' }, 'x', null], [1, 'x', null], [[0]], undefined, undefined],
    ['no keys', [1, 'x', null], [1, 'x', null], [], false, false],
  ])('%s', (_, a, b, keys, postgres, mysql) => {
    const shared = (dialect: Dialect) => sharesKey(a as never, b as never, keys, options(dialect));
    expect([shared('postgres'), shared('mysql')]).toEqual([postgres, mysql]);
  });

  it('is the same both ways, and true of a row without NULLs and itself', () => {
    const row = fc.tuple(fc.option(fc.nat(2)), fc.option(fc.constantFrom('a', 'A', 'b')), fc.constant(null));
    const keys = fc.subarray([[0], [1], [0, 1]]);
    fc.assert(
      fc.property(
        row,
        row,
        keys,
        fc.constantFrom<Dialect>('postgres', 'mysql', 'sqlite'),
        (a, b, chosen, dialect) => {
          expect(sharesKey(a, b, chosen, options(dialect))).toBe(sharesKey(b, a, chosen, options(dialect)));
          const full = chosen.some((key) => key.every((at) => a[at] !== null));
          expect(sharesKey(a, a, chosen, options(dialect))).toBe(full);
        },
      ),
    );
  });
});

it('records are named by the primary key where rows are named by something else', () => {
  const table = (create: string, statements: Parameters<typeof openCatalog>[0]['statements'] = []) =>
    openCatalog({
      dialect: 'mysql',
      setup: [create, 'INSERT INTO t VALUES (1, 7), (2, 8)'],
      statements,
    }).find('t')!;
  expect(recordKeys(table('CREATE TABLE t (id INT PRIMARY KEY, v INT)'), 'mysql')).toEqual([]);
  expect(recordKeys(table('CREATE TABLE t (id INT PRIMARY KEY, rid INT)'), 'mysql')).toEqual([[0]]);
  expect(recordKeys(table('CREATE TABLE t (rid INT, v INT UNIQUE)'), 'mysql')).toEqual([[1]]);
  expect(recordKeys(table('CREATE TABLE t (rid INT, v INT)'), 'mysql')).toEqual([]);
  expect(recordKeys(table('CREATE TABLE t (rid INT, v TEXT, PRIMARY KEY (v(1)))'), 'mysql')).toBeUndefined();
});
