import { describe, expect, it } from 'vitest';
import { findContract } from '../../contracts/index.js';
import type { Dialect } from '../../sql/index.js';
import { story } from './story.case.js';
import { verifyMechanism } from './verify.js';

const setup = [
  'CREATE TABLE t (rid INT, k INT PRIMARY KEY, v INT)',
  'INSERT INTO t VALUES (1, 10, 5), (2, 20, 6)',
];

function judge(text: string, id: string, dialect: Dialect, tables: readonly string[] = setup) {
  const { findings, checked } = verifyMechanism(story(text, { dialect, setup: tables }), findContract(id)!);
  return { kinds: findings.map(({ kind }) => kind), reads: checked.reads };
}

/** One write, then a read of everything. */
const written = (write: string, seen: string) => `
  T1: ${write}
  T2: SELECT rid, k, v FROM t -> ${seen}`;

describe('an upsert of several rows that sets a column', () => {
  // The columns are rid, "K" and k; only k is a key.
  const tables = [
    'CREATE TABLE t (rid INT, "K" INT, k INT PRIMARY KEY)',
    'INSERT INTO t VALUES (1, 5, 10), (2, 6, 20)',
  ];
  const text = (found: number) => `
  T1: INSERT INTO t VALUES (3, 7, 10), (4, 8, 40) ON CONFLICT (k) DO UPDATE SET "K" = 9 -> 2
  T2: SELECT rid, "K", k FROM t -> 1,${found},10 | 2,6,20 | 4,8,40`;

  it('is followed though a key of PostgreSQL differs from that column by case alone', () => {
    const kinds = (found: number) => judge(text(found), 'postgres:read-committed', 'postgres', tables).kinds;
    expect(kinds(9)).toEqual([]);
    expect(kinds(5)).toEqual(['stale-read']);
  });
});

describe('an upsert whose key a subquery computes', () => {
  it('may write any row where the table of the subquery is not certain', () => {
    const tables = [
      'CREATE TABLE t (k INT PRIMARY KEY, v INT)',
      'INSERT INTO t VALUES (10, 5)',
      'CREATE TABLE u (id INT PRIMARY KEY, w INT)',
      'INSERT INTO u VALUES (1, 9)',
    ];
    const text = `
  T3: UPDATE u SET w = 9 WHERE random() < 2 -> 1
  T1: INSERT INTO t VALUES ((SELECT COALESCE(MAX(w), 0) + 1 FROM u), 7) ON CONFLICT (k) DO UPDATE SET v = excluded.v -> 1
  T2: SELECT k, v FROM t -> 10,7`;
    expect(judge(text, 'postgres:read-committed', 'postgres', tables).kinds).toEqual([]);
  });
});

