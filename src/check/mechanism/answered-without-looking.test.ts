/**
 * InnoDB takes its snapshot when a plain SELECT first looks at a table. What the optimizer answers without looking takes none, so later
 * reads may see what was committed meanwhile. MyRocks does so with every statement.
 */
import { describe, expect, it } from 'vitest';
import { findContract } from '../../contracts/index.js';
import { story } from './story.case.js';
import { verifyMechanism } from './verify.js';

const unsigned = [
  'CREATE TABLE t (id INT PRIMARY KEY, v INT UNSIGNED)',
  'INSERT INTO t VALUES (1, 10), (2, 20)',
];

/** What is found if the second read sees an INSERT that was committed after the first. */
function found(first: string, setup = unsigned): readonly string[] {
  const text = `
    T1: BEGIN
    T1: ${first}
    T2: INSERT INTO t VALUES (3, 30) -> 1
    T1: SELECT id, v FROM t -> 1,10 | 2,20 | 3,30
    T1: COMMIT`;
  return ['mariadb:repeatable-read', 'mysql:repeatable-read'].flatMap((id) =>
    verifyMechanism(story(text, { dialect: 'mysql', setup }), findContract(id)!).findings.map(
      ({ kind }) => kind,
    ),
  );
}

describe('may have been answered without looking:', () => {
  it.each([
    'SELECT id, v FROM t WHERE v < 0 -> nothing',
    'SELECT id, v FROM t WHERE v = 1 AND v = 0 -> nothing',
    'SELECT COUNT(*) FROM t WHERE v = 1 AND v = 0 -> 0',
    'SELECT COUNT(*) = 0 FROM t WHERE v = 1 AND v = 0 -> 1',
    'SELECT COALESCE(MAX(v), 5) FROM t WHERE 1 = 0 -> 5',
    'SELECT COUNT(*) + 1 FROM t WHERE 1 = 0 UNION ALL SELECT COUNT(*) + 2 FROM t WHERE 1 = 0 -> 1 | 2',
    'SELECT MAX(v) FROM t WHERE 1 = 0 -> NULL',
    'SELECT id FROM t WHERE id IS NULL -> nothing',
    'SELECT id FROM t WHERE 1 = 0 -> nothing',
    'SELECT id FROM t WHERE 0 -> nothing',
    'SELECT id FROM t WHERE NULL = 1 -> nothing',
    'SELECT id FROM t WHERE FALSE = 1 -> nothing',
    'SELECT id FROM t LIMIT 0 -> nothing',
    'SELECT id FROM t WHERE v > 70000000000 -> nothing',
    'SELECT 1 -> 1',
    'SELECT x FROM (SELECT 1 AS x) AS d -> 1',
    'SELECT id, v FROM t WHERE id = 1 FOR UPDATE -> 1,10',
    'SET @x = 1',
    'SAVEPOINT s',
    'UPDATE t SET v = 21 WHERE id = 9 -> 0',
  ])('%s', (first) => {
    expect(found(first)).toEqual([]);
  });
});

describe('needs no table, and thus no snapshot, of engines that take it with the first statement:', () => {
  const found = (first: string, seen: string) => {
    const text = `
      T1: BEGIN
      T1: ${first}
      T2: UPDATE t SET v = 11 WHERE id = 1 -> 1
      T1: SELECT id, v FROM t -> ${seen}
      T1: COMMIT`;
    const engines = [
      ['sqlite:serializable+wal', 'sqlite'],
      ['turso:serializable+wal', 'sqlite'],
      ['duckdb:snapshot', 'duckdb'],
      ['hsqldb:repeatable-read+mvcc', 'postgres'],
    ] as const;
    return engines.flatMap(([id, dialect]) =>
      verifyMechanism(story(text, { dialect }), findContract(id)!).findings.map(({ kind }) => kind),
    );
  };

  it.each([
    'SELECT 1 -> 1',
    'SELECT 1 + 1 AS two -> 2',
    'SELECT x FROM (SELECT 1 AS x) AS d -> 1',
    'WITH d AS (SELECT 1 AS x) SELECT x FROM d -> 1',
    'SELECT x FROM (VALUES (1)) AS d (x) -> 1',
    'SELECT x FROM generate_series(1, 1) AS d (x) -> 1',
  ])('%s', (first) => {
    expect(found(first, '1,11 | 2,20')).toEqual([]);
    expect(found(first, '1,10 | 2,20')).toEqual([]);
  });

  it.each([
    'SELECT id FROM t WHERE 1 = 0 -> nothing',
    'SELECT COUNT(*) FROM t -> 2',
    'DELETE FROM t WHERE id = 9 -> 0',
  ])('but not %s', (first) => {
    expect(found(first, '1,11 | 2,20')).toHaveLength(4);
  });
});

describe('must have looked:', () => {
  it.each([
    'SELECT id, v FROM t -> 1,10 | 2,20',
    'SELECT id, v FROM t WHERE id = 1 -> 1,10',
    'SELECT id, v FROM t WHERE v = 99 -> nothing',
    'SELECT id, v FROM t WHERE v <= 0 -> nothing',
    'SELECT id, v FROM t WHERE v < 5 -> nothing',
    'SELECT id FROM t WHERE id = 1 AND v = 10 -> 1',
    'SELECT COUNT(*) FROM t -> 2',
    'SELECT COUNT(*) FROM t WHERE v > 15 -> 1',
    'SELECT MAX(v) FROM t WHERE id = 9 -> NULL',
    'SELECT id FROM t ORDER BY v DESC LIMIT 1 -> 2',
    'SELECT v + 1 FROM t WHERE id = 1 -> 11',
  ])('%s', (first) => {
    expect(found(first)).toEqual(['post-snapshot-read', 'post-snapshot-read']);
  });
});
