/** What CREATE TABLE tells writes: types, keys, defaults, and which columns the engine fills in. */
import { describe, expect, it } from 'vitest';
import type { CreateTableStatement } from '../ast.js';
import type { Dialect } from '../dialect.js';
import { parseStatement } from '../parse/parse.js';
import { tableShape } from './shape.js';

function shapeOf(columns: string, dialect: Dialect = 'postgres') {
  const statement = parseStatement(`CREATE TABLE t (${columns})`, dialect);
  if (statement.type !== 'create-table') throw new Error(`not parsed: ${columns}`);
  return tableShape(statement as CreateTableStatement, dialect);
}

describe('keys', () => {
  const keys = (columns: string, dialect?: Dialect) =>
    shapeOf(columns, dialect).keys.map((key) => `${key.primary ? 'P' : 'U'} ${key.columns.join(',')}`);

  it.each<[columns: string, dialect: Dialect, keys: readonly string[]]>([
    ['a INT PRIMARY KEY', 'postgres', ['P a']],
    ['a INT, b INT, PRIMARY KEY (b, a)', 'postgres', ['P b,a']],
    ['a INT UNIQUE, b INT UNIQUE', 'postgres', ['U a', 'U b']],
    ['a INT, b INT, UNIQUE (a, b), UNIQUE (b)', 'sqlite', ['U a,b', 'U b']],
    ['a INT, CONSTRAINT k UNIQUE (a)', 'duckdb', ['U a']],
    ['a INT, UNIQUE KEY k (a)', 'mysql', ['U a']],
    ['a INT KEY', 'mysql', ['P a']],
    ['a INT PRIMARY KEY, b INT UNIQUE', 'mysql', ['P a', 'U b']],
    // A key over a prefix or an expression does not say that whole values differ.
    ['s VARCHAR(9), UNIQUE KEY k (s(3))', 'mysql', []],
    ['s VARCHAR(9), UNIQUE KEY k ((LOWER(s)))', 'mysql', []],
    ['a INT, s VARCHAR(9), UNIQUE KEY k (a, s(3))', 'mysql', []],
    // An index that is not unique says nothing.
    ['a INT, KEY k (a)', 'mysql', []],
    ['a INT, FOREIGN KEY (a) REFERENCES u (b)', 'postgres', []],
    ['"A b" INT PRIMARY KEY', 'postgres', ['P A b']],
  ])('of (%s) in %s', (columns, dialect, expected) => {
    expect(keys(columns, dialect)).toEqual(expected);
  });
});

describe('columns', () => {
  const column = (definition: string, dialect: Dialect = 'postgres') =>
    shapeOf(definition, dialect).columns[0]!;

  it.each<[definition: string, dialect: Dialect, notNull: boolean]>([
    ['a INT', 'postgres', false],
    ['a INT NULL', 'postgres', false],
    ['a INT NOT NULL', 'postgres', true],
    ['a INT PRIMARY KEY', 'postgres', true],
    ['a INT, PRIMARY KEY (a)', 'mysql', true],
    ['a INT PRIMARY KEY', 'duckdb', true],
    // SQLite lets NULLs into keys.
    ['a INT PRIMARY KEY', 'sqlite', false],
    ['a INT UNIQUE', 'postgres', false],
  ])('%s in %s cannot be NULL: %s', (definition, dialect, notNull) => {
    expect(column(definition, dialect).notNull).toBe(notNull);
  });

  it.each<[definition: string, dialect: Dialect, automatic: boolean]>([
    ['a INTEGER PRIMARY KEY', 'sqlite', true],
    ['a integer primary key autoincrement', 'sqlite', true],
    ['a INTEGER, PRIMARY KEY (a)', 'sqlite', true],
    ['a INT PRIMARY KEY', 'sqlite', false],
    ['a INTEGER, b INT, PRIMARY KEY (a, b)', 'sqlite', false],
    ['a INTEGER UNIQUE', 'sqlite', false],
    ['a INTEGER PRIMARY KEY', 'postgres', false],
    ['a SERIAL', 'postgres', true],
    ['a BIGSERIAL PRIMARY KEY', 'postgres', true],
    ['a INT GENERATED ALWAYS AS IDENTITY', 'postgres', true],
    ["a INT DEFAULT nextval('s')", 'postgres', true],
    ['a INT DEFAULT 1', 'postgres', false],
    ['a INT AUTO_INCREMENT UNIQUE', 'mysql', true],
  ])('%s in %s is numbered by the engine: %s', (definition, dialect, automatic) => {
    expect(column(definition, dialect).automatic).toBe(automatic);
  });

  it('have the type they are declared with, unless a collation of their own decides', () => {
    expect(column('a VARCHAR(5)').type).toBe('VARCHAR(5)');
    expect(column('a TEXT COLLATE NOCASE', 'sqlite')).not.toHaveProperty('type');
    expect(column('a TEXT COLLATE "C"')).not.toHaveProperty('type');
    expect(column('a', 'sqlite')).not.toHaveProperty('type');
  });

  it('carry their default and what they are generated from', () => {
    expect(column('a INT DEFAULT 5').default).toEqual({ type: 'literal', value: 5 });
    expect(column("a TEXT DEFAULT 'x' NOT NULL")).toMatchObject({
      default: { value: 'x' },
      notNull: true,
    });
    expect(column('a INT')).not.toHaveProperty('default');
    expect(column('a INT GENERATED ALWAYS AS (1 + 2) STORED').generated).toMatchObject({ op: '+' });
    expect(column('a INT AS (1 + 2)', 'mysql').generated).toMatchObject({ op: '+' });
  });
});

describe('the table', () => {
  it('has the checks of its columns and its own', () => {
    const { checks } = shapeOf('a INT CHECK (a > 0), b INT, CHECK (a < b)');
    expect(checks).toMatchObject([{ op: '>' }, { op: '<' }]);
  });

  it('has the name the dialect reads', () => {
    const shape = (sql: string, dialect: Dialect) =>
      tableShape(parseStatement(sql, dialect) as CreateTableStatement, dialect);
    expect(shape('CREATE TABLE S.Foo (A INT)', 'postgres')).toMatchObject({
      schema: 's',
      name: 'foo',
      columns: [{ name: 'a' }],
    });
    expect(shape('CREATE TABLE Foo (A INT)', 'sqlite')).toMatchObject({
      name: 'Foo',
      columns: [{ name: 'A' }],
    });
    expect(shape('CREATE TABLE Foo (A INT)', 'mysql')).not.toHaveProperty('schema');
  });
});
