import { describe, expect, it } from 'vitest';
import { countRows, endOf, endOfLost, mayChangeSchema, readContent } from './mysql-answer.js';

const status = (affectedRows: number, info = '', changedRows = 0) => ({
  affectedRows,
  changedRows,
  info,
  serverStatus: 2,
});

describe('row counts', () => {
  it('tells matched from changed rows of an UPDATE', () => {
    expect(countRows('UPDATE t SET v = 1', status(2, 'Rows matched: 2  Changed: 0  Warnings: 0'))).toEqual({
      matched: 2,
      changed: 0,
    });
  });

  it('counts a replaced row once, and does not guess what REPLACE and ON DUPLICATE KEY UPDATE changed', () => {
    expect(countRows('REPLACE INTO t VALUES (1, 1)', status(2))).toEqual({ matched: 1 });
    const info = 'Records: 3  Duplicates: 2  Warnings: 0';
    expect(countRows('INSERT INTO t VALUES (1) ON DUPLICATE KEY UPDATE v = 1', status(5, info))).toEqual({
      matched: 3,
    });
  });

  it.each([
    ['REPLACE INTO t VALUES (1) RETURNING i', { matched: 1 }],
    ['INSERT INTO t VALUES (1) ON DUPLICATE KEY UPDATE i = 1 RETURNING i', { matched: 1 }],
    ['INSERT INTO t VALUES (1) RETURNING i', { matched: 1, changed: 1 }],
    ['SELECT 1', {}],
  ])('counts the rows that %s returns', (sql, counts) => {
    const { rows, columns, ...rest } = readContent({ fields: [], rows: [[]] }, sql);
    expect({ ...rest, rows: rows?.length, columns }).toEqual({ ...counts, rows: 1, columns: [] });
  });

  it('has no counts for statements that touch no rows', () => {
    expect(countRows('BEGIN', status(0))).toEqual({});
  });
});

describe('what became of the transaction', () => {
  const failed = (name: 'deadlock' | 'other') => ({ class: name, message: '' }) as const;
  it('is a commit before DDL, failed or not, and before BEGIN', () => {
    expect(endOf('CREATE TABLE t (i INT)', undefined, false)).toBe('commit');
    expect(endOf('CREATE TABLE t (i INT)', failed('other'), false)).toBe('commit');
    expect(endOf('BEGIN', undefined, true)).toBe('commit');
  });

  it('is a rollback when a statement’s error ended it', () => {
    expect(endOf('UPDATE t SET v = 1', failed('deadlock'), false)).toBe('rollback');
    expect(endOf('COMMIT', failed('deadlock'), false)).toBe('rollback');
    expect(endOf('COMMIT', failed('other'), false)).toBe('unknown');
  });

  it('is nothing while it stays open', () => {
    expect(endOf('UPDATE t SET v = 1', failed('other'), true)).toBeUndefined();
    expect(endOf('SAVEPOINT a', undefined, true)).toBeUndefined();
    expect(endOf('ROLLBACK TO a', undefined, true)).toBeUndefined();
  });

  it('is unknown when the connection was lost during COMMIT, else a rollback', () => {
    expect(endOfLost('COMMIT')).toBe('unknown');
    expect(endOfLost('UPDATE t SET v = 1')).toBe('rollback');
  });
});

describe('statements that need care', () => {
  it.each(['ALTER TABLE t ADD c INT', 'CALL p()', 'SET STATEMENT a = 1 FOR DROP TABLE t', '/*! DROP */'])(
    'takes %s as a possible change of the schema',
    (sql) => expect(mayChangeSchema(sql)).toBe(true),
  );

  it.each(['SELECT 1', 'insert into t values (1)', 'SET SESSION a = 1', 'ROLLBACK TO a'])(
    'knows that %s leaves the schema alone',
    (sql) => expect(mayChangeSchema(sql)).toBe(false),
  );
});