describe('a write that meets rows or adds them is followed', () => {
  const upsert = 'INSERT INTO t VALUES (3, 10, 7) ON CONFLICT (k) DO UPDATE SET v = 8 -> 1';
  const nothing = 'INSERT INTO t VALUES (3, 10, 7) ON CONFLICT (k) DO NOTHING -> 0';
  const added = 'INSERT INTO t VALUES (3, 30, 7) ON CONFLICT (k) DO UPDATE SET v = 8 -> 1';
  const merge = (key: number) =>
    `MERGE INTO t USING (SELECT ${key} AS k) AS s ON t.k = s.k WHEN MATCHED THEN UPDATE SET v = 8 WHEN NOT MATCHED THEN INSERT (rid, k, v) VALUES (3, ${key}, 7) -> 1`;

  it.each([
    ['an upsert that meets a row', upsert, '1,10,8 | 2,20,6', '1,10,5 | 2,20,6'],
    ['an upsert that meets none', added, '1,10,5 | 2,20,6 | 3,30,7', '1,10,5 | 2,20,6'],
    ['DO NOTHING', nothing, '1,10,5 | 2,20,6', '1,10,5 | 2,20,6 | 3,10,7'],
    [
      'an upsert that computes from both rows',
      'INSERT INTO t VALUES (3, 10, 7) ON CONFLICT (k) DO UPDATE SET v = t.v + excluded.v -> 1',
      '1,10,12 | 2,20,6',
      '1,10,7 | 2,20,6',
    ],
    [
      'an upsert whose condition does not hold',
      'INSERT INTO t VALUES (3, 10, 7) ON CONFLICT (k) DO UPDATE SET v = 8 WHERE t.v > 5 -> 0',
      '1,10,5 | 2,20,6',
      '1,10,8 | 2,20,6',
    ],
    [
      'an upsert with a subquery',
      'INSERT INTO t VALUES (3, 10, 7) ON CONFLICT (k) DO UPDATE SET v = (SELECT MAX(v) + 1 FROM t) -> 1',
      '1,10,7 | 2,20,6',
      '1,10,6 | 2,20,6',
    ],
    [
      'a MERGE that computes, with a condition',
      'MERGE INTO t USING (SELECT 20 AS k, 2 AS n) AS s ON t.k = s.k WHEN MATCHED AND t.v > 5 THEN UPDATE SET v = t.v * s.n -> 1',
      '1,10,5 | 2,20,12',
      '1,10,5 | 2,20,8',
    ],
    [
      'an upsert of several rows, of which one meets a row',
      'INSERT INTO t VALUES (3, 10, 7), (4, 40, 8) ON CONFLICT (k) DO UPDATE SET v = t.v + excluded.v -> 2',
      '1,10,12 | 2,20,6 | 4,40,8',
      '1,10,13 | 2,20,6 | 4,40,8',
    ],
    [
      'an upsert of several rows that adds one',
      'INSERT INTO t VALUES (3, 10, 7), (4, 40, 8) ON CONFLICT (k) DO NOTHING -> 1',
      '1,10,5 | 2,20,6 | 4,40,8',
      '1,10,5 | 2,20,6',
    ],
    [
      'an upsert of what a query returns',
      'INSERT INTO t SELECT 9, k, v + 1 FROM t WHERE k = 20 ON CONFLICT (k) DO UPDATE SET v = excluded.v * 2 -> 1',
      '1,10,5 | 2,20,14',
      '1,10,5 | 2,20,7',
    ],
    [
      'a subquery that names both rows',
      'INSERT INTO t VALUES (3, 10, 7) ON CONFLICT (k) DO UPDATE SET v = (SELECT MAX(s.v) + excluded.v + t.v FROM t AS s) -> 1',
      '1,10,18 | 2,20,6',
      '1,10,13 | 2,20,6',
    ],
    [
      'a MERGE with several actions',
      'MERGE INTO t USING (VALUES (10, 4), (20, 6), (30, 1)) AS s (k, n) ON t.k = s.k WHEN MATCHED AND t.v > s.n THEN UPDATE SET v = t.v - s.n WHEN MATCHED THEN DELETE WHEN NOT MATCHED AND s.n > 1 THEN DO NOTHING WHEN NOT MATCHED THEN INSERT VALUES (3, s.k, s.n) -> 3',
      '1,10,1 | 3,30,1',
      '1,10,1 | 2,20,6 | 3,30,1',
    ],
    [
      'a MERGE of a table with itself',
      'MERGE INTO t USING (SELECT k, v FROM t WHERE v > 5) AS s ON t.k = s.k WHEN MATCHED THEN UPDATE SET v = s.v + 1 -> 1',
      '1,10,5 | 2,20,7',
      '1,10,6 | 2,20,7',
    ],
    ['a MERGE that matches', merge(20), '1,10,5 | 2,20,8', '1,10,5 | 2,20,6'],
    ['a MERGE that adds', merge(30), '1,10,5 | 2,20,6 | 3,30,7', '1,10,5 | 2,20,6'],
  ])('%s', (_, write, right, wrong) => {
    expect(judge(written(write, right), 'postgres:read-committed', 'postgres')).toEqual({
      kinds: [],
      reads: 1,
    });
    expect(judge(written(write, wrong), 'postgres:read-committed', 'postgres').kinds).toHaveLength(1);
  });

  it('what MySQL computes from both rows, from left to right', () => {
    const upsert = 'INSERT INTO t VALUES (3, 10, 7) ON DUPLICATE KEY UPDATE v = v + VALUES(v), rid = v -> 2';
    const judged = (seen: string) =>
      judge(written(upsert, seen), 'mariadb:read-committed', 'mysql', [
        'CREATE TABLE t (rid INT, k INT PRIMARY KEY, v INT)',
        setup[1]!,
      ]);
    expect(judged('12,10,12 | 2,20,6')).toEqual({ kinds: [], reads: 1 });
    expect(judged('5,10,12 | 2,20,6').kinds).toHaveLength(1);
  });

  it('what MySQL computes from subqueries and for several rows', () => {
    const judged = (write: string, seen: string) =>
      judge(written(write, seen), 'mariadb:read-committed', 'mysql').kinds.length;
    const query =
      'INSERT INTO t VALUES (3, 10, 7) ON DUPLICATE KEY UPDATE v = v + (SELECT MAX(v) FROM t AS s) -> 2';
    expect([judged(query, '1,10,11 | 2,20,6'), judged(query, '1,10,12 | 2,20,6')]).toEqual([0, 1]);
    const several = 'INSERT INTO t VALUES (3, 10, 7), (4, 20, 8) ON DUPLICATE KEY UPDATE v = VALUES(v) -> 4';
    expect([judged(several, '1,10,7 | 2,20,8'), judged(several, '1,10,8 | 2,20,7')]).toEqual([0, 1]);
    const ignored = 'INSERT IGNORE INTO t SELECT 4, 30, v FROM t AS s WHERE k = 20 -> 1';
    expect([judged(ignored, '1,10,5 | 2,20,6 | 4,30,6'), judged(ignored, '2,20,6 | 4,30,6')]).toEqual([0, 1]);
  });

  it.each([
    [
      'an upsert',
      'INSERT INTO t VALUES (3, 10, 7), (4, 40, 1) ON CONFLICT (k) DO UPDATE SET v = t.v + excluded.v WHERE t.v > 9',
      '1,10,57 | 2,20,6 | 4,40,1',
      ['1,10,12 | 2,20,6 | 4,40,1', '1,10,50 | 2,20,6 | 4,40,1'],
    ],
    [
      'a MERGE',
      'MERGE INTO t USING (SELECT 10 AS k, 7 AS n) AS s ON t.k = s.k WHEN MATCHED AND t.v = 5 THEN DELETE WHEN MATCHED THEN UPDATE SET v = t.v + s.n',
      '1,10,57 | 2,20,6',
      ['2,20,6', '1,10,12 | 2,20,6'],
    ],
  ])('%s that waited computes from what the other one has committed', (_, write, right, wrong) => {
    const waited = (seen: string) => `
      [1,2] T1: BEGIN
      [10,12] T1: UPDATE t SET v = 50 WHERE k = 10 -> 1
      [20,60] T2: ${write} -> 1
      [40,45] T1: COMMIT
      [70,80] T3: SELECT rid, k, v FROM t -> ${seen}`;
    const judged = (seen: string) => judge(waited(seen), 'postgres:read-committed', 'postgres').kinds;
    expect(judged(right)).toEqual([]);
    for (const seen of wrong) expect(judged(seen), seen).not.toEqual([]);
  });

  it('REPLACE, which takes the row in its way with it', () => {
    const replace = 'REPLACE INTO t VALUES (3, 10, 7) -> 2';
    const judged = (seen: string) => judge(written(replace, seen), 'mariadb:read-committed', 'mysql');
    expect(judged('2,20,6 | 3,10,7')).toEqual({ kinds: [], reads: 1 });
    expect(judged('1,10,5 | 2,20,6 | 3,10,7').kinds).toHaveLength(1);
    expect(judged('2,20,6').kinds).toHaveLength(1);
  });
});

