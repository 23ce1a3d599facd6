/** Writes on rows: what columns make of values, defaults, generated columns, and what the engine fills in by itself. */
import Database from 'libsql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CreateTableStatement, DeleteStatement, InsertStatement, UpdateStatement } from '../ast.js';
import type { Dialect } from '../dialect.js';
import { parseStatement } from '../parse/parse.js';
import { bytesValue, doubleValue, integerValue, type Row, type Value } from '../value.js';
import { applyUpdate, evaluateWhere } from './one-row.case.js';
import { type TableShape, tableShape } from './shape.js';
import { type EvaluatedRow, isUndecidable } from './undecidable.js';
import { applyInsert } from './write.js';

const dialects: readonly Dialect[] = ['postgres', 'mysql', 'sqlite', 'duckdb'];

function shapeOf(create: string, dialect: Dialect): TableShape {
  return tableShape(parseStatement(create, dialect) as CreateTableStatement, dialect);
}

function inserted(sql: string, create: string, dialect: Dialect) {
  const tables: Readonly<
    Record<string, { columns: readonly { name: string; type: string }[]; rows: Row[] }>
  > = {
    src: {
      columns: [
        { name: 'a', type: 'INT' },
        { name: 'b', type: 'INT' },
      ],
      rows: [
        [1, 10],
        [2, null],
      ],
    },
  };
  return applyInsert(parseStatement(sql, dialect) as InsertStatement, shapeOf(create, dialect), {
    dialect,
    table: (name) => tables[name],
  });
}

/** Cells as values, with `?` where they are open. */
const shown = (rows: readonly EvaluatedRow[]) =>
  rows.map((row) => row.map((cell) => (isUndecidable(cell) ? '?' : cell)));

function rowsOf(sql: string, create: string, dialect: Dialect) {
  const rows = inserted(sql, create, dialect);
  if (isUndecidable(rows)) throw new Error(rows.undecidable);
  return shown(rows);
}

describe('a value in a column of SQLite', () => {
  const create = 'CREATE TABLE t (k INTEGER PRIMARY KEY, i INT, s TEXT, f REAL, n NUMERIC, b BLOB, x)';
  const shape = shapeOf(create, 'sqlite');
  let database: InstanceType<typeof Database>;

  beforeAll(() => {
    database = new Database(':memory:');
    database.exec(create);
  });
  afterAll(() => {
    database.close();
  });

  /** What SQLite itself stores, or nothing where it refuses. */
  function stored(column: string, value: string): Value | undefined {
    database.exec('DELETE FROM t');
    try {
      database.exec(`INSERT INTO t (${column}) VALUES (${value})`);
    } catch {
      return undefined;
    }
    const statement = database.prepare(`SELECT ${column} FROM t`).safeIntegers(true).raw();
    const [cell] = (statement.all() as unknown[][])[0]!;
    if (typeof cell === 'bigint') return integerValue(cell);
    if (typeof cell === 'number') return doubleValue(cell);
    return cell instanceof Uint8Array ? bytesValue(cell) : (cell as Value);
  }

  const values = [
    ...['NULL', '0', '-5', '2147483648', '9007199254740991', '9007199254740993', '-9223372036854775808'],
    ...['2.5', '5.0', '2.5 * 2', '0.1 + 0.2', '1e3', '1e18', '1e300', '-0.0', '10 / 4', '10 / 4.0'],
    ...["''", "'abc'", "'12'", "'1.5'", "'5.0'", "' 7'", "'0x10'", "'1e3'", "'1_0'", "'٣'", "'é'"],
    ...['TRUE', 'FALSE', "X''", "X'00ff'", '1 = 1', '1 IS NULL', "'a' || 1", 'COALESCE(NULL, 5.0)'],
    ...['MAX(1, 2.0)', 'CASE WHEN 1 THEN 5 ELSE 2.5 END', 'CAST(5 AS REAL)', 'CAST(5.0 AS INTEGER)'],
  ];

  describe.each(['k', 'i', 's', 'f', 'n', 'b', 'x'])('%s', (column) => {
    it.each(values)('%s is what SQLite stores, or open', (value) => {
      const statement = parseStatement(`INSERT INTO t (${column}) VALUES (${value})`, 'sqlite');
      const rows = applyInsert(statement as InsertStatement, shape, { dialect: 'sqlite' });
      if (isUndecidable(rows)) return;
      const ours = rows[0]![shape.columns.findIndex(({ name }) => name === column)]!;
      const theirs = stored(column, value);
      // What the engine refuses never reaches a history.
      if (!isUndecidable(ours) && theirs !== undefined) expect(ours).toEqual(theirs);
    });
  });

  it('is decided for every plain number and text', () => {
    const decided = (column: string, value: string) =>
      rowsOf(`INSERT INTO t (${column}) VALUES (${value})`, create, 'sqlite');
    expect(decided('i', '5')).toEqual([['?', 5, null, null, null, null, null]]);
    expect(decided('s', '5')).toEqual([['?', null, '5', null, null, null, null]]);
    expect(decided('f', '5')).toEqual([['?', null, null, 5, null, null, null]]);
    expect(decided('s', '9007199254740993')).toEqual([
      ['?', null, '9007199254740993', null, null, null, null],
    ]);
    expect(decided('f', '9007199254740993')).toEqual([['?', null, null, 9007199254740992, null, null, null]]);
  });

  it('of text is open where a float would get its point', () => {
    expect(rowsOf('INSERT INTO t (k, s) VALUES (1, 5.0)', create, 'sqlite')[0]![2]).toBe('?');
  });
});

