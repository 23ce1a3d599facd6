import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { scheduleProblem } from '../../cases/index.js';
import { findContract } from '../../contracts/index.js';
import type { Dialect } from '../../sql/index.js';
import { type Instrumented, instrumentCase } from './index.js';
import { instrumentScript } from './scripted-answers.case.js';

const setup = [
  'CREATE TABLE t (c1 INT PRIMARY KEY, c2 INT)',
  'CREATE TABLE t1 (c1 INT, c2 INT)',
  'CREATE TABLE t2 (c1 INT, c2 INT)',
  'INSERT INTO t VALUES (1, 1), (2, 2)',
];

function instrument(statements: readonly string[], dialect: Dialect, options = {}): Instrumented {
  const program = {
    name: 'x',
    setup,
    sessions: [{ name: 'T1', statements: ['BEGIN', ...statements, 'COMMIT'] }],
  };
  return instrumentCase({ case: program }, dialect, options);
}

/** The statements a statement becomes, inside a transaction. */
function becomes(sql: string, dialect: Dialect, options = {}): string[] {
  const result = instrument([sql], dialect, options);
  expect(result.opaque).toEqual([]);
  return result.scheduled.case.sessions[0]!.statements.slice(1, -1) as string[];
}

const dialects: readonly Dialect[] = ['postgres', 'mysql', 'sqlite', 'duckdb'];
const replace = (dialect: Dialect) => (dialect === 'mysql' ? 'REPLACE INTO' : 'INSERT OR REPLACE INTO');

describe('Table 1 of IsoRel', () => {
  for (const dialect of dialects) {
    it(`is followed in ${dialect}`, () => {
      const locks = dialect === 'postgres' || dialect === 'mysql';
      const rows: [string, string][] = [
        ['1 SELECT', 'SELECT c1, c2 FROM t WHERE c2 > 1'],
        ['2 cross-table', 'SELECT t1.c1, t2.c2 FROM t1 JOIN t2 ON t1.c1 = t2.c1 WHERE t2.c2 > 1'],
        ['3 compound', 'SELECT c1, c2 FROM t1 WHERE c2 > 1 UNION SELECT c1, c2 FROM t2 WHERE c2 > 1'],
        [
          '3 compound, all',
          'SELECT c1, c2 FROM t1 WHERE c2 > 1 UNION ALL SELECT c1, c2 FROM t2 WHERE c2 > 1',
        ],
        ['4 subquery', 'SELECT c1, c2 FROM (SELECT c1, c2 FROM t1 WHERE c2 < 5) AS t2 WHERE c2 > 1'],
        ...(locks
          ? ([['5 FOR UPDATE', 'SELECT c1, c2 FROM t WHERE c2 > 1 FOR UPDATE']] as [string, string][])
          : []),
        ['6 INSERT', 'INSERT INTO t (c1, c2) VALUES (1, 1)'],
        ['7 UPDATE', 'UPDATE t SET c1 = 1 WHERE c2 > 1'],
        ['8 DELETE', 'DELETE FROM t WHERE c2 > 1'],
        ...(dialect === 'postgres'
          ? []
          : ([
              ['9 REPLACE with key', `${replace(dialect)} t (c1, c2) VALUES (1, 1)`],
              ['10 REPLACE without key', `${replace(dialect)} t1 (c1, c2) VALUES (1, 1)`],
            ] as [string, string][])),
      ];
      const text = rows.map(([name, sql]) => {
        const lines = becomes(sql, dialect);
        const paper = name === '8 DELETE' ? becomes(sql, dialect, { returning: false }) : lines;
        const also = paper.join() === lines.join() ? [] : ['or, without RETURNING:', ...paper];
        return [`-- ${name}`, ...lines, ...also].join('\n');
      });
      expect(text.join('\n')).toMatchSnapshot();
    });
  }

  it('goes on where the paper stops: aggregates, DISTINCT, subqueries, CTEs, upserts, MERGE', () => {
    const list = [
      'SELECT COUNT(*) FROM t WHERE c2 > 1',
      'SELECT c2, COUNT(*) FROM t GROUP BY c2',
      'SELECT DISTINCT c2 FROM t WHERE c1 > 0',
      'SELECT c1 FROM t EXCEPT SELECT c1 FROM t1',
      'SELECT c1 FROM t WHERE c2 IN (SELECT c2 FROM t1 WHERE t1.c1 = t.c1)',
      'WITH x AS (SELECT * FROM t1) SELECT * FROM x',
      'INSERT INTO t1 SELECT * FROM t',
      'INSERT INTO t1 SELECT DISTINCT c1, c2 FROM t',
      'INSERT INTO t VALUES (1, 1) ON CONFLICT (c1) DO UPDATE SET c2 = 9',
      'MERGE INTO t USING t1 ON t.c1 = t1.c1 WHEN MATCHED THEN UPDATE SET c2 = t1.c2 WHEN NOT MATCHED THEN INSERT VALUES (t1.c1, t1.c2)',
      'DELETE FROM t USING t1 WHERE t.c1 = t1.c1 RETURNING *',
    ];
    expect(list.flatMap((sql) => [`-- ${sql}`, ...becomes(sql, 'postgres')]).join('\n')).toMatchSnapshot();
    expect(becomes('INSERT INTO t VALUES (1, 1) ON DUPLICATE KEY UPDATE c2 = 9', 'mysql')).toEqual([
      "INSERT INTO t (c1, c2, isolde_rid, isolde_wl) VALUES (1, 1, '1.1.1', ';1.1') ON DUPLICATE KEY UPDATE c2 = 9, isolde_wl = CONCAT(t.isolde_wl, ';1.1')",
    ]);
    expect(becomes('UPDATE t JOIN t1 ON t.c1 = t1.c1 SET t.c2 = 1, t1.c2 = 2', 'mysql')).toEqual([
      "UPDATE t JOIN t1 ON t.c1 = t1.c1 SET t.c2 = 1, t1.c2 = 2, t.isolde_wl = CONCAT(t.isolde_wl, ';1.1'), t1.isolde_wl = CONCAT(t1.isolde_wl, ';1.1')",
    ]);
  });
});