describe('what it may have done is not held against anybody', () => {
  it('where another transaction may have been first', () => {
    for (const seen of ['1,10,8 | 2,20,6', '2,20,6 | 3,10,7']) {
      const text = `
        [10,40] T1: DELETE FROM t WHERE k = 10 -> 1
        [20,60] T2: INSERT INTO t VALUES (3, 10, 7) ON CONFLICT (k) DO UPDATE SET v = 8 -> 1
        [70,80] T3: SELECT rid, k, v FROM t -> ${seen}`;
      expect(judge(text, 'postgres:read-committed', 'postgres').kinds, seen).toEqual([]);
    }
  });

  it('where it may have gone first, although its answer came later', () => {
    const text = `
      [1,2] T1: BEGIN
      [10,30] T1: UPDATE t SET v = 50 WHERE k = 10 -> 1
      [5,60] T2: INSERT INTO t VALUES (3, 10, 7) ON CONFLICT (k) DO UPDATE SET v = t.v + 1 -> 1
      [40,45] T1: COMMIT
      [70,80] T3: SELECT rid, k, v FROM t -> 1,10,50 | 2,20,6`;
    expect(judge(text, 'postgres:read-committed', 'postgres').kinds).toEqual([]);
  });

  it('where two rows are in its way by two keys, and one of them is changed', () => {
    const upsert = 'INSERT INTO t VALUES (3, 10, 6) ON DUPLICATE KEY UPDATE rid = 9 -> 2';
    const keys = ['CREATE TABLE t (rid INT, k INT PRIMARY KEY, v INT UNIQUE)', setup[1]!];
    for (const seen of ['9,10,5 | 2,20,6', '1,10,5 | 9,20,6'])
      expect(judge(written(upsert, seen), 'mariadb:read-committed', 'mysql', keys).kinds, seen).toEqual([]);
  });

  it('where a partial unique index leaves the row out', () => {
    const partial = [
      'CREATE TABLE t (rid INT, k INT, v INT)',
      setup[1]!,
      'CREATE UNIQUE INDEX u ON t (k) WHERE v > 5',
    ];
    const upsert = 'INSERT INTO t VALUES (3, 10, 7) ON CONFLICT DO NOTHING -> 1';
    const seen = '1,10,5 | 2,20,6 | 3,10,7';
    expect(judge(written(upsert, seen), 'postgres:read-committed', 'postgres', partial).kinds).toEqual([]);
  });

  it('where the row in its way was inserted by somebody who got the answer later', () => {
    const text = `
      [10,90] T1: INSERT INTO t VALUES (3, 30, 1) -> 1
      [20,60] T2: REPLACE INTO t VALUES (4, 30, 2) -> 2
      [95,99] T3: SELECT rid, k, v FROM t -> 1,10,5 | 2,20,6 | 4,30,2`;
    expect(judge(text, 'mariadb:read-committed', 'mysql').kinds).toEqual([]);
  });

  it('where a unique index decides that the table does not name, or a key over an expression', () => {
    for (const index of ['CREATE UNIQUE INDEX u ON t (v)', 'CREATE UNIQUE INDEX u ON t ((v + 1))']) {
      const write = 'INSERT INTO t VALUES (3, 30, 5) ON CONFLICT DO NOTHING -> 0';
      const judged = judge(written(write, '1,10,5 | 2,20,6'), 'postgres:read-committed', 'postgres', [
        ...setup,
        index,
      ]);
      expect(judged.kinds, index).toEqual([]);
    }
  });

  it('where InnoDB keeps old and new row as versions of one record', () => {
    const text = `
      T1: BEGIN
      T1: SELECT rid, k, v FROM t -> 1,10,5 | 2,20,6
      T2: REPLACE INTO t VALUES (3, 10, 7) -> 2
      T1: UPDATE t SET v = 0 -> 2
      T1: SELECT rid, k, v FROM t -> 2,20,0 | 3,10,0
      T1: COMMIT`;
    expect(judge(text, 'mariadb:repeatable-read', 'mysql').kinds).toEqual([]);
    const apart = text.replace(
      'REPLACE INTO t VALUES (3, 10, 7) -> 2',
      'DELETE FROM t WHERE k = 10 -> 1\n T2: INSERT INTO t VALUES (3, 10, 7) -> 1',
    );
    expect(judge(apart, 'mariadb:repeatable-read', 'mysql').kinds).toEqual([]);
  });
});