describe('columns the engine numbers', () => {
  it.each<[dialect: Dialect, create: string, value: string, cell: unknown]>([
    ['sqlite', 'CREATE TABLE t (id INTEGER PRIMARY KEY, v INT)', 'NULL', '?'],
    ['sqlite', 'CREATE TABLE t (id INTEGER PRIMARY KEY, v INT)', '0', 0],
    ['sqlite', 'CREATE TABLE t (id INTEGER PRIMARY KEY AUTOINCREMENT, v INT)', 'NULL', '?'],
    // Only the exact word INTEGER makes it the row's number; other keys of SQLite hold NULLs.
    ['sqlite', 'CREATE TABLE t (id INT PRIMARY KEY, v INT)', 'NULL', null],
    ['sqlite', 'CREATE TABLE t (id INTEGER, v INT, PRIMARY KEY (id, v))', 'NULL', null],
    ['mysql', 'CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, v INT)', 'NULL', '?'],
    ['mysql', 'CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, v INT)', '0', '?'],
    ['mysql', 'CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, v INT)', "'0'", '?'],
    ['mysql', 'CREATE TABLE t (id INT AUTO_INCREMENT UNIQUE, v INT)', 'NULL', '?'],
    ['mysql', 'CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, v INT)', '7', 7],
    ['mysql', 'CREATE TABLE t (id INT PRIMARY KEY, v INT)', '0', 0],
    ['postgres', 'CREATE TABLE t (id SERIAL PRIMARY KEY, v INT)', '0', 0],
    ['postgres', 'CREATE TABLE t (id SERIAL PRIMARY KEY, v INT)', 'DEFAULT', '?'],
    ['postgres', 'CREATE TABLE t (id INT GENERATED BY DEFAULT AS IDENTITY, v INT)', 'DEFAULT', '?'],
    ['duckdb', "CREATE TABLE t (id INT DEFAULT nextval('s'), v INT)", 'DEFAULT', '?'],
  ])('in %s, %s: %s', (dialect, create, value, cell) => {
    expect(rowsOf(`INSERT INTO t (id, v) VALUES (${value}, 1)`, create, dialect)).toEqual([[cell, 1]]);
  });

  it('are numbered where the statement does not name them', () => {
    const create = 'CREATE TABLE t (id INTEGER PRIMARY KEY, v INT)';
    expect(rowsOf('INSERT INTO t (v) VALUES (1), (2)', create, 'sqlite')).toEqual([
      ['?', 1],
      ['?', 2],
    ]);
  });

  it('take NULLs of a query for a question, too', () => {
    const create = 'CREATE TABLE t (id INTEGER PRIMARY KEY, v INT)';
    expect(rowsOf('INSERT INTO t SELECT b, a FROM src', create, 'sqlite')).toEqual([
      [10, 1],
      ['?', 2],
    ]);
  });

  it('keep a zero that an UPDATE gives them', () => {
    const create = 'CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, v INT)';
    const update = parseStatement('UPDATE t SET id = 0', 'mysql') as UpdateStatement;
    expect(applyUpdate(update, shapeOf(create, 'mysql'), [3, 1], { dialect: 'mysql' })).toEqual([0, 1]);
  });
});

