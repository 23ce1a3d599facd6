import { describe, expect, it } from 'vitest';
import { emptyStatements, refillStatements, restoreText } from './mysql-restore.js';

const table = 'CREATE TABLE t (id INT PRIMARY KEY, v INT)';
const rows = 'INSERT INTO t VALUES (1, 10)';

describe('refilling instead of building again', () => {
  it('sends the data statements again, in order', () => {
    expect(refillStatements([table, rows, 'UPDATE t SET v = 2', 'CREATE TABLE u (i INT)'])).toEqual([
      rows,
      'UPDATE t SET v = 2',
    ]);
  });

  it.each([
    ['a trigger', [table, 'CREATE TRIGGER g BEFORE DELETE ON t FOR EACH ROW SET @x = 1', rows]],
    ['a table filled by a query', ['CREATE TABLE t AS SELECT 1 AS id']],
    ['DDL after data', [table, rows, 'ALTER TABLE t ADD COLUMN c INT']],
    ['an index after data', [table, rows, 'CREATE UNIQUE INDEX i ON t (v)']],
    ['a sequence', ['CREATE SEQUENCE s']],
    [
      'a first number that TRUNCATE forgets',
      ['CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY) AUTO_INCREMENT = 7'],
    ],
    ['a versioned table', ['CREATE TABLE t (id INT) WITH SYSTEM VERSIONING']],
    ['a variable', [table, 'SET foreign_key_checks = 0', rows]],
    ['a transaction of its own', [table, 'BEGIN', rows, 'COMMIT']],
    ['a hidden statement in a comment', [table, '/*! CREATE TRIGGER */']],
    ['a procedure call', [table, 'CALL fill()']],
  ])('builds again because of %s', (_, setup) => {
    expect(refillStatements(setup)).toBeUndefined();
  });

  const contents = [
    { name: 'a`b', isView: false, autoIncrement: false },
    { name: 'n', isView: false, autoIncrement: true },
    { name: 'w', isView: true, autoIncrement: false },
  ];

  it('truncates only numbered tables, quotes names, and survives a statement that ends in a comment', () => {
    const text = restoreText(contents, ['INSERT INTO n VALUES (1) -- end']);
    expect(text.split('\n;\n')).toEqual([
      'SET foreign_key_checks = 0',
      'TRUNCATE TABLE `n`',
      'START TRANSACTION',
      'DELETE FROM `a``b`',
      'SET foreign_key_checks = 1',
      'INSERT INTO n VALUES (1) -- end',
      'COMMIT',
    ]);
  });

  it('empties a database by dropping its views, then its tables', () => {
    expect(emptyStatements(contents)).toEqual([
      'DROP VIEW `w`',
      'SET foreign_key_checks = 0',
      'DROP TABLE `a``b`, `n`',
      'SET foreign_key_checks = 1',
    ]);
    expect(emptyStatements([])).toEqual([]);
  });
});