describe('a write that waited', () => {
  /** T1 holds the row while T2's write comes, and commits. */
  const waited = (write: string, seen: string) => `
    [1,2] T1: BEGIN
    [10,12] T1: UPDATE t SET v = 40 WHERE k = 10 -> 1
    [13,15] T1: UPDATE t SET v = 50 WHERE k = 10 -> 1
    [20,60] T2: ${write}
    [40,45] T1: COMMIT
    [70,80] T3: SELECT rid, k, v FROM t -> ${seen}`;
  const [newest, before, between] = ['1,10,51 | 2,20,6', '1,10,6 | 2,20,6', '1,10,41 | 2,20,6'];
  const postgres = ['postgres:read-committed', 'postgres'] as const;

  it.each([
    ['UPDATE', 'UPDATE t SET v = v + 1 WHERE k = 10 -> 1', ...postgres],
    ['upsert', 'INSERT INTO t VALUES (3, 10, 7) ON CONFLICT (k) DO UPDATE SET v = t.v + 1 -> 1', ...postgres],
    [
      'MERGE',
      'MERGE INTO t USING (SELECT 10 AS k) AS s ON t.k = s.k WHEN MATCHED THEN UPDATE SET v = t.v + 1 -> 1',
      ...postgres,
    ],
    [
      'upsert',
      'INSERT INTO t VALUES (3, 10, 7) ON DUPLICATE KEY UPDATE v = v + 1 -> 2',
      'mariadb:repeatable-read',
      'mysql',
    ],
  ] as const)('(%s) computes from what was committed when its wait ended', (_, write, contract, dialect) => {
    expect(judge(waited(write, newest), contract, dialect).kinds).toEqual([]);
    for (const stale of [before, between])
      expect(judge(waited(write, stale), contract, dialect).kinds, stale).toHaveLength(1);
  });

  it('computes so in an open transaction, too, whoever was answered first', () => {
    const open = (seen: string) =>
      waited('UPDATE t SET v = v + 1 WHERE k = 10 -> 1', seen)
        .replace('[20,60] T2:', '[3,4] T2: BEGIN\n[5,60] T2:')
        .replace('[70,80]', '[61,65] T2: COMMIT\n[70,80]');
    expect(judge(open(newest), ...postgres).kinds).toEqual([]);
    expect(judge(open(before), ...postgres).kinds).toHaveLength(1);
  });

  it('looks at its condition again', () => {
    const chosen = (matched: number, seen: string) =>
      waited(`UPDATE t SET v = 9 WHERE v = 5 -> ${matched}`, seen);
    expect(judge(chosen(0, '1,10,50 | 2,20,6'), ...postgres).kinds).toEqual([]);
    expect(judge(chosen(1, '1,10,9 | 2,20,6'), ...postgres).kinds).toContain('write-extra-row');
  });

  it('may have computed from the snapshot where writes see that', () => {
    const upsert = 'INSERT INTO t VALUES (3, 10, 7) ON CONFLICT (k) DO UPDATE SET v = v + 1 -> 1';
    const judged = judge(waited(upsert, before), 'turso:snapshot+mvcc', 'sqlite');
    expect(judged.kinds).not.toContain('wrong-version');
  });
});