describe('what writes read', () => {
  const contracts = {
    postgres: 'postgres:repeatable-read',
    mysql: 'mariadb:repeatable-read',
    sqlite: 'sqlite:serializable',
    duckdb: 'duckdb:snapshot',
  } as const;
  for (const dialect of dialects) {
    it(`is noted, returned or read before in ${dialect}`, () => {
      const contract = contracts[dialect];
      const merges = dialect === 'postgres' || dialect === 'duckdb';
      const list = [
        'UPDATE t SET c2 = 0 WHERE c1 < (SELECT MAX(c1) FROM t1)',
        'UPDATE t SET c2 = (SELECT MAX(t1.c2) FROM t1 WHERE t1.c1 = t.c1)',
        'DELETE FROM t WHERE c1 IN (SELECT c1 FROM t1 WHERE c2 > 1)',
        'INSERT INTO t VALUES (5, (SELECT MAX(c2) FROM t1))',
        'INSERT INTO t SELECT c1, c2 FROM t1 WHERE EXISTS (SELECT 1 FROM t2)',
        'INSERT INTO t SELECT COUNT(*), MAX(c2) FROM t1',
        dialect === 'mysql'
          ? 'INSERT INTO t VALUES (5, (SELECT MAX(c2) FROM t1)) ON DUPLICATE KEY UPDATE c2 = 9'
          : 'INSERT INTO t VALUES (5, (SELECT MAX(c2) FROM t1)) ON CONFLICT (c1) DO UPDATE SET c2 = 9',
        ...(dialect === 'mysql'
          ? ['UPDATE t JOIN t1 ON t.c1 = t1.c1 SET t.c2 = 1', 'DELETE t FROM t JOIN t1 ON t.c1 = t1.c1']
          : ['UPDATE t SET c2 = t1.c2 FROM t1 WHERE t.c1 = t1.c1']),
        ...(merges
          ? [
              'DELETE FROM t USING t1 WHERE t.c1 = t1.c1',
              'MERGE INTO t USING t1 ON t.c1 = t1.c1 WHEN MATCHED THEN UPDATE SET c2 = 1',
            ]
          : []),
      ];
      const options = { contract: findContract(contract)!, ...(dialect === 'mysql' && { returning: true }) };
      const texts = list.flatMap((sql) => [`-- ${sql}`, ...becomes(sql, dialect, options)]);
      expect(texts.join('\n')).toMatchSnapshot();
    });
  }

  it('is asked for with locks in every part where a plain read would make a read view', () => {
    const options = { contract: findContract('mysql:repeatable-read')!, returning: false };
    expect(becomes('DELETE FROM t WHERE c1 < (SELECT MAX(c1) FROM t1)', 'mysql', options)).toEqual([
      "SELECT (SELECT GROUP_CONCAT(CONCAT(t1.isolde_rid, '=', t1.isolde_wl, '!')) FROM t1 LOCK IN SHARE MODE)",
      'SELECT t.isolde_rid, t.isolde_wl FROM t WHERE c1 < (SELECT MAX(c1) FROM t1 LOCK IN SHARE MODE) FOR UPDATE',
      'DELETE FROM t WHERE c1 < (SELECT MAX(c1) FROM t1)',
    ]);
  });

  it('costs nothing where there is nothing to read: no column, no companion', () => {
    const result = instrument(['UPDATE t SET c2 = 1 WHERE c1 = 1', 'DELETE FROM t1'], 'duckdb');
    expect(result.scheduled.case.setup.join()).not.toContain('isolde_rd');
    expect(result.plans.flat().every(({ role }) => role === 'statement')).toBe(true);
  });
});

