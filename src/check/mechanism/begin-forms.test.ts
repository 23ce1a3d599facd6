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

it.each([
  ['BEGIN', mariadb, [], ['stale-read']],
  ['START TRANSACTION READ ONLY', mariadb, [], ['stale-read']],
  ['START TRANSACTION WITH CONSISTENT SNAPSHOT', mariadb, ['post-snapshot-read'], []],
  ['BEGIN READ ONLY', postgres, [], ['stale-read']],
] as const)('%s', (begin, [contract, dialect], ofLate, ofEarly) => {
  expect(kinds(begin, late!, contract, dialect)).toEqual(ofLate);
  expect(kinds(begin, early!, contract, dialect)).toEqual(ofEarly);
});
