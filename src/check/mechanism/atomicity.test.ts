/** Nothing of a failed statement, a rollback or a transaction whose connection was lost is ever seen. */
import { describe, expect, it } from 'vitest';
import { findContract } from '../../contracts/index.js';
import type { History } from '../../histories/index.js';
import type { Dialect } from '../../sql/index.js';
import { story } from './story.case.js';
import { verifyMechanism } from './verify.js';

const setup = [
  'CREATE TABLE t (rid INT, k INT PRIMARY KEY, v INT)',
  'INSERT INTO t VALUES (1, 10, 5), (2, 20, 6)',
];
const before = '1,10,5 | 2,20,6';

function found(history: History, contract = 'postgres:read-committed') {
  return verifyMechanism(history, findContract(contract)!).findings.map(({ kind, clause }) => [kind, clause]);
}

const storyOf = (text: string, dialect: Dialect = 'postgres') => story(text, { dialect, setup });

describe('chained transactions', () => {
  const chained = (after: string) => `
    T1: BEGIN
    T1: UPDATE t SET v = 9 WHERE k = 10 -> 1
    T1: COMMIT AND CHAIN
    T1: UPDATE t SET v = 8 WHERE k = 20 -> 1
    T1: ROLLBACK
    T2: SELECT * FROM t -> ${after}`;

  it('each have an end of their own', () => {
    expect(found(storyOf(chained('1,10,9 | 2,20,6')))).toEqual([]);
    expect(found(storyOf(chained('1,10,9 | 2,20,8')))).toMatchObject([['dirty-read', expect.anything()]]);
    expect(found(storyOf(chained('1,10,5 | 2,20,6')))).toMatchObject([['stale-read', expect.anything()]]);
  });
});

describe('no part is seen of', () => {
  it.each([
    [
      'an INSERT of which one row was refused',
      'T1: INSERT INTO t VALUES (3, 30, 1), (4, 10, 2) -> error duplicate-key',
      `${before} | 3,30,1`,
      'extra-row',
    ],
    [
      'an UPDATE that failed at its second row',
      'T1: UPDATE t SET k = 20, v = 9 -> error duplicate-key',
      '1,10,9 | 2,20,6',
      'wrong-version',
    ],
    [
      'a transaction that was rolled back',
      `T1: BEGIN
       T1: UPDATE t SET v = 9 WHERE k = 10 -> 1
       T1: ROLLBACK`,
      '1,10,9 | 2,20,6',
      'dirty-read',
    ],
  ])('%s', (_, failed, partly, kind) => {
    const read = (rows: string) => storyOf(`${failed}\nT2: SELECT rid, k, v FROM t -> ${rows}`);
    expect(found(read(before))).toEqual([]);
    expect(found(read(partly))).toEqual([[kind, 'pivot statement']]);
  });

  it('a statement that failed in a transaction which goes on', () => {
    const read = (rows: string) =>
      storyOf(
        `T1: BEGIN
         T1: INSERT INTO t VALUES (3, 30, 1), (4, 10, 2) -> error duplicate-key
         T1: UPDATE t SET v = 7 WHERE k = 20 -> 1
         T1: COMMIT
         T2: SELECT rid, k, v FROM t -> ${rows}`,
        'mysql',
      );
    expect(found(read('1,10,5 | 2,20,7'), 'mariadb:repeatable-read')).toEqual([]);
    expect(found(read('1,10,5 | 2,20,7 | 3,30,1'), 'mariadb:repeatable-read')).toEqual([
      ['extra-row', 'pivot first-read'],
    ]);
  });

  it('a transaction whose connection was lost before its COMMIT', () => {
    const read = (rows: string) => {
      const history = storyOf(
        `T1: BEGIN
         T1: UPDATE t SET v = 9 WHERE k = 10 -> 1
         T1: UPDATE t SET v = 9 WHERE k = 20 -> error connection-lost
         T2: SELECT rid, k, v FROM t -> ${rows}`,
      );
      // As the recorder writes it down: the statement is undecided, its transaction cannot have been committed.
      const operations = history.operations.map((op) =>
        op.error === undefined ? op : { ...op, outcome: 'unknown' as const, ends: 'rollback' as const },
      );
      return { ...history, operations };
    };
    expect(found(read(before))).toEqual([]);
    expect(found(read('1,10,9 | 2,20,6'))).toEqual([['dirty-read', 'pivot statement']]);
  });
});
