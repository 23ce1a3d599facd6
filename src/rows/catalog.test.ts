import { describe, expect, it } from 'vitest';
import type { Dialect } from '../sql/index.js';
import type { SentStatement } from './assigned-columns.js';
import { catalogOfProgram, openCatalog } from './catalog.js';
import { rowKey } from './row-key.js';

const sent = (kind: SentStatement['kind'], sql: string): SentStatement => ({ kind, sql, outcome: 'ok' });

function identity(setup: string[], statements: SentStatement[] = [], dialect: Dialect = 'postgres') {
  const { shape, identity: columns, basis } = openCatalog({ dialect, setup, statements }).find('t')!;
  return [basis, ...columns.map((at) => shape.columns[at]!.name)];
}

describe('row identity', () => {
  it('takes a declared key', () => {
    expect(identity(['CREATE TABLE t (v INT, id INT PRIMARY KEY)', 'INSERT INTO t VALUES (1, 1)'])).toEqual([
      'declared',
      'id',
    ]);
    expect(identity(['CREATE TABLE t (a INT, b INT, PRIMARY KEY (b, a))'])).toEqual(['declared', 'b', 'a']);
  });

  it('does not trust a column for its name', () => {
    const setup = ['CREATE TABLE t (rid INT, item TEXT)', "INSERT INTO t VALUES (1, 'a'), (1, 'b')"];
    expect(identity(setup)).toEqual(['shown', 'item']);
    expect(identity([setup[0]!, "INSERT INTO t VALUES (1, 'a'), (1, 'a')"])).toEqual(['none']);
  });

  it('prefers that column where its values are shown to be unique', () => {
    const setup = ['CREATE TABLE t (id INT PRIMARY KEY, rid INT)', 'INSERT INTO t VALUES (1, 7), (2, 8)'];
    expect(identity(setup)).toEqual(['shown', 'rid']);
  });

  it('has none where the first rows are not known', () => {
    expect(identity(['CREATE TABLE t (rid INT, v INT)', 'INSERT INTO t SELECT * FROM elsewhere'])).toEqual([
      'none',
    ]);
  });

  it('refuses what statements assign, in every form', () => {
    const setup = ['CREATE TABLE t (id INT PRIMARY KEY, v INT)', 'INSERT INTO t VALUES (1, 1)'];
    expect(identity(setup, [sent('update', 'UPDATE t SET v = 2 WHERE id = 1')])).toEqual(['declared', 'id']);
    expect(identity(setup, [sent('update', 'UPDATE t SET id = 2 WHERE v = 1')])).toEqual(['shown', 'v']);
    const hidden = 'UPDATE t SET v = (SELECT 1 FROM t WHERE v = 2), id = 5';
    expect(identity(setup, [sent('update', hidden)])).toEqual(['none']);
    const upsert = 'INSERT INTO t VALUES (1, 2) ON CONFLICT (id) DO UPDATE SET id = 5';
    expect(identity(setup, [sent('insert', upsert)])).toEqual(['shown', 'v']);
  });

  it('asks of every column it comes to', () => {
    const setup = ['CREATE TABLE t (id INT PRIMARY KEY, v INT)', 'INSERT INTO t VALUES (1, 1)'];
    const statements = [sent('update', 'UPDATE t SET id = 2'), sent('update', 'UPDATE t SET v = 3')];
    expect(identity(setup, statements)).toEqual(['none']);
  });

  it('takes a column of PostgreSQL for another than one that differs by case', () => {
    const setup = ['CREATE TABLE t ("ID" INT, id INT PRIMARY KEY)', 'INSERT INTO t VALUES (1, 1)'];
    const unread = (name: string) => [sent('update', `UPDATE t SET ${name} = 5 !! nobody reads this`)];
    expect(identity(setup, unread('id'))).toEqual(['shown', 'ID']);
    expect(identity(setup, unread('"id"'))).toEqual(['shown', 'ID']);
    expect(identity(setup, unread('ID'))).toEqual(['none']);
    const named = ['CREATE TABLE t ("RID" INT, rid INT)', 'INSERT INTO t VALUES (1, 1)'];
    expect(identity(named)).toEqual(['shown', 'rid']);
  });

  it('refuses columns that an expression computes', () => {
    const setup = [
      'CREATE TABLE t (a INT, g INT GENERATED ALWAYS AS (a + 1) STORED)',
      'INSERT INTO t VALUES (1)',
    ];
    expect(identity(setup, [sent('update', 'UPDATE t SET a = 5')])).toEqual(['none']);
  });

  it('refuses what the INSERTs of a program end', () => {
    const source = {
      dialect: 'postgres' as const,
      setup: ['CREATE TABLE t (rid INT, v INT)', 'INSERT INTO t VALUES (1, 1)'],
      statements: [
        sent('insert', 'INSERT INTO t VALUES (2, 2)'),
        sent('insert', 'INSERT INTO t VALUES (2, 3)'),
      ],
    };
    const { identity: columns } = catalogOfProgram(source).find('t')!;
    expect(columns).toEqual([1]);
  });
});