describe('INSERT', () => {
  const create = "CREATE TABLE t (a INT, b INT DEFAULT 5, c VARCHAR(3) DEFAULT 'x' NOT NULL)";

  it.each<[sql: string, rows: readonly (readonly unknown[])[]]>([
    ["INSERT INTO t VALUES (1, 2, 'z')", [[1, 2, 'z']]],
    ["INSERT INTO t (c, a) VALUES ('z', 1)", [[1, 5, 'z']]],
    ['INSERT INTO t (a) VALUES (1 + 1)', [[2, 5, 'x']]],
    ['INSERT INTO t (a, b) VALUES (NULL, NULL)', [[null, null, 'x']]],
    ['INSERT INTO t (a, b) VALUES (DEFAULT, DEFAULT)', [[null, 5, 'x']]],
    ['INSERT INTO t (a, c) VALUES (1, NULL)', [[1, 5, '?']]],
    ["INSERT INTO t (a, c) VALUES (1, 'four')", [[1, 5, '?']]],
    [
      'INSERT INTO t (a) SELECT a FROM src',
      [
        [1, 5, 'x'],
        [2, 5, 'x'],
      ],
    ],
    ['INSERT INTO t (b, a) SELECT a, b FROM src WHERE b IS NULL', [[null, 2, 'x']]],
    [
      'INSERT INTO t (a) VALUES (1), (2), (3)',
      [
        [1, 5, 'x'],
        [2, 5, 'x'],
        [3, 5, 'x'],
      ],
    ],
    ['INSERT INTO t (a) VALUES ((SELECT MAX(a) FROM src))', [[2, 5, 'x']]],
    ['INSERT INTO t (a) SELECT a FROM src WHERE FALSE', []],
  ])('%s', (sql, rows) => {
    expect(rowsOf(sql, create, 'postgres')).toEqual(rows);
  });

  it('of defaults alone has them all', () => {
    expect(rowsOf('INSERT INTO t DEFAULT VALUES', create, 'postgres')).toEqual([[null, 5, 'x']]);
    expect(rowsOf('INSERT INTO t () VALUES ()', create, 'mysql')).toEqual([[null, 5, 'x']]);
  });

  it.each<[sql: string, reason: string]>([
    ['INSERT INTO t (a) VALUES (1, 2)', 'VALUES of another width than the columns'],
    ['INSERT INTO t (a, b) VALUES (1)', 'VALUES of another width than the columns'],
    ['INSERT INTO t (a) SELECT a, b FROM src', 'a query of another width than the columns'],
    ["INSERT INTO t SELECT 1, 2, 'x', 4", 'a query of another width than the columns'],
    ['INSERT INTO t (nope) VALUES (1)', 'no column nope is known'],
    ['INSERT INTO other VALUES (1)', 'a write to another table'],
    ['INSERT INTO t SELECT * FROM nowhere', 'table nowhere is not known'],
    ['WITH c AS (SELECT 1) INSERT INTO t (a) SELECT * FROM c', 'a write with common tables'],
  ])('%s is not decided: %s', (sql, reason) => {
    expect(inserted(sql, create, 'postgres')).toEqual({ undecidable: reason });
  });

  it.each([
    'INSERT INTO t VALUES (1, 2)',
    'INSERT INTO t SELECT a, b FROM src',
    'INSERT INTO t (b) VALUES (1)',
  ])('%s says that a query gives the table its columns', (sql) => {
    const undecidable = 'the columns of its table come from a query';
    expect(inserted(sql, 'CREATE TABLE t AS SELECT 1 AS a, 2 AS b', 'postgres')).toEqual({ undecidable });
  });

  it('of several rows with subqueries is open in MySQL, where later rows see earlier ones', () => {
    const sql = 'INSERT INTO t (a) VALUES ((SELECT MAX(a) FROM src)), (1)';
    expect(inserted(sql, create, 'mysql')).toEqual({ undecidable: 'several rows with subqueries' });
    expect(rowsOf(sql, create, 'postgres')).toEqual([
      [2, 5, 'x'],
      [1, 5, 'x'],
    ]);
  });

  it.each(dialects)('computes generated columns from the whole row in %s', (dialect) => {
    const generated = 'CREATE TABLE t (g INT GENERATED ALWAYS AS (a + b) STORED, a INT, b INT DEFAULT 5)';
    expect(rowsOf('INSERT INTO t (a) VALUES (1), (NULL)', generated, dialect)).toEqual([
      [6, 1, 5],
      [null, null, 5],
    ]);
    expect(rowsOf('INSERT INTO t VALUES (1, 2)', generated, dialect)).toEqual([[3, 1, 2]]);
  });

  it('keeps what a column cannot hold to that cell', () => {
    const narrow = 'CREATE TABLE t (a SMALLINT, b DECIMAL(3, 1), c INT UNSIGNED)';
    expect(rowsOf('INSERT INTO t VALUES (32767, 12.5, 1)', narrow, 'mysql')).toEqual([
      [32767, { decimal: '12.5' }, 1],
    ]);
    expect(rowsOf('INSERT INTO t VALUES (32768, 12.5, -1)', narrow, 'mysql')).toEqual([
      ['?', { decimal: '12.5' }, '?'],
    ]);
    expect(rowsOf('INSERT INTO t VALUES (-32768, 12.55, 4294967295)', narrow, 'mysql')).toEqual([
      [-32768, '?', 4294967295],
    ]);
    expect(rowsOf('INSERT INTO t VALUES (1, 100, 4294967296)', narrow, 'mysql')).toEqual([[1, '?', '?']]);
  });
});

