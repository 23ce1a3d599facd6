/** What one statement does to tables as the shadow state knows them: exact, or unknown, never wrong. */
import { describe, expect, it } from 'vitest';
import {
  arithmeticOf,
  type Dialect,
  isUndecidable,
  parseStatement,
  type SelectStatement,
} from '../sql/index.js';
import { answerOf, applyStatement, forgetTables, isMaintenance, noTables, type Tables } from './tables.js';
import { groupsOf, readsOnly, tablesIn, tablesOf } from './tables-named.js';

const postgres = arithmeticOf('postgres', 'postgres');

function tablesAfter(
  statements: readonly string[],
  dialect: Dialect = 'postgres',
  target: string = dialect,
): Tables {
  return statements.reduce<Tables>(
    (tables, sql) => applyStatement(tables, parseStatement(sql, dialect), arithmeticOf(dialect, target)),
    noTables,
  );
}

/** Rows by table, `?` where they are not known. */
function rowsOf(tables: Tables): Record<string, unknown> {
  return Object.fromEntries([...tables].map(([name, { rows }]) => [name, isUndecidable(rows) ? '?' : rows]));
}

const setup = [
  'CREATE TABLE t (a INT, b INT)',
  'INSERT INTO t VALUES (1, 10), (2, 20)',
  'CREATE TABLE u (a INT)',
];
const whole = [
  [1, 10],
  [2, 20],
];

describe('a statement', () => {
  it.each<[sql: string, t: unknown, u: unknown]>([
    ['INSERT INTO u SELECT a FROM t', whole, [[1], [2]]],
    ['INSERT INTO t (b) VALUES (5)', [...whole, [null, 5]], []],
    [
      'UPDATE t SET a = b, b = a WHERE a = 1',
      [
        [10, 1],
        [2, 20],
      ],
      [],
    ],
    ['DELETE FROM t WHERE b > 15', [[1, 10]], []],
    ['DELETE FROM t WHERE b IS NULL', whole, []],
    ['DELETE FROM t', [], []],
    [
      'UPDATE t SET a = random()',
      [
        ['?', 10],
        ['?', 20],
      ],
      [],
    ],
    ['SELECT * FROM t', whole, []],
    ['CREATE INDEX i ON t (a)', whole, []],
    ['CREATE TABLE IF NOT EXISTS t (x INT)', whole, []],
    ['SET x = 1', whole, []],
    ['ANALYZE t', whole, []],
    // What cannot be followed makes what it may have changed unknown.
    ['INSERT INTO t VALUES (1, 1) ON CONFLICT DO NOTHING', '?', []],
    ['DELETE FROM t WHERE random() < 0.5', '?', []],
    ['UPDATE t SET a = 1 FROM u WHERE t.a = u.a', '?', []],
    ['MERGE INTO t USING u ON t.a = u.a WHEN MATCHED THEN DELETE', '?', []],
    ['WITH d AS (DELETE FROM u RETURNING a) SELECT * FROM d', whole, '?'],
    ['WITH d AS (DELETE FROM u RETURNING a) INSERT INTO t SELECT a, a FROM d', '?', '?'],
    ['CALL something()', '?', '?'],
    ['TRUNCATE t', '?', '?'],
  ])('%s', (sql, t, u) => {
    const plain = JSON.parse(
      JSON.stringify(rowsOf(tablesAfter([...setup, sql])), (_, value: unknown) =>
        isUndecidable(value as never) ? '?' : value,
      ),
    );
    expect(plain).toEqual({ t, u });
  });

  it('that drops a table takes it away, and one that creates it anew empties it', () => {
    expect(rowsOf(tablesAfter([...setup, 'DROP TABLE t']))).toEqual({ u: [] });
    expect(rowsOf(tablesAfter([...setup, 'DROP TABLE t', 'CREATE TABLE t (a INT)']))).toEqual({
      u: [],
      t: [],
    });
    expect(rowsOf(tablesAfter([...setup, 'DROP INDEX i']))).toEqual({ t: whole, u: [] });
  });

  it('does not change the tables before it', () => {
    const before = tablesAfter(setup);
    applyStatement(before, parseStatement('DELETE FROM t', 'postgres'), postgres);
    expect(rowsOf(before)).toEqual({ t: whole, u: [] });
  });

  it('knows a table again once it is emptied', () => {
    const lost = tablesAfter([...setup, 'CALL something()', 'INSERT INTO t VALUES (3, 3)']);
    expect(rowsOf(lost)).toEqual({ t: '?', u: '?' });
    const again = applyStatement(lost, parseStatement('DELETE FROM t', 'postgres'), postgres);
    expect(rowsOf(again)).toEqual({ t: [], u: '?' });
  });

  it('that divides is followed only on the engine whose dialect it is', () => {
    const halved = [...setup, 'UPDATE t SET b = b / 4'];
    const cells = (target: string) => Object.values(rowsOf(tablesAfter(halved, 'postgres', target)))[0];
    expect(cells('postgres')).toEqual([
      [1, 2],
      [2, 5],
    ]);
    expect(JSON.stringify(cells('h2'))).not.toMatch(/2\]|5\]/);
    const query = parseStatement('SELECT 10 / 4 AS q', 'postgres') as SelectStatement;
    const answer = answerOf(noTables, query, arithmeticOf('postgres', 'h2'));
    expect(isUndecidable(answer) || answer.rows.flat().every(isUndecidable)).toBe(true);
  });

  it('of a table nobody knows changes nothing', () => {
    expect(rowsOf(tablesAfter([...setup, 'INSERT INTO nowhere VALUES (1)']))).toEqual({ t: whole, u: [] });
  });

  it('finds its table by any spelling the dialect takes for the same', () => {
    expect(rowsOf(tablesAfter([...setup, 'DELETE FROM T'], 'sqlite')).t).toEqual([]);
    expect(rowsOf(tablesAfter([...setup, 'DELETE FROM "T"'], 'postgres')).t).toEqual(whole);
  });
});

