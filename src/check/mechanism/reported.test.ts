import { describe, expect, it } from 'vitest';
import { findContract } from '../../contracts/index.js';
import { explain } from '../explain.js';
import { story } from './story.case.js';
import { verifyMechanism } from './verify.js';

const reported = 'mariadb:repeatable-read+reported';
const twoTables = [
  'CREATE TABLE t0 (id INT PRIMARY KEY, vkey INT)',
  'INSERT INTO t0 VALUES (1, 5), (2, 6)',
  'CREATE TABLE t1 (id INT PRIMARY KEY, c0 INT)',
  'INSERT INTO t1 VALUES (1, 5), (2, 100)',
];

function verify(text: string, setup?: readonly string[], id = reported) {
  return verifyMechanism(story(text, { dialect: 'mysql', ...(setup && { setup }) }), findContract(id)!)
    .findings;
}

const kinds = (text: string, setup?: readonly string[], id = reported) =>
  verify(text, setup, id).map(({ kind, clause, operations }) => [kind, clause, operations[0]?.index]);

describe('rows that everybody has deleted', () => {
  const stale = `
    T2: BEGIN
    T2: SELECT id, v FROM t -> 1,10 | 2,20
    T1: DELETE FROM t -> 2
    T2: DELETE FROM t -> 0
    T2: SELECT id, v FROM t -> 1,10 | 2,20
    T2: COMMIT`;

  it('are seen no more: one finding, with its witnesses, rows and reports (MySQL #105670)', () => {
    const [finding, ...more] = verify(stale);
    expect(more).toEqual([]);
    expect(finding).toMatchObject({
      kind: 'own-delete-missed',
      clause: 'ownDeletesHide true',
      contract: reported,
      certainty: 'proved',
      versions: [
        { operation: 4, object: 't/1', seen: { as: 'values', text: '(1, 10)' }, allowed: [{ as: 'absent' }] },
        { operation: 4, object: 't/2', seen: { as: 'values', text: '(2, 20)' }, allowed: [{ as: 'absent' }] },
      ],
    });
    expect(finding!.operations.map(({ index }) => index)).toEqual([4, 3, 2, 1]);
    expect(explain(finding!)).toMatchInlineSnapshot(`
      "T2 ran operation 4 (SELECT id, v FROM t).
      T1 had deleted t/1 with operation 2 (DELETE FROM t) and committed in [1020, 1025]: the newest committed state has no such row.
      After that T2 deleted it too: its snapshot, taken by operation 1 (SELECT id, v FROM t), has t/1 as (1, 10), and the condition of operation 3 (DELETE FROM t) selects it there.
      Under mariadb:repeatable-read+reported a row that both have deleted is gone for T2: neither the newest state nor its snapshot, less what it deleted itself, has it. The same holds for t/2.
      The manual allows this (mariadb:repeatable-read); it was reported as a defect: MySQL bug #105670 <https://bugs.mysql.com/bug.php?id=105670>; MySQL bug #107887 <https://bugs.mysql.com/bug.php?id=107887>.
      However, it returned (1, 10), (2, 20)."
    `);
  });

  it('may be seen as far as the manual goes', () => {
    expect(kinds(stale, undefined, 'mariadb:repeatable-read')).toEqual([]);
  });

  it('are not seen by a database that hides them', () => {
    expect(kinds(stale.replace(/-> 1,10 \| 2,20\n {4}T2: COMMIT/, '-> nothing\n    T2: COMMIT'))).toEqual([]);
  });

  it('are seen neither by number nor in aggregates', () => {
    const asBag = stale.replaceAll('id, v', 'v').replaceAll('1,10 | 2,20', '10 | 20');
    expect(kinds(asBag)).toEqual([['own-delete-missed', 'ownDeletesHide true', 4]]);
    const asMaximum = stale.replace(
      /SELECT id, v FROM t -> 1,10 \| 2,20\n {4}T2: C/,
      'SELECT MAX(v) FROM t -> 20\n    T2: C',
    );
    expect(kinds(asMaximum)).toEqual([['own-delete-missed', 'ownDeletesHide true', 4]]);
    const wrongMaximum = asMaximum.replace('-> 20\n', '-> 21\n');
    expect(kinds(wrongMaximum)).toEqual([['wrong-result', 'pivot first-read', 4]]);
  });

  it('come back with ROLLBACK TO, and with an own INSERT', () => {
    const back = (line: string, seen: string) => `
      T2: BEGIN
      T2: SELECT id, v FROM t -> 1,10 | 2,20
      T1: DELETE FROM t WHERE id = 1 -> 1
      T2: SAVEPOINT a
      T2: DELETE FROM t WHERE id = 1 -> 0
      T2: ${line}
      T2: SELECT id, v FROM t -> ${seen}
      T2: COMMIT`;
    expect(kinds(back('ROLLBACK TO SAVEPOINT a', '1,10 | 2,20'))).toEqual([]);
    expect(kinds(back('INSERT INTO t VALUES (1, 11) -> 1', '1,11 | 2,20'))).toEqual([]);
    expect(kinds(back('INSERT INTO t VALUES (1, 11) -> 1', '2,20'))).toEqual([
      ['own-write-missed', 'ownWrites', 6],
    ]);
  });

  it.each([
    [
      'the other deleted another row',
      'DELETE FROM t WHERE id = 2 -> 1',
      'DELETE FROM t WHERE id = 2 -> 0',
      '1,10',
    ],
    [
      'the row was changed, not deleted',
      'UPDATE t SET v = 11 WHERE id = 1 -> 1',
      'DELETE FROM t WHERE v = 10 -> 0',
      '1,10 | 2,20',
    ],
    [
      'the own DELETE did not select it',
      'DELETE FROM t WHERE id = 1 -> 1',
      'DELETE FROM t WHERE v > 15 -> 1',
      '1,10',
    ],
    [
      'it was an own UPDATE that met nothing',
      'DELETE FROM t WHERE id = 1 -> 1',
      'UPDATE t SET v = 5 WHERE id = 1 -> 0',
      '1,10 | 2,20',
    ],
  ])('go on to be seen where %s', (_, other, own, seen) => {
    const text = `
      T2: BEGIN
      T2: SELECT id, v FROM t -> 1,10 | 2,20
      T1: ${other}
      T2: ${own}
      T2: SELECT id, v FROM t -> ${seen}
      T2: COMMIT`;
    expect(kinds(text)).toEqual([]);
  });

  it('are seen no more after an own DELETE by key that waited for the other and met nothing', () => {
    const waited = (other: string, seen: string) => `
        [10,11] T2: BEGIN
        [12,13] T2: SELECT id, v FROM t -> 1,10 | 2,20
        [14,15] T1: BEGIN
        [20,25] T1: ${other}
        [30,50] T2: DELETE FROM t WHERE id = 1 -> 0
        [40,45] T1: COMMIT
        [60,61] T2: SELECT id, v FROM t -> ${seen}
        [70,71] T2: COMMIT`;
    const deleted = 'DELETE FROM t WHERE id = 1 -> 1';
    expect(kinds(waited(deleted, '1,10 | 2,20'))).toEqual([['own-delete-missed', 'ownDeletesHide true', 6]]);
    expect(kinds(waited(deleted, '2,20'))).toEqual([]);
  });

  it('may or may not be seen where times do not tell who deleted first, and the own DELETE may have passed the row by', () => {
    for (const seen of ['1,10 | 2,20', '2,20']) {
      const text = `
        [10,11] T2: BEGIN
        [12,13] T2: SELECT id, v FROM t -> 1,10 | 2,20
        [20,40] T1: DELETE FROM t WHERE id = 1 -> 1
        [30,50] T2: DELETE FROM t WHERE v = 10 -> 0
        [60,61] T2: SELECT id, v FROM t -> ${seen}
        [70,71] T2: COMMIT`;
      expect(kinds(text), seen).toEqual([]);
    }
  });

  it('are nothing to transactions that took no snapshot before', () => {
    const text = `
      T2: BEGIN
      T1: DELETE FROM t WHERE id = 1 -> 1
      T2: DELETE FROM t WHERE id = 1 -> 0
      T1: INSERT INTO t VALUES (1, 12) -> 1
      T2: SELECT id, v FROM t -> 1,12 | 2,20
      T2: COMMIT`;
    expect(kinds(text)).toEqual([]);
  });
});

