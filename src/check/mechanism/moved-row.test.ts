/** Rows whose key is changed: what stands at a key hides, from its own writer, whatever stood there before. */
import { describe, expect, it } from 'vitest';
import { findContract } from '../../contracts/index.js';
import { verifyMechanism } from './index.js';
import { story } from './story.case.js';

const setup = ['CREATE TABLE t (a INT, k INT PRIMARY KEY)', 'INSERT INTO t VALUES (2, 1), (0, 2)'];

function judge(text: string, contract: string, tables: readonly string[] = setup) {
  const { findings, skipped } = verifyMechanism(
    story(text, { dialect: 'mysql', setup: tables }),
    findContract(contract)!,
  );
  return { kinds: findings.map(({ kind }) => kind), skipped: skipped.map(({ reason }) => reason) };
}

const apart = [setup[0]!.replace('a INT', 'rid INT'), setup[1]!];

const current = ['tidb:repeatable-read', 'mysql:repeatable-read', 'mariadb:repeatable-read'];

describe.each(current)('%s', (contract) => {
  const moved = (write: string, seen: string) => `
    T2: BEGIN
    T2: SELECT * FROM t -> 2,1 | 0,2
    T1: UPDATE t SET k = 0 WHERE k = 1 -> 1
    T2: ${write}
    T2: SELECT * FROM t -> ${seen}
    T2: COMMIT
    T3: SELECT * FROM t -> 2,0 | 0,1`;

  it.each([
    'UPDATE t SET k = 1 WHERE k = 2 -> 1',
    'INSERT INTO t VALUES (9, 2) ON DUPLICATE KEY UPDATE k = 1 -> 2',
  ])('%s takes the place of a row that has left, also in an older snapshot', (write) => {
    const { kinds, skipped } = judge(moved(write, '0,1'), contract);
    expect(kinds).toEqual([]);
    expect(skipped.join()).toContain('a row that takes the place of another one');
    // Others are judged as before.
    expect(judge(moved(write, '0,1').replace('-> 2,0 | 0,1', '-> 2,0'), contract).kinds).not.toEqual([]);
  });

  it('a row that moves to a free key hides none, and is not there twice', () => {
    const free = (seen: string) =>
      moved('UPDATE t SET k = 5 WHERE k = 2 -> 1', seen).replace('-> 2,0 | 0,1', '-> 2,0 | 0,5');
    expect(judge(free('2,1 | 0,5'), contract)).toEqual({ kinds: [], skipped: [] });
    expect(judge(free('0,5'), contract).kinds).toEqual(['missing-row']);
    expect(judge(free('2,1 | 0,2 | 0,5'), contract).kinds).not.toEqual([]);
  });

  it('rows that one statement moves out of each other’s way stay judged', () => {
    const shifted = (seen: string) => `
      T2: BEGIN
      T2: UPDATE t SET k = k + 1 ORDER BY k DESC -> 2
      T2: SELECT * FROM t -> ${seen}
      T2: COMMIT`;
    expect(judge(shifted('2,2 | 0,3'), contract).kinds).toEqual([]);
    const plain = shifted('2,2').replace(' ORDER BY k DESC', '');
    expect(judge(plain, contract).kinds).not.toEqual([]);
  });

  it('a row that another transaction has moved is seen once after an own update (TiDB #48960, MySQL #113228)', () => {
    const twice = `
      T1: BEGIN
      T1: SELECT * FROM t -> 2,1 | 0,2
      T2: UPDATE t SET k = 5 WHERE a = 2 -> 1
      T1: UPDATE t SET k = 7 WHERE a = 2 -> 1
      T1: SELECT * FROM t -> 2,1 | 0,2 | 2,7
      T1: ROLLBACK`;
    expect(judge(twice, contract).kinds).toContain('own-write-missed');
  });

  it('a row that others have moved to a key hides what stood there, though the write assigns no key', () => {
    const met = (seen: string) => `
      T3: BEGIN
      T3: SELECT * FROM t -> 2,1 | 0,2
      T1: UPDATE t SET k = 0 WHERE k = 1 -> 1
      T2: UPDATE t SET k = 1 WHERE k = 2 -> 1
      T3: UPDATE t SET a = 7 WHERE k = 1 -> 1
      T3: SELECT * FROM t -> ${seen}
      T3: COMMIT`;
    expect(judge(met('7,1'), contract).kinds).toEqual([]);
    // Where it cannot be told which row was met, too: the second move is answered only afterwards.
    const late = met('7,1').replace('T2: UPDATE', '[1032,1065] T2: UPDATE');
    expect(judge(late, contract).kinds).toEqual([]);
  });

  it('a version that only an older snapshot has is not hidden', () => {
    const moved = (seen: string) => `
      T8: BEGIN
      T8: SELECT * FROM t -> 2,1 | 0,2
      T1: UPDATE t SET k = 0 WHERE k = 1 -> 1
      T2: UPDATE t SET k = 1 WHERE k = 2 -> 1
      T3: BEGIN
      T3: SELECT * FROM t -> 2,0 | 0,1
      T3: UPDATE t SET a = 7 WHERE k = 1 -> 1
      T3: SELECT * FROM t -> ${seen}
      T3: COMMIT`;
    expect(judge(moved('2,0 | 7,1'), contract)).toEqual({ kinds: [], skipped: [] });
    expect(judge(moved('2,0 | 0,1'), contract).kinds).toEqual(['own-write-missed']);
  });

  it.each([
    ['INT', '1', '2'],
    ['DATE', "'2020-01-01'", "'2020-01-02'"],
    ['DECIMAL(5,2)', '1.5', '2.5'],
    ['VARCHAR(20)', "'a b'", "'c d'"],
  ])('with a key of type %s, a write that moves no row hides none', (type, first, second) => {
    const keyed = [
      `CREATE TABLE t (k ${type} PRIMARY KEY, v INT)`,
      `INSERT INTO t VALUES (${first}, 10), (${second}, 20)`,
    ];
    const own = (seen: string) => `
      T9: UPDATE t SET k = ${first} WHERE k = ${first} -> 1
      T1: BEGIN
      T1: UPDATE t SET v = 5 WHERE v = 10 -> 1
      T1: SELECT v FROM t -> ${seen}
      T1: COMMIT`;
    expect(judge(own('5 | 20'), contract, keyed)).toEqual({ kinds: [], skipped: [] });
    expect(judge(own('10 | 20'), contract, keyed).kinds).toEqual(['own-write-missed']);
  });

  describe('the place that a write leaves, or deletes at', () => {
    const named = [
      'CREATE TABLE t (rid INT, k INT PRIMARY KEY, v INT)',
      'INSERT INTO t VALUES (1, 1, 10), (2, 2, 20)',
    ];
    const left = (others: readonly string[], write: string, seen: string) => `
      T2: BEGIN
      T2: SELECT * FROM t -> 1,1,10 | 2,2,20
      ${others.join('\n')}
      T2: ${write}
      T2: SELECT * FROM t -> ${seen}
      T2: COMMIT`;
    const removed = 'T1: DELETE FROM t WHERE k = 1 -> 1';
    const away = 'T1: UPDATE t SET k = 9 WHERE k = 1 -> 1';
    const put = 'T3: INSERT INTO t VALUES (3, 1, 30) -> 1';
    const moved = 'T3: UPDATE t SET k = 1 WHERE k = 2 -> 1';

    it.each([
      [[removed, put], 'DELETE FROM t WHERE k = 1 -> 1', '2,2,20'],
      [[away, put], 'UPDATE t SET k = 7 WHERE k = 1 -> 1', '2,2,20 | 3,7,30'],
      [
        [removed, put],
        'INSERT INTO t VALUES (9, 1, 5) ON DUPLICATE KEY UPDATE k = 7 -> 2',
        '2,2,20 | 3,7,30',
      ],
      // Another row of the snapshot is deleted there: where it stood then, the snapshot still has it.
      [[removed, moved], 'DELETE FROM t WHERE k = 1 -> 1', '2,2,20'],
    ])('after %j, %s hides what stood there', (others, write, seen) => {
      expect(judge(left(others, write, seen), contract, named).kinds).toEqual([]);
    });

    it('is found where its row may be there only in part', () => {
      const late = `[1032,1075] ${put}`;
      const early = left([removed, late], 'DELETE FROM t WHERE k = 1 -> 1', '2,2,20');
      expect(judge(early, contract, named).kinds).toEqual([]);
    });

    it('hides nothing where the snapshot has the row there', () => {
      const own = left([], 'DELETE FROM t WHERE k = 1 -> 1', '3,2,20');
      expect(judge(own, contract, named).kinds).not.toEqual([]);
      const kept = left([away], 'DELETE FROM t WHERE k = 2 -> 1', '1,1,10');
      expect(judge(kept, contract, named)).toEqual({ kinds: [], skipped: [] });
      expect(judge(kept.replace(/1,1,10(?=\n *T2: COMMIT)/, 'nothing'), contract, named).kinds).toEqual([
        'missing-row',
      ]);
    });

    it('is that of the row that a REPLACE removes, by whichever key', () => {
      const twoKeys = [named[0]!.replace('v INT', 'v INT UNIQUE'), named[1]!];
      const replaced = left([removed, put], 'REPLACE INTO t VALUES (9, 8, 30) -> 1', '2,2,20 | 9,8,30');
      expect(judge(replaced, contract, twoKeys).kinds).toEqual([]);
    });
  });

  it('a row of which nothing is known may stand at any key', () => {
    const tables = [
      'CREATE TABLE t (a INT, k INT PRIMARY KEY, v INT)',
      'INSERT INTO t VALUES (2, 1, 10), (0, 2, 20)',
      'CREATE TABLE u (id INT PRIMARY KEY, w INT)',
      'INSERT INTO u VALUES (1, 8)',
    ];
    const hidden = (seen: string) => `
      T0: UPDATE u SET w = 9 WHERE RAND() < 2 -> 1
      T1: UPDATE t SET v = (SELECT MAX(w) FROM u) WHERE a = 2 -> 1
      T2: BEGIN
      T2: SELECT a FROM t WHERE a = 0 -> 0
      T5: BEGIN
      T5: SELECT a FROM t WHERE a = 0 -> 0
      T4: UPDATE t SET k = 9 WHERE a = 2 -> 1
      T2: INSERT INTO t VALUES (5, 1, 0) -> 1
      T5: SELECT * FROM t -> 2,1,9 | 0,2,20
      T2: SELECT * FROM t -> ${seen}
      T2: COMMIT`;
    expect(judge(hidden('5,1,0 | 0,2,20'), contract, tables).kinds).toEqual([]);
  });

  it.each([
    ['INSERT INTO t VALUES (9, 1) -> 1', ['missing-row']],
    // Whether an upsert found the row that has left is not certain.
    ['INSERT INTO t VALUES (9, 1) ON DUPLICATE KEY UPDATE k = 7 -> 1', []],
  ])('after %s at the key of a row that has left, everybody else is judged', (write, missed) => {
    const put = (others: string) => `
      T2: BEGIN
      T2: SELECT * FROM t -> 2,1 | 0,2
      T1: DELETE FROM t WHERE k = 1 -> 1
      T2: ${write}
      T2: SELECT * FROM t -> 0,2 | 9,1
      T2: COMMIT
      T3: SELECT * FROM t -> ${others}`;
    const { kinds, skipped } = judge(put('0,2 | 9,1'), contract, apart);
    expect(kinds).toEqual([]);
    expect(skipped).toEqual([expect.stringContaining('takes the place of another one')]);
    expect(judge(put('0,2'), contract, apart).kinds).toEqual(missed);
    expect(judge(put('0,2 | 2,1'), contract, apart).kinds).not.toEqual([]);
  });

  it('each transaction that is not judged has its own reason', () => {
    const text = `
      T2: BEGIN
      T2: SELECT * FROM t -> 2,1 | 0,2
      T1: DELETE FROM t WHERE k = 1 -> 1
      T2: INSERT INTO t VALUES (9, 1) -> 1
      T2: COMMIT
      T4: BEGIN
      T4: UPDATE t SET k = k + RAND() WHERE k = 2 -> 1
      T4: SELECT * FROM t -> 0,2 | 9,1
      T4: ROLLBACK`;
    const { skipped } = judge(text, contract, apart);
    expect(skipped.join()).toContain('rows alone');
    expect(skipped.join()).not.toContain('takes the place');
  });

  it.each([
    ['CREATE TABLE t (rid INT, k INT NOT NULL)', 'ALTER TABLE t ADD PRIMARY KEY (k)'],
    ['CREATE TABLE t (rid INT, k INT NOT NULL)', 'ALTER TABLE t ADD UNIQUE (k)'],
    ['CREATE TABLE t (rid INT, k VARCHAR(9), PRIMARY KEY (k(1)))'],
    ['CREATE TABLE t (rid INT PRIMARY KEY, k INT)', 'ALTER TABLE t DROP PRIMARY KEY, ADD PRIMARY KEY (k)'],
  ])('a key that is not known may be taken: %s', (...definitions) => {
    const tables = [...definitions, 'INSERT INTO t VALUES (1, 5), (2, 6)'];
    const taken = (seen: string) => `
      T2: BEGIN
      T2: SELECT * FROM t -> 1,5 | 2,6
      T1: DELETE FROM t WHERE rid = 1 -> 1
      T2: INSERT INTO t VALUES (3, 5) -> 1
      T2: SELECT * FROM t -> ${seen}
      T2: COMMIT`;
    expect(judge(taken('3,5 | 2,6'), contract, tables).kinds).toEqual([]);
    const untouched = taken('1,5').replace(/T2: INSERT.*/, 'T2: DELETE FROM t WHERE rid = 9 -> 0');
    expect(judge(untouched, contract, tables).kinds).toEqual(['missing-row']);
  });

  it('a row whose new key is not known may have moved to any', () => {
    const tables = [...apart, 'CREATE TABLE u (id INT PRIMARY KEY, w INT)', 'INSERT INTO u VALUES (1, 8)'];
    const moved = `
      T0: UPDATE u SET w = 1 WHERE RAND() < 2 -> 1
      T2: BEGIN
      T2: SELECT * FROM t -> 2,1 | 0,2
      T1: DELETE FROM t WHERE k = 1 -> 1
      T2: UPDATE t SET k = (SELECT MAX(w) FROM u) WHERE k = 2 -> 1
      T2: SELECT * FROM t -> 0,1
      T2: COMMIT`;
    expect(judge(moved, contract, tables).kinds).toEqual([]);
  });
});