describe('the rows that a REPLACE takes away', () => {
  const replaced = (table: string, dialect: Dialect) => {
    const statements = ['BEGIN', `${replace(dialect)} t (id, s) VALUES (1, 'abc')`, 'COMMIT'];
    const program = { name: 'x', setup: [table], sessions: [{ name: 'T1', statements }] };
    const { plans } = instrumentCase({ case: program }, dialect);
    return plans[0]!.find(({ write }) => write !== undefined)!.write!.unnamed ? 'not seen' : 'seen';
  };

  it.each<[string, Dialect, 'seen' | 'not seen']>([
    ['CREATE TABLE t (id INT PRIMARY KEY, s VARCHAR(9))', 'mysql', 'seen'],
    // A row with 'abd' goes, too, and no condition on s = 'abc' finds it.
    ['CREATE TABLE t (id INT PRIMARY KEY, s VARCHAR(9), UNIQUE KEY (s(2)))', 'mysql', 'not seen'],
    ['CREATE TABLE t (id INT PRIMARY KEY, s TEXT, g INT AS (length(s)) UNIQUE)', 'sqlite', 'not seen'],
    ['CREATE TABLE t (id INT PRIMARY KEY, s TEXT, d INT DEFAULT (random()) UNIQUE)', 'sqlite', 'not seen'],
    ['CREATE TABLE t (id INT PRIMARY KEY, s TEXT, d INT DEFAULT 7 UNIQUE)', 'sqlite', 'seen'],
  ])('%s (%s): %s', (table, dialect, expected) => {
    expect(replaced(table, dialect)).toBe(expected);
  });
});

describe('tables whose keys say what becomes of rows in conflict', () => {
  it.each([
    ['CREATE TABLE k (a INT UNIQUE ON CONFLICT REPLACE)', 'INSERT INTO k VALUES (1)'],
    ['CREATE TABLE k (a INT UNIQUE)', 'INSERT OR FAIL INTO k VALUES (1), (1)'],
  ])('%s: they stay as they are', (create, sql) => {
    const sessions = [{ name: 'T1', statements: [sql] }];
    const { unseenTables } = instrumentCase({ case: { name: 'x', setup: [create], sessions } }, 'sqlite');
    expect(unseenTables.map(({ name }) => name)).toEqual(['k']);
  });

  it('which rows a REPLACE of a rowid takes away is not known', () => {
    const { plans } = instrument(['REPLACE INTO t1 (rowid, c1) VALUES (1, 5)'], 'sqlite');
    expect(plans.flat().some((plan) => plan.write?.unnamed === true)).toBe(true);
  });
});

