import { existsSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { classifyStatement } from '../classify.js';
import type { Dialect } from '../dialect.js';
import { printExpression, printStatement } from '../print/print.js';
import { parseExpressionText, parseStatement } from './parse.js';

const dialects: readonly Dialect[] = ['postgres', 'mysql', 'sqlite', 'duckdb'];

/** An expression with all its parentheses shown. */
function shape(sql: string, dialect: Dialect): string {
  const expression = parseExpressionText(sql, dialect);
  if (expression === undefined) return 'not parsed';
  const show = (e: NonNullable<typeof expression>): string => {
    if (e.type === 'binary') return `(${show(e.left)} ${e.op} ${show(e.right)})`;
    if (e.type === 'unary') return `(${e.op} ${show(e.operand)})`;
    if (e.type === 'like') return `(${show(e.operand)} ${e.op} ${show(e.pattern)})`;
    if (e.type === 'is') return `(${show(e.operand)} IS ${e.negated ? 'NOT ' : ''}${e.test})`;
    if (e.type === 'between') return `(${show(e.operand)} BETWEEN ${show(e.low)} AND ${show(e.high)})`;
    return printExpression(e, dialect);
  };
  return show(expression);
}

describe('statements that break off', () => {
  test.each(['postgres', 'mysql', 'sqlite', 'duckdb'] as const)(
    'are opaque in %s, wherever they do',
    (dialect) => {
      const whole =
        'CREATE TABLE t (a INT x(1, (2)) DEFAULT (1) CHECK (a > 0) REFERENCES u (b) ON DELETE CASCADE, PRIMARY KEY (a))';
      for (let length = 0; length < whole.length; length++) {
        expect(parseStatement(whole.slice(0, length), dialect)).toMatchObject({ type: 'opaque' });
      }
    },
  );
});

describe('INTERVAL in MySQL', () => {
  test.each([
    ['INTERVAL 1 DAY', 'INTERVAL 1 DAY'],
    ['INTERVAL a + 1 DAY', 'INTERVAL (a + 1) DAY'],
    ['now() - INTERVAL (a + 1) DAY_HOUR', 'NOW() - INTERVAL (a + 1) DAY_HOUR'],
    ['INTERVAL (SELECT a FROM t) MONTH', 'INTERVAL (SELECT a FROM t) MONTH'],
    // A function of the same name.
    ['INTERVAL(a, 1, 2)', 'INTERVAL(a, 1, 2)'],
  ])('%s is printed as %s, which reads the same', (text, printed) => {
    expect(printExpression(parseExpressionText(text, 'mysql')!, 'mysql')).toBe(printed);
    expect(parseExpressionText(printed, 'mysql')).toEqual(parseExpressionText(text, 'mysql'));
  });

  test.each([
    "INTERVAL '1 day'",
    "INTERVAL '1 day' | count(DISTINCT c)",
    "now() - INTERVAL --'1 day'",
    'INTERVAL ROW(1, 2) DAY',
  ])('%s, which MySQL refuses, is not parsed', (text) => {
    expect(parseExpressionText(text, 'mysql')).toBeUndefined();
  });
});

describe('dialects read the same text differently', () => {
  test.each([
    ['a || b', 'mysql', '(a OR b)'],
    ['a || b', 'sqlite', '(a || b)'],
    ['a && b', 'mysql', '(a AND b)'],
    ['2 * a || b', 'sqlite', '(2 * (a || b))'],
    ['2 * a || b', 'postgres', '((2 * a) || b)'],
    ['a = b < c', 'sqlite', '(a = (b < c))'],
    ['a = b < c', 'mysql', '((a = b) < c)'],
    ['a = b IS NULL', 'postgres', '((a = b) IS NULL)'],
    ["a = b LIKE 'x'", 'mysql', "(a = (b LIKE 'x'))"],
    ["a = b LIKE 'x'", 'sqlite', "((a = b) LIKE 'x')"],
    ['a ^ b', 'mysql', '(a # b)'],
    ['a ^ b', 'postgres', '(a POWER b)'],
    ['!a = b', 'mysql', '((NOT a) = b)'],
    ['NOT a = b', 'mysql', '(NOT (a = b))'],
    ['a | b & c', 'mysql', '(a | (b & c))'],
    ['a | b & c', 'postgres', '((a | b) & c)'],
    ['a // 2', 'duckdb', '(a DIV 2)'],
    ['a == 1', 'sqlite', '(a = 1)'],
    ['a IS 1', 'sqlite', '(a IS NOT DISTINCT FROM 1)'],
    ['a <=> 1', 'mysql', '(a IS NOT DISTINCT FROM 1)'],
    ['a AND b OR c AND NOT d', 'duckdb', '((a AND b) OR (c AND (NOT d)))'],
    ['a BETWEEN 1 AND 2 AND b', 'sqlite', '((a BETWEEN 1 AND 2) AND b)'],
  ] as const)('%s in %s is %s', (sql, dialect, expected) => {
    expect(shape(sql, dialect)).toBe(expected);
  });

  test.each([
    ["'it''s'", 'postgres', "it's"],
    [String.raw`'a\nb'`, 'mysql', 'a\nb'],
    [String.raw`'a\nb'`, 'postgres', String.raw`a\nb`],
    [String.raw`E'a\nb'`, 'postgres', 'a\nb'],
    ['"text"', 'mysql', 'text'],
    ["$x$it's$x$", 'postgres', "it's"],
    ['9007199254740993', 'sqlite', { int: '9007199254740993' }],
    ['-9223372036854775808', 'postgres', { int: '-9223372036854775808' }],
    ['1.10', 'duckdb', { decimal: '1.10' }],
    ["X'00ff'", 'sqlite', { bytes: '00ff' }],
    ['0xFF', 'mysql', { bytes: 'ff' }],
    ['0xFF', 'sqlite', 255],
    [String.raw`'\xab'::bytea`, 'postgres', { bytes: 'ab' }],
    ["DATE '2024-02-29'", 'mysql', { date: '2024-02-29' }],
    ["TIMESTAMPTZ '2024-02-29 10:00:00+00'", 'postgres', { timestamp: '2024-02-29 10:00:00+00' }],
  ] as const)('%s in %s is the constant %j', (sql, dialect, value) => {
    expect(parseExpressionText(sql, dialect)).toEqual({ type: 'literal', value });
  });

  test('unquoted names fold in PostgreSQL only', () => {
    expect(printStatement(parseStatement('SELECT Foo, "Bar" FROM T', 'postgres'), 'postgres')).toBe(
      'SELECT foo, "Bar" FROM t',
    );
    expect(printStatement(parseStatement('SELECT Foo FROM T', 'mysql'), 'mysql')).toBe('SELECT Foo FROM T');
  });
});

describe('statements people write', () => {
  test.each([
    ['select * from t where id = 1 for update', 'postgres', 'SELECT * FROM t WHERE id = 1 FOR UPDATE'],
    ['SELECT * FROM t LOCK IN SHARE MODE', 'mysql', 'SELECT * FROM t LOCK IN SHARE MODE'],
    [
      'select a from t for no key update of t skip locked',
      'postgres',
      'SELECT a FROM t FOR NO KEY UPDATE OF t SKIP LOCKED',
    ],
    ['replace into t values (1, "x")', 'mysql', "REPLACE INTO t VALUES (1, 'x')"],
    ['insert or replace into t values (1)', 'sqlite', 'INSERT OR REPLACE INTO t VALUES (1)'],
    ['insert t set a = 1, b = default', 'mysql', 'INSERT INTO t (a, b) VALUES (1, DEFAULT)'],
    [
      'insert into t (a) values (1) on duplicate key update a = values(a) + 1',
      'mysql',
      'INSERT INTO t (a) VALUES (1) ON DUPLICATE KEY UPDATE a = VALUES(a) + 1',
    ],
    [
      'insert into t values (1, 2) on conflict (id) do update set v = excluded.v where t.v < 3 returning *',
      'postgres',
      'INSERT INTO t VALUES (1, 2) ON CONFLICT (id) DO UPDATE SET v = excluded.v WHERE t.v < 3 RETURNING *',
    ],
    [
      'update t set v=v+1 where id in (1,2) order by id limit 1',
      'mysql',
      'UPDATE t SET v = v + 1 WHERE id IN (1, 2) ORDER BY id LIMIT 1',
    ],
    ['delete t1 from t1 join t2 using (id)', 'mysql', 'DELETE t1 FROM t1 JOIN t2 USING (id)'],
    ['BEGIN IMMEDIATE TRANSACTION', 'sqlite', 'BEGIN IMMEDIATE'],
    ['start transaction with consistent snapshot', 'mysql', 'START TRANSACTION WITH CONSISTENT SNAPSHOT'],
    ['rollback work to savepoint s1;', 'postgres', 'ROLLBACK TO SAVEPOINT s1'],
    [
      "create table t (id int primary key auto_increment, v varchar(9) not null default 'x', key k (v(3))) engine=InnoDB",
      'mysql',
      "CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, v VARCHAR(9) NOT NULL DEFAULT 'x', INDEX k (v(3))) engine=InnoDB",
    ],
    [
      "select a from t where match(a) against ('x' in boolean mode)",
      'mysql',
      "SELECT a FROM t WHERE match(a) against ('x' in boolean mode)",
    ],
    ['select /*+ hint */ a from t', 'mysql', 'SELECT /*+ hint */ a FROM t'],
    [
      'select sum(v) filter (where v > 0) over (partition by a order by b rows unbounded preceding) from t',
      'postgres',
      'SELECT SUM(v) FILTER (WHERE v > 0) OVER (PARTITION BY a ORDER BY b rows unbounded preceding) FROM t',
    ],
  ] as const)('%s', (sql, dialect, printed) => {
    const statement = parseStatement(sql, dialect);
    expect(printStatement(statement, dialect)).toBe(printed);
    expect(parseStatement(printed, dialect)).toEqual(statement);
  });
});

describe('what is not in the grammar', () => {
  test('stays opaque, with its kind, its tables and the reason', () => {
    expect(parseStatement('SELECT a INTO @x FROM t1, s.t2 JOIN "T3"', 'postgres')).toEqual({
      type: 'opaque',
      kind: 'select',
      sql: 'SELECT a INTO @x FROM t1, s.t2 JOIN "T3"',
      tables: ['t1', 's', 't2', 'T3'],
      reason: 'expected FROM, found INTO',
    });
    expect(parseStatement('SET autocommit = 0', 'mysql')).toMatchObject({ type: 'opaque', kind: 'set' });
  });

  test('includes comments that MySQL executes', () => {
    expect(parseStatement('SELECT 1 /*!50000 + 1 */', 'mysql')).toMatchObject({ type: 'opaque' });
  });

  test('never throws, whatever the text', () => {
    const words = fc.constantFrom(
      ...'SELECT FROM WHERE ( ) , . * = AND NOT IN CASE WHEN THEN END a b 1 \'x\' "q" UNION INSERT INTO VALUES UPDATE SET DELETE CREATE TABLE ; $1 :: OVER'.split(
        ' ',
      ),
    );
    const text = fc.oneof(
      fc.string(),
      fc.array(words, { maxLength: 25 }).map((parts) => parts.join(' ')),
    );
    fc.assert(
      fc.property(text, fc.constantFrom(...dialects), (sql, dialect) => {
        const statement = parseStatement(sql, dialect);
        const printed = printStatement(statement, dialect);
        expect(parseStatement(printed, dialect)).toEqual(statement);
      }),
      { numRuns: 2000 },
    );
  });

  test('includes what is nested or chained beyond reason', () => {
    for (const sql of [
      `SELECT ${'('.repeat(50_000)}1${')'.repeat(50_000)}`,
      `SELECT 1${' + 1'.repeat(50_000)}`,
      `SELECT ${'NOT '.repeat(50_000)}TRUE`,
      `SELECT 1${' UNION SELECT 1'.repeat(20_000)}`,
      `SELECT ${'((SELECT '.repeat(60)}1${')+1)'.repeat(60)} FROM`,
    ]) {
      expect(parseStatement(sql, 'postgres').type).toBe('opaque');
    }
  });
});

// Public data that lies beside a checkout, never in it (Pisco's artifact, Apache-2.0).
const corpus = new URL('../../../../shared/data/pisco/txbug-reports.csv', import.meta.url);

describe.skipIf(!existsSync(corpus))('223 public bug reports', () => {
  test('nearly every statement in them is parsed and printed to the same tree', () => {
    const reported = reportedStatements(readFileSync(corpus, 'utf8'));
    const all = [...new Map(reported.map((item) => [`${item.dialect} ${item.sql}`, item])).values()];
    const failed = all.filter(({ sql, dialect }) => {
      const statement = parseStatement(sql, dialect);
      if (statement.type === 'opaque') return true;
      return (
        JSON.stringify(parseStatement(printStatement(statement, dialect), dialect)) !==
        JSON.stringify(statement)
      );
    });
    expect(all.length).toBeGreaterThan(300);
    expect(1 - failed.length / all.length, failed.map(({ sql }) => sql).join('\n')).toBeGreaterThan(0.98);
  });
});

/** Lines of the reports that are one whole statement, perhaps behind a prompt or a session comment. */
function reportedStatements(csv: string): { sql: string; dialect: Dialect }[] {
  const dialectOf: Readonly<Record<string, Dialect>> = {
    PostgreSQL: 'postgres',
    SQLite: 'sqlite',
    CockroachDB: 'postgres',
  };
  return csv.split(/\r?\n(?=(?:MySQL|MariaDB|TiDB|PostgreSQL|CockroachDB|SQLite),)/).flatMap((report) => {
    const dialect = dialectOf[report.slice(0, report.indexOf(','))] ?? 'mysql';
    const lines = report.replaceAll('""', '"').split('\n');
    return lines.flatMap((line) => {
      const match =
        /^\s*(?:\/\*.*?\*\/|\w+\s*[>:])?\s*((?:select|insert into|update \w+ set|delete from|replace into)\s[^;]*);\s*(?:--.*|#.*)?$/i.exec(
          line,
        );
      if (match === null) return [];
      const sql = match[1]!;
      return /^(select|insert|update|delete|replace)$/.test(classifyStatement(sql, dialect).kind)
        ? [{ sql, dialect }]
        : [];
    });
  });
}
