import { expect, it } from 'vitest';
import { findContract } from '../../contracts/index.js';
import { story } from './story.case.js';
import { verifyMechanism } from './verify.js';

/** T2 looks for a row that T1 has changed so that it does not match, and has not committed. */
const passedBy = (end: string) => `
  T1: BEGIN
  T1: UPDATE t SET v = 11 WHERE id = 1 -> 1
  T2: BEGIN
  T2: DELETE FROM t WHERE v = 10 -> 0
  T1: ${end}
  T2: COMMIT
  T2: SELECT id, v FROM t -> ${end === 'COMMIT' ? '1,11' : '1,10'} | 2,20`;

it.each(['COMMIT', 'ROLLBACK'])(
  'a write may pass by what others have changed, where it searches among that (%s)',
  (end) => {
    const kinds = (id: string) =>
      verifyMechanism(story(passedBy(end)), findContract(id)!).findings.map(({ kind }) => kind);
    expect(kinds('h2:read-uncommitted')).toEqual([]);
    expect(kinds('h2:read-committed')).toEqual(['write-missed-row']);
  },
);