describe('conditions with subqueries', () => {
  const figure1 = (change: string, write: string) => `
    T1: BEGIN
    T1: SELECT id, c0 FROM t1 WHERE c0 <= (SELECT MIN(vkey) FROM t0) -> 1,5
    T2: ${change}
    T1: SELECT id, c0 FROM t1 WHERE c0 <= (SELECT MIN(vkey) FROM t0) -> 1,5
    T1: ${write}
    T1: COMMIT`;
  const insert = 'INSERT INTO t0 VALUES (3, 1) -> 1';
  const update = 'UPDATE t1 SET c0 = 4 WHERE c0 <= (SELECT MIN(vkey) FROM t0)';

  it('select for a write what they select for a read: one finding, with its witnesses (TxCheck, Figure 1)', () => {
    const [finding, ...more] = verify(figure1(insert, `${update} -> 0`), twoTables);
    expect(more).toEqual([]);
    expect(finding).toMatchObject({
      kind: 'condition-mismatch',
      clause: 'subqueriesSee snapshot',
      contract: reported,
      certainty: 'proved',
      versions: [
        {
          operation: 4,
          object: 't1/1',
          seen: { as: 'matched', count: 0 },
          allowed: [{ as: 'matched', count: 1 }],
        },
      ],
    });
    expect(finding!.operations.map(({ index }) => index)).toEqual([4, 2, 1]);
    expect(explain(finding!)).toMatchInlineSnapshot(`
      "T1 ran operation 4 (UPDATE t1 SET c0 = 4 WHERE c0 <= (SELECT MIN(vkey) FROM t0)), which reported 0 rows.
      Its snapshot was taken by operation 1 (SELECT id, c0 FROM t1 WHERE c0 <= (SELECT MIN(vkey) FROM t0)); under mariadb:repeatable-read+reported the subqueries of its condition read that snapshot and what it wrote itself, as its SELECTs do.
      After the snapshot t0/3 became (3, 1) by T2, committed in [1020, 1025]; the subqueries must not see that.
      So the condition selects t1/1 (1, 5), and not t1/2 (2, 100). Nobody changed these rows since the snapshot, so reading current rows would give the same.
      The manual allows this (mariadb:repeatable-read); it was reported as a defect: Z.-M. Jiang et al., Detecting Transactional Bugs in Database Engines via Graph-Based Oracle Construction (OSDI 2023), Figure 1: a bug confirmed by MySQL <https://www.usenix.org/conference/osdi23/presentation/jiang>.
      However, 0 rows matched instead of 1: the condition did not see what the rest of the transaction sees."
    `);
  });

  it('may differ as far as the manual goes', () => {
    expect(kinds(figure1(insert, `${update} -> 0`), twoTables, 'mariadb:repeatable-read')).toEqual([]);
  });

  it('are right when they see the snapshot', () => {
    expect(kinds(figure1(insert, `${update} -> 1`), twoTables)).toEqual([]);
  });

  it('are wrong with too many rows, too, and for DELETE', () => {
    const wider = 'UPDATE t0 SET vkey = 200 -> 2';
    const remove = 'DELETE FROM t1 WHERE c0 <= (SELECT MIN(vkey) FROM t0)';
    const expected = [['condition-mismatch', 'subqueriesSee snapshot', 4]];
    expect(kinds(figure1(wider, `${update} -> 2`), twoTables)).toEqual(expected);
    expect(kinds(figure1(wider, `${remove} -> 2`), twoTables)).toEqual(expected);
    expect(kinds(figure1(wider, `${remove} -> 1`), twoTables)).toEqual([]);
  });

  it('blame the change that matters', () => {
    const text = `
      T1: BEGIN
      T1: SELECT id FROM t1 -> 1 | 2
      T2: INSERT INTO t0 VALUES (3, 1) -> 1
      T3: UPDATE t0 SET vkey = 7 WHERE id = 2 -> 1
      T1: ${update} -> 0
      T1: COMMIT`;
    expect(verify(text, twoTables)[0]!.operations.map(({ index }) => index)).toEqual([4, 2, 1]);
  });

  it.each([
    [
      'rows that another transaction changed: writes see current rows',
      `
      T1: BEGIN
      T1: SELECT id, c0 FROM t1 -> 1,5 | 2,100
      T2: UPDATE t1 SET c0 = 50 WHERE id = 1 -> 1
      T2: INSERT INTO t0 VALUES (3, 1) -> 1
      T1: ${update} -> 0
      T1: COMMIT`,
    ],
    [
      'writes before the snapshot',
      `
      T1: BEGIN
      T2: INSERT INTO t0 VALUES (3, 1) -> 1
      T1: ${update} -> 0
      T1: SELECT id, c0 FROM t1 -> 1,5 | 2,100
      T1: COMMIT`,
    ],
    [
      'what the transaction wrote itself',
      `
      T1: BEGIN
      T1: SELECT id, c0 FROM t1 -> 1,5 | 2,100
      T2: UPDATE t0 SET vkey = 9 WHERE id = 2 -> 1
      T1: INSERT INTO t0 VALUES (3, 1) -> 1
      T1: ${update} -> 0
      T1: COMMIT`,
    ],
    [
      'rows that appeared since',
      `
      T1: BEGIN
      T1: SELECT id, c0 FROM t1 -> 1,5 | 2,100
      T2: INSERT INTO t1 VALUES (3, 3) -> 1
      T2: INSERT INTO t0 VALUES (3, 4) -> 1
      T1: ${update} -> 2
      T1: COMMIT`,
    ],
  ])('do not count for %s', (_, text) => {
    expect(kinds(text, twoTables)).toEqual([]);
  });
});