describe('which state it meets', () => {
  const late = (other: string, write: string, seen: string) => `
    T1: BEGIN
    T1: SELECT rid, k, v FROM t -> 1,10,5 | 2,20,6
    T2: ${other} -> 1
    T1: ${write}
    T1: SELECT rid, k, v FROM t -> ${seen}`;
  const insert = 'INSERT INTO t VALUES (5, 30, 1)';
  const upsert = 'INSERT INTO t VALUES (3, 30, 7) ON CONFLICT (k) DO UPDATE SET v = 8 -> 1';

  it('is the snapshot where writes see the snapshot', () => {
    const engine = ['turso:snapshot+mvcc', 'sqlite'] as const;
    const seen = '1,10,5 | 2,20,6 | 3,30,7';
    expect(judge(late(insert, upsert, seen), ...engine)).toEqual({ kinds: [], reads: 2 });
  });

  it('may be the current one there, too, for a unique index knows no snapshots', () => {
    const nothing = 'INSERT INTO t VALUES (3, 10, 7) ON CONFLICT (k) DO NOTHING';
    const gone = 'DELETE FROM t WHERE k = 10';
    for (const [answer, seen] of [
      [0, '1,10,5 | 2,20,6'],
      [1, '1,10,5 | 2,20,6 | 3,10,7'],
    ])
      expect(
        judge(late(gone, `${nothing} -> ${answer}`, `${seen}`), 'postgres:repeatable-read', 'postgres'),
      ).toEqual({ kinds: [], reads: 2 });
  });
});

