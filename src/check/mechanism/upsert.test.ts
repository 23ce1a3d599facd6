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
    ['a MERGE that matches', merge(20), '1,10,5 | 2,20,8', '1,10,5 | 2,20,6'],
    ['a MERGE that adds', merge(30), '1,10,5 | 2,20,6 | 3,30,7', '1,10,5 | 2,20,6'],
  ])('%s', (_, write, right, wrong) => {
    expect(judge(written(write, right), 'postgres:read-committed', 'postgres')).toEqual({
      kinds: [],
      reads: 1,
    });
    expect(judge(written(write, wrong), 'postgres:read-committed', 'postgres').kinds).toHaveLength(1);
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