describe('what InnoDB allows and nobody reported', () => {
  it.each([
    [
      'a lost update',
      `
      T2: BEGIN
      T2: SELECT id, v FROM t WHERE id = 1 -> 1,10
      T1: UPDATE t SET v = 11 WHERE id = 1 -> 1
      T2: UPDATE t SET v = 12 WHERE id = 1 -> 1
      T2: COMMIT
      T1: SELECT id, v FROM t -> 1,12 | 2,20`,
    ],
    [
      'an increment of a changed row',
      `
      T2: BEGIN
      T2: SELECT id, v FROM t WHERE id = 1 -> 1,10
      T1: UPDATE t SET v = 11 WHERE id = 1 -> 1
      T2: UPDATE t SET v = v + 1 WHERE id = 1 -> 1
      T2: SELECT id, v FROM t -> 1,12 | 2,20
      T2: COMMIT`,
    ],
    [
      'a write skew',
      `
      T1: BEGIN
      T2: BEGIN
      T1: SELECT id, v FROM t -> 1,10 | 2,20
      T2: SELECT id, v FROM t -> 1,10 | 2,20
      T1: UPDATE t SET v = 11 WHERE id = 1 -> 1
      T2: UPDATE t SET v = 21 WHERE id = 2 -> 1
      T1: COMMIT
      T2: COMMIT`,
    ],
    [
      'a DELETE by a value that changed',
      `
      T2: BEGIN
      T2: SELECT id, v FROM t -> 1,10 | 2,20
      T1: UPDATE t SET v = v + 10 -> 2
      T2: DELETE FROM t WHERE v = 20 -> 1
      T2: SELECT id, v FROM t -> 2,20
      T2: COMMIT`,
    ],
  ])('%s is no finding', (_, text) => {
    expect(kinds(text)).toEqual([]);
  });
});

describe('an own write that a query over whole tables misses', () => {
  it('is named after the row it wrote', () => {
    const text = `
      T2: BEGIN
      T2: SELECT id, v FROM t -> 1,10 | 2,20
      T1: UPDATE t SET v = 99 WHERE id = 1 -> 1
      T2: UPDATE t SET v = 99 WHERE id = 1 -> 1
      T2: SELECT MAX(v) FROM t -> 20
      T2: COMMIT`;
    expect(verify(text)).toMatchObject([
      {
        kind: 'own-write-missed',
        clause: 'ownWrites',
        versions: [{ object: 't/1', seen: { text: '(20)' }, allowed: [{ text: '(99)' }] }],
      },
    ]);
    expect(kinds(text.replace('-> 20\n', '-> 21\n'))).toEqual([['wrong-result', 'pivot first-read', 4]]);
  });
});