describe('UPDATE', () => {
  const create = "CREATE TABLE t (a INT, b INT, c VARCHAR(3) DEFAULT 'x', d INT NOT NULL DEFAULT 9)";
  const old: Row = [1, 2, 'abc', 4];

  function updated(set: string, dialect: Dialect, row: Row = old) {
    const statement = parseStatement(`UPDATE t SET ${set}`, dialect) as UpdateStatement;
    const result = applyUpdate(statement, shapeOf(create, dialect), row, {
      dialect,
      table: (name) =>
        name === 't' ? { columns: shapeOf(create, dialect).columns, rows: [old] } : undefined,
    });
    return isUndecidable(result) ? result.undecidable : shown([result])[0];
  }

  it.each<[set: string, others: readonly unknown[], mysql: readonly unknown[]]>([
    ['a = a + 1', [2, 2, 'abc', 4], [2, 2, 'abc', 4]],
    ['a = b, b = a', [2, 1, 'abc', 4], [2, 2, 'abc', 4]],
    ['a = a + 1, b = a + 1', [2, 2, 'abc', 4], [2, 3, 'abc', 4]],
    ['a = NULL', [null, 2, 'abc', 4], [null, 2, 'abc', 4]],
    ['c = DEFAULT, d = DEFAULT, a = DEFAULT', [null, 2, 'x', 9], [null, 2, 'x', 9]],
    ['d = NULL', [1, 2, 'abc', '?'], [1, 2, 'abc', '?']],
    ['a = CASE WHEN b > 1 THEN 0 ELSE a END', [0, 2, 'abc', 4], [0, 2, 'abc', 4]],
    ['a = random()', ['?', 2, 'abc', 4], ['?', 2, 'abc', 4]],
  ])('%s', (set, others, mysql) => {
    expect(updated(set, 'postgres')).toEqual(others);
    expect(updated(set, 'duckdb')).toEqual(others);
    expect(updated(set, 'mysql')).toEqual(mysql);
  });

  it('of a text longer than its column is open, except in DuckDB, whose columns have no length', () => {
    expect(updated("c = 'long text'", 'postgres')).toEqual([1, 2, '?', 4]);
    expect(updated("c = 'long text'", 'mysql')).toEqual([1, 2, '?', 4]);
    expect(updated("c = 'long text'", 'duckdb')).toEqual([1, 2, 'long text', 4]);
  });

  it('sets several columns at once from a row of values', () => {
    expect(updated('(a, b) = (b, a)', 'postgres')).toEqual([2, 1, 'abc', 4]);
    expect(updated('(a, b) = (SELECT 1, 2)', 'postgres')).toBe('an assignment of several columns at once');
  });

  it('of its own table is open in SQLite, which reads rows already changed', () => {
    expect(updated('a = (SELECT MAX(b) FROM t)', 'sqlite')).toBe('an assignment that reads its own table');
    expect(updated('a = (SELECT MAX(b) FROM t)', 'postgres')).toEqual([2, 2, 'abc', 4]);
  });

  it('that reads an assigned column beside a subquery is open in MySQL', () => {
    expect(updated('a = (SELECT 1), b = A', 'mysql')).toBe('an assignment that reads an assigned column');
    expect(updated('a = (SELECT 7), b = d', 'mysql')).toEqual([7, 4, 'abc', 4]);
  });

  it.each<[sql: string, reason: string]>([
    ['UPDATE t SET a = 1 FROM u', 'a write over several tables'],
    ['UPDATE u SET a = 1', 'a write to another table'],
    ['UPDATE t SET nope = 1', 'no column nope is known'],
    ['WITH c AS (SELECT 1) UPDATE t SET a = 1', 'a write with common tables'],
  ])('%s is not decided: %s', (sql, reason) => {
    const statement = parseStatement(sql, 'postgres') as UpdateStatement;
    expect(applyUpdate(statement, shapeOf(create, 'postgres'), old, { dialect: 'postgres' })).toEqual({
      undecidable: reason,
    });
  });

  it('recomputes generated columns', () => {
    const generated = shapeOf(
      'CREATE TABLE t (a INT, g INT GENERATED ALWAYS AS (a * 10) STORED)',
      'postgres',
    );
    const statement = parseStatement('UPDATE t SET a = a + 1', 'postgres') as UpdateStatement;
    expect(applyUpdate(statement, generated, [1, 10], { dialect: 'postgres' })).toEqual([2, 20]);
  });
});

