import { describe, expect, it } from 'vitest';
import { type Dialect, parseStatement } from '../sql/index.js';
import { columnsUsed, type DeclaredIndex, definitionsIn, firstColumn, wholeColumns } from './schema.js';

const read = (setup: readonly string[], dialect: Dialect = 'postgres') =>
  definitionsIn(
    setup.map((sql) => parseStatement(sql, dialect)),
    dialect,
  );

const shown = (index: DeclaredIndex): string => {
  const kind = index.primary ? 'primary' : index.unique ? 'unique' : 'index';
  return `${kind} ${columnsUsed(index).join(',')}${wholeColumns(index) === undefined ? ' not whole' : ''}`;
};

describe('definitions', () => {
  it.each<[string, Dialect, readonly string[], readonly string[]]>([
    [
      'keys of columns',
      'postgres',
      ['CREATE TABLE t (id INT PRIMARY KEY, v INT UNIQUE)'],
      ['primary id', 'unique v'],
    ],
    ['keys of tables', 'postgres', ['CREATE TABLE t (a INT, b INT, PRIMARY KEY (b, a))'], ['primary b,a']],
    ['MySQL’s own indexes', 'mysql', ['CREATE TABLE t (a INT, KEY k (a))'], ['index a']],
    ['a prefix', 'mysql', ['CREATE TABLE t (s VARCHAR(9), UNIQUE KEY k (s(2)))'], ['unique s not whole']],
    [
      'an expression',
      'postgres',
      ['CREATE TABLE t (a INT, b INT)', 'CREATE UNIQUE INDEX i ON t (a, (b + 1))'],
      ['unique a,b not whole'],
    ],
    ['names of any case', 'sqlite', ['CREATE TABLE t (a INT)', 'CREATE INDEX i ON T (A)'], ['index A']],
    ['quoted names, apart', 'postgres', ['CREATE TABLE t (a INT)', 'CREATE INDEX i ON "T" (a)'], []],
  ])('%s (%s)', (_, dialect, setup, expected) => {
    expect(read(setup, dialect)[0]!.indexes.map(shown)).toEqual(expected);
  });

  it('tell conditions of partial indexes, and what follows constraints', () => {
    const [table] = read([
      'CREATE TABLE t (a INT UNIQUE DEFERRABLE, b INT)',
      'CREATE UNIQUE INDEX i ON t (b) WHERE b > 0',
    ]);
    expect(table!.indexes.map(({ tail }) => tail !== undefined)).toEqual([true, false]);
    expect(table!.indexes.map(({ where }) => where !== undefined)).toEqual([false, true]);
  });

  it('tell SQLite’s way out of a conflict, which makes a key no promise', () => {
    const [table] = read(['CREATE TABLE t (a INT UNIQUE ON CONFLICT REPLACE)'], 'sqlite');
    expect(table!.indexes[0]!.tail).toMatch(/conflict/i);
  });

  it('tell foreign keys, and whether they stand beside a column', () => {
    const [, child] = read([
      'CREATE TABLE p (id INT PRIMARY KEY)',
      'CREATE TABLE c (a INT REFERENCES p, b INT, FOREIGN KEY (b) REFERENCES p (id) ON DELETE CASCADE)',
    ]);
    expect(child!.foreignKeys).toMatchObject([
      { columns: ['a'], references: { table: 'p' }, written: 'beside' },
      { columns: ['b'], references: { table: 'p', actions: 'ON DELETE CASCADE' }, written: 'apart' },
    ]);
  });

  it('know what an index begins with', () => {
    const [table] = read([
      'CREATE TABLE t (a INT, b INT)',
      'CREATE INDEX i ON t (b, a)',
      'CREATE INDEX j ON t ((a + b))',
    ]);
    expect(table!.indexes.map(firstColumn)).toEqual(['b', undefined]);
  });
});