describe('a referential action', () => {
  const family = (actions: string) => [
    'CREATE TABLE p (id INT PRIMARY KEY)',
    'INSERT INTO p VALUES (1), (2)',
    `CREATE TABLE c (id INT PRIMARY KEY REFERENCES p (id) ${actions})`,
    'INSERT INTO c VALUES (1)',
    'CREATE TABLE g (id INT, FOREIGN KEY (id) REFERENCES c (id) ON DELETE SET NULL)',
    'INSERT INTO g VALUES (1)',
  ];
  const cascading = family('ON DELETE CASCADE');

  it.each<[sql: string, rows: Record<string, unknown>]>([
    ['DELETE FROM p WHERE id = 1', { p: [[2]], c: '?', g: '?' }],
    ['UPDATE p SET id = 5 WHERE id = 1', { p: [[5], [2]], c: '?', g: '?' }],
    ['DELETE FROM c', { p: [[1], [2]], c: [], g: '?' }],
    ['DELETE FROM g', { p: [[1], [2]], c: [[1]], g: [] }],
    ['INSERT INTO p VALUES (3)', { p: [[1], [2], [3]], c: [[1]], g: [[1]] }],
  ])('of CASCADE after %s', (sql, rows) => {
    expect(rowsOf(tablesAfter([...cascading, sql]))).toEqual(rows);
  });

  it.each(['', 'ON DELETE RESTRICT', 'ON DELETE NO ACTION'])('of %j changes no other table', (actions) => {
    expect(rowsOf(tablesAfter([...family(actions), 'DELETE FROM p WHERE id = 2']))).toEqual({
      p: [[1]],
      c: [[1]],
      g: [[1]],
    });
  });
});

describe('a query', () => {
  const answer = (sql: string, statements: readonly string[] = setup) => {
    const result = answerOf(
      tablesAfter(statements),
      parseStatement(sql, 'postgres') as SelectStatement,
      postgres,
    );
    return isUndecidable(result) ? result.undecidable : result.rows;
  };

  it('is answered from the rows that are known', () => {
    expect(answer('SELECT SUM(b) FROM t')).toEqual([[30]]);
    expect(answer('SELECT a FROM t WHERE a NOT IN (SELECT a FROM u) ORDER BY a')).toEqual([[1], [2]]);
  });

  it('is not answered from a table that is not known, and says why', () => {
    expect(
      answer('SELECT a FROM t', [...setup, 'MERGE INTO t USING u ON t.a = u.a WHEN MATCHED THEN DELETE']),
    ).toBe('a MERGE');
    expect(answer('SELECT a FROM nowhere')).toBe('table nowhere is not known');
  });

  it('is answered where the unknown table is not asked', () => {
    const tables = forgetTables(tablesAfter(setup), ['u', 'nobody'], 'a test');
    expect(rowsOf(tables)).toEqual({ t: whole, u: '?' });
  });
});

it.each<[sql: string, maintenance: boolean]>([
  ['VACUUM', true],
  ['  checkpoint', true],
  ['EXPLAIN SELECT 1', true],
  ['REINDEX t', true],
  ['VACUUMED', false],
  ['DELETE FROM t', false],
])('%s keeps all data: %s', (sql, maintenance) => {
  expect(isMaintenance(sql)).toBe(maintenance);
});

describe('the tables a group names', () => {
  it.each<[sql: string, names: readonly string[]]>([
    ['SELECT * FROM t JOIN u ON TRUE', ['t', 'u']],
    ['INSERT INTO t SELECT a FROM u WHERE EXISTS (SELECT 1 FROM w)', ['t', 'u', 'w']],
    ['CREATE TABLE n (a INT)', ['n']],
    ['CREATE INDEX i ON t (a)', ['t']],
    ['DROP TABLE t, u', ['t', 'u']],
    ['BEGIN', []],
    ['WITH c AS (SELECT * FROM t) SELECT * FROM c', ['t']],
  ])('of %s', (sql, names) => {
    expect([...tablesIn(parseStatement(sql, 'postgres'), 'postgres')].sort()).toEqual([...names].sort());
  });

  const statement = (group: number, id: number, sql: string) =>
    ({ type: 'statement', group, id, session: 0, sql }) as const;
  const fault = { type: 'fault', group: 2, fault: 'reconnect', session: 0 } as const;

  it('are those of all its statements', () => {
    const all = [
      statement(1, 0, 'SELECT * FROM t'),
      statement(2, 1, 'DELETE FROM u'),
      statement(1, 2, 'DROP TABLE w'),
    ];
    expect([...groupsOf(all).keys()]).toEqual([1, 2]);
    expect([...tablesOf(groupsOf(all).get(1)!, 'postgres')].sort()).toEqual(['t', 'w']);
  });

  it('cannot change where it only reads', () => {
    expect(readsOnly([statement(1, 0, 'SELECT 1')], 'postgres')).toBe(true);
    expect(readsOnly([], 'postgres')).toBe(true);
    expect(readsOnly([statement(1, 0, 'SELECT 1'), fault], 'postgres')).toBe(false);
    expect(readsOnly([statement(1, 0, 'BEGIN')], 'postgres')).toBe(false);
  });
});