describe('INSERT … SELECT', () => {
  const tables = ['CREATE TABLE t (id INT PRIMARY KEY, v INT)', 'INSERT INTO t VALUES (1, 10)'];
  const copy = (seen: string) => `
    T1: BEGIN
    T1: UPDATE t SET v = 99 WHERE id = 1 -> 1
    T2: BEGIN
    T2: INSERT INTO u SELECT id, v FROM t WHERE id = 1 -> 1
    T2: SELECT id, v FROM u -> ${seen}
    T1: ROLLBACK`;

  it('copies uncommitted values where plain reads see them', () => {
    const setupOfBoth = [...tables, 'CREATE TABLE u (id INT PRIMARY KEY, v INT)'];
    for (const seen of ['1,99', '1,10'])
      expect(judge(copy(seen), 'mariadb:read-uncommitted', 'mysql', setupOfBoth).kinds).toEqual([]);
    expect(judge(copy('1,99'), 'postgres:read-committed', 'postgres', setupOfBoth).kinds).toHaveLength(1);
  });
});

it('an INSERT whose key is looked at only by COMMIT hides the row that has it from its own transaction', () => {
  const text = `
    T1: BEGIN
    T1: INSERT INTO t VALUES (3, 10, 7) -> 1
    T1: SELECT rid, k, v FROM t -> 2,20,6 | 3,10,7
    T1: COMMIT -> error duplicate-key
    T2: SELECT rid, k, v FROM t -> 1,10,5 | 2,20,6`;
  expect(judge(text, 'tidb:snapshot+optimistic', 'mysql').kinds).toEqual([]);
  expect(judge(text, 'duckdb:snapshot', 'duckdb').kinds).toContain('missing-row');
});

it('an upsert may have met a row whose key the database counted, and shows it to an older snapshot', () => {
  const text = `
    T2: BEGIN
    T2: SELECT rid, k, v FROM t -> 1,10,5 | 2,20,6
    T1: INSERT INTO t (rid, v) VALUES (100, 7) -> 1
    T2: INSERT INTO t VALUES (3, 21, 8) ON DUPLICATE KEY UPDATE v = v + VALUES(v) -> 1
    T2: SELECT rid, k, v FROM t -> 1,10,5 | 2,20,6 | 100,21,15
    T2: COMMIT`;
  const counted = setup.map((sql) => sql.replace('PRIMARY', 'AUTO_INCREMENT PRIMARY'));
  expect(judge(text, 'mysql:repeatable-read', 'mysql', counted).kinds).toEqual([]);
  const given = text.replace('(rid, v) VALUES (100, 7)', 'VALUES (100, 30, 7)');
  expect(judge(given, 'mysql:repeatable-read', 'mysql').kinds).not.toEqual([]);
});