describe('catalog', () => {
  it('learns tables that sessions create, and starts them empty', () => {
    const { find } = openCatalog({
      dialect: 'postgres',
      setup: [],
      statements: [
        sent('ddl', 'CREATE TABLE t (id INT PRIMARY KEY)'),
        sent('ddl', 'CREATE TEMPORARY TABLE u (a INT)'),
      ],
    });
    expect(find('t')).toMatchObject({ basis: 'declared', initial: [], unfollowed: undefined });
    expect(find('u')?.unfollowed).toMatch(/every session/);
  });

  it('does not follow a table that is created in two ways', () => {
    const statements = [
      sent('ddl', 'CREATE TABLE t (id INT)'),
      sent('ddl', 'CREATE TABLE IF NOT EXISTS t (id INT)'),
    ];
    const source = { dialect: 'postgres' as const, setup: [] };
    expect(openCatalog({ ...source, statements }).find('t')?.unfollowed).toBeUndefined();
    const other = [...statements, sent('ddl', 'CREATE TABLE t (id INT, v INT)')];
    expect(openCatalog({ ...source, statements: other }).find('t')?.unfollowed).toMatch(/different ways/);
  });

  it('tells PostgreSQL tables apart that differ by case alone', () => {
    const { find } = openCatalog({
      dialect: 'postgres',
      setup: ['CREATE TABLE t (a INT)', 'CREATE TABLE "T" (b INT)'],
      statements: [],
    });
    expect(find('t')!.shape.columns[0]!.name).toBe('a');
    expect(find('T')!.shape.columns[0]!.name).toBe('b');
  });

  it('does not follow MySQL tables that differ by case alone', () => {
    const setup = ['CREATE TABLE t (a INT)', 'CREATE TABLE T (a INT)', 'INSERT INTO T VALUES (1)'];
    expect(openCatalog({ dialect: 'mysql', setup, statements: [] }).find('t')?.unfollowed).toMatch(
      /capitals/,
    );
    expect(openCatalog({ dialect: 'sqlite', setup, statements: [] }).find('t')?.unfollowed).toBeUndefined();
  });

  it('does not follow tables that events may change', () => {
    const setup = ['CREATE TABLE t (a INT)', 'CREATE EVENT e ON SCHEDULE EVERY 1 SECOND DO DELETE FROM t'];
    expect(openCatalog({ dialect: 'mysql', setup, statements: [] }).find('t')?.unfollowed).toMatch(/events/);
  });

  it('knows whether an index leads to the rows', () => {
    const create = 'CREATE TABLE t (rid INT, v INT)';
    const open = (setup: string[]) => openCatalog({ dialect: 'mysql', setup, statements: [] }).find('t')!;
    expect(open([create]).indexed).toBe(false);
    expect(open([create, 'CREATE INDEX i ON t (rid)']).indexed).toBe(true);
  });
});

describe('rowKey', () => {
  it('gives different rows different names', () => {
    expect(rowKey(['a,b', 'c'], [0, 1])).not.toBe(rowKey(['a', 'b,c'], [0, 1]));
    expect(rowKey([1, '1'], [0])).toBe(rowKey([1, '1'], [1]));
    expect(rowKey([null], [0])).toBeUndefined();
  });
});
