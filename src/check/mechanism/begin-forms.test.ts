/** Where the snapshot is taken, by how the transaction began. */
import { expect, it } from 'vitest';
import { findContract } from '../../contracts/index.js';
import type { Dialect } from '../../sql/index.js';
import { story } from './story.case.js';
import { verifyMechanism } from './verify.js';

const [early, late] = ['1,10 | 2,20', '1,11 | 2,20'];

function kinds(begin: string, seen: string, contract: string, dialect: Dialect) {
  const history = story(
    `T1: ${begin}
     T2: UPDATE t SET v = 11 WHERE id = 1 -> 1
     T1: SELECT id, v FROM t -> ${seen}
     T1: COMMIT`,
    { dialect },
  );
  return verifyMechanism(history, findContract(contract)!).findings.map(({ kind }) => kind);
}

const mariadb = ['mariadb:repeatable-read', 'mysql'] as const;
const postgres = ['postgres:repeatable-read', 'postgres'] as const;
const serializable = ['postgres:serializable', 'postgres'] as const;
const turso = ['turso:snapshot+mvcc', 'sqlite'] as const;
const sqlite = ['sqlite:serializable+wal', 'sqlite'] as const;

it.each([
  ['BEGIN', mariadb, [], ['stale-read']],
  ['START TRANSACTION READ ONLY', mariadb, [], ['stale-read']],
  ['START TRANSACTION WITH CONSISTENT SNAPSHOT', mariadb, ['post-snapshot-read'], []],
  ['BEGIN READ ONLY', postgres, [], ['stale-read']],
  ['BEGIN READ WRITE', postgres, [], ['stale-read']],
  ['BEGIN READ ONLY, DEFERRABLE', serializable, [], ['stale-read']],
  ['BEGIN CONCURRENT', turso, ['post-snapshot-read'], []],
  // SQLite's forms take it with the first statement; of what MVCC does in between no more is said.
  ['BEGIN', turso, [], []],
  ['BEGIN DEFERRED', turso, [], []],
  ['BEGIN', sqlite, [], ['stale-read']],
  ['BEGIN DEFERRED', sqlite, [], ['stale-read']],
] as const)('%s', (begin, [contract, dialect], ofLate, ofEarly) => {
  expect(kinds(begin, late!, contract, dialect)).toEqual(ofLate);
  expect(kinds(begin, early!, contract, dialect)).toEqual(ofEarly);
});

it('a statement that fails takes no snapshot after a plain BEGIN of Turso’s MVCC mode', () => {
  const history = story(
    `T1: BEGIN
     T2: BEGIN
     T1: UPDATE t SET v = 11 WHERE id = 1 -> 1
     T2: UPDATE t SET v = 12 WHERE id = 2 -> error busy
     T1: COMMIT
     T2: UPDATE t SET v = 13 WHERE id = 1 -> 1
     T2: COMMIT`,
    { dialect: 'sqlite' },
  );
  expect(verifyMechanism(history, findContract('turso:snapshot+mvcc')!).findings).toEqual([]);
});