describe('tables', () => {
  it('get two columns at their end, without constraint, and initial rows with ids and the initial list', () => {
    expect(instrument([], 'duckdb').scheduled.case.setup).toEqual([
      'CREATE TABLE t (c1 INT PRIMARY KEY, c2 INT, isolde_rid TEXT, isolde_wl TEXT)',
      'CREATE TABLE t1 (c1 INT, c2 INT, isolde_rid TEXT, isolde_wl TEXT)',
      'CREATE TABLE t2 (c1 INT, c2 INT, isolde_rid TEXT, isolde_wl TEXT)',
      "INSERT INTO t (c1, c2, isolde_rid, isolde_wl) VALUES (1, 1, 's4.1', ';0'), (2, 2, 's4.2', ';0')",
    ]);
  });

  it('do not show the columns through *, NATURAL JOIN or RETURNING *', () => {
    expect(becomes('SELECT * FROM t', 'sqlite')).toEqual([
      'SELECT t.c1, t.c2, t.isolde_rid, t.isolde_wl FROM t',
    ]);
    expect(becomes('SELECT * FROM t NATURAL JOIN t1', 'sqlite')).toEqual([
      'SELECT c1, c2, t.isolde_rid, t.isolde_wl, t1.isolde_rid, t1.isolde_wl FROM t JOIN t1 USING (c1, c2)',
    ]);
    expect(becomes('SELECT c1 FROM t WHERE (c1, c2) IN (SELECT * FROM t1)', 'postgres')[0]).toContain(
      'IN (SELECT t1.c1, t1.c2 FROM t1)',
    );
    expect(becomes('UPDATE t SET c2 = 1 RETURNING *', 'postgres')).toEqual([
      "UPDATE t SET c2 = 1, isolde_wl = t.isolde_wl || ';1.1' RETURNING t.c1, t.c2, t.isolde_rid, t.isolde_wl",
    ]);
  });

  it('stay as they are when a statement that is not understood touches them', () => {
    const result = instrument(['UPDATE t SET c2 = 1', 'TRUNCATE TABLE t1', 'SELECT * FROM t1'], 'postgres');
    expect(result.unseenTables.map(({ name }) => name)).toEqual(['t1']);
    expect(result.opaque).toHaveLength(1);
    expect(result.scheduled.case.setup[1]).toBe(setup[1]);
    expect(result.scheduled.case.sessions[0]!.statements).toContain('SELECT * FROM t1');
    expect(result.scheduled.case.sessions[0]!.statements[1]).toContain('isolde_wl');
  });

  it('stay as they are when a row is used as a whole, or when nothing is known of a statement', () => {
    expect(instrument(['SELECT t FROM t'], 'postgres').unseenTables.map(({ name }) => name)).toEqual(['t']);
    expect(instrument(['CALL p()'], 'mysql').unseenTables.map(({ name }) => name)).toEqual(['t', 't1', 't2']);
    expect(instrument(['LOCK TABLE t IN EXCLUSIVE MODE'], 'postgres').unseenTables).toEqual([]);
    expect(instrument(['ANALYZE t'], 'postgres').unseenTables).toEqual([]);
  });

  it('stay as they are when a statement runs another one, or goes on to tables that it does not name', () => {
    const unseen = (sql: string, dialect: Dialect) =>
      instrument([sql], dialect).unseenTables.map(({ name }) => name);
    expect(unseen('ANALYZE UPDATE t SET c2 = 1', 'mysql')).toEqual(['t']);
    expect(unseen('TRUNCATE t CASCADE', 'postgres')).toEqual(['t', 't1', 't2']);
    expect(unseen('CREATE TEMP VIEW t1 AS SELECT * FROM t', 'postgres')).toEqual(['t', 't1', 't2']);
  });

  it('stay as they are when their rows are also those of others', () => {
    for (const related of ['CREATE TABLE c (w INT) INHERITS (t)', 'CREATE TABLE c PARTITION OF t DEFAULT'])
      expect(instrument([related, 'SELECT * FROM t'], 'postgres').unseenTables).toMatchObject([
        { name: 't' },
      ]);
  });

  it('are not changed by functions that may aggregate: the query runs without marks', () => {
    const result = instrument(['SELECT my_sum(c2) FROM t'], 'postgres');
    expect(result.scheduled.case.sessions[0]!.statements[1]).toBe('SELECT MY_SUM(c2) FROM t');
    expect(result.unseenReads).toEqual([{ ref: [0, 1], reason: 'it calls a function that is not known' }]);
  });
});

describe('schedules', () => {
  it('send a companion right before its statement, and fit the new case', () => {
    const result = instrumentScript(
      `CREATE TABLE t (id INT PRIMARY KEY); INSERT INTO t VALUES (1);
      T1: BEGIN
      T2: SELECT id FROM t
      T1: DELETE FROM t WHERE id = 1
      T2: SELECT id FROM t
      T1: COMMIT`,
      'mysql',
    );
    const { case: program, schedule } = result.scheduled;
    expect(scheduleProblem(program, schedule!)).toBeUndefined();
    expect(schedule!.batches.flat()).toEqual([
      [0, 0],
      [1, 0],
      [0, 1],
      [0, 2],
      [1, 1],
      [0, 3],
    ]);
    expect(result.plans[0]!.map(({ role, original }) => [role, original[1]])).toEqual([
      ['statement', 0],
      ['companion', 1],
      ['statement', 1],
      ['statement', 2],
    ]);
  });

  it('never put a companion before an autocommitted statement: its locks would be gone', () => {
    const result = instrumentScript('CREATE TABLE t (id INT);\nT1: DELETE FROM t', 'mysql');
    expect(result.scheduled.case.sessions[0]!.statements).toEqual(['DELETE FROM t']);
    expect(result.plans[0]![0]!.write?.unnamed).toBe(true);
  });
});

it('is documented as it is', () => {
  const page = readFileSync('docs/stages/check-instrument.md', 'utf8');
  const pairs = /```sql\n([\s\S]*?)```/.exec(page)![1]!.trim().split('\n\n');
  expect(pairs.length).toBeGreaterThan(5);
  for (const pair of pairs) {
    const [before, after] = pair.split('\n').map((line) => line.replace(/;$/, ''));
    if (before!.startsWith('CREATE')) expect(instrument([], 'postgres').scheduled.case.setup[0]).toBe(after);
    else expect(becomes(before!, 'postgres')).toEqual([after]);
  }
});