describe('WHERE of a write', () => {
  const shape = shapeOf('CREATE TABLE t (a INT, s VARCHAR(9))', 'postgres');
  const touches = (sql: string, row: EvaluatedRow, dialect: Dialect = 'postgres') =>
    evaluateWhere(parseStatement(sql, dialect) as DeleteStatement, shape, row, { dialect });

  it.each<[sql: string, row: Row, truth: boolean | null]>([
    ['DELETE FROM t', [1, 'x'], true],
    ['DELETE FROM t WHERE a = 1', [1, 'x'], true],
    ['DELETE FROM t WHERE a = 1', [null, 'x'], null],
    ['DELETE FROM t WHERE t.a = 2', [1, 'x'], false],
    ['DELETE FROM t AS y WHERE y.a > 0', [1, 'x'], true],
    ['UPDATE t SET a = 5 WHERE s IS NULL', [1, null], true],
    ["UPDATE t SET a = 5 WHERE NOT (s = 'x')", [1, null], null],
  ])('%s on %j', (sql, row, truth) => {
    expect(touches(sql, row)).toBe(truth);
  });

  it('is decided by the cells that are known', () => {
    const row: EvaluatedRow = [{ undecidable: 'not seen' }, 'x'];
    expect(touches("DELETE FROM t WHERE s = 'y' AND a = 1", row)).toBe(false);
    expect(touches("DELETE FROM t WHERE s = 'x' OR a = 1", row)).toBe(true);
    expect(touches('DELETE FROM t WHERE a = 1', row)).toEqual({ undecidable: 'not seen' });
  });

  it.each<[sql: string, dialect: Dialect, reason: string]>([
    ['DELETE FROM t WHERE a = 1 LIMIT 1', 'mysql', 'a write with LIMIT'],
    ['DELETE FROM t USING u WHERE t.a = u.a', 'postgres', 'a write over several tables'],
    ['DELETE FROM t AS y WHERE t.a = 1', 'postgres', 'no column a is known'],
  ])('%s is not decided: %s', (sql, dialect, reason) => {
    expect(touches(sql, [1, 'x'], dialect)).toEqual({ undecidable: reason });
  });
});
