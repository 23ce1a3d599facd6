import { expect, it } from 'vitest';
import { findContract } from '../../contracts/index.js';
import { verifyMechanism } from './index.js';
import { story } from './story.case.js';

it('a savepoint that is not known may have taken back anything, also from who wrote it', () => {
  const text = `
    T1: BEGIN
    T1: UPDATE t SET v = 11 WHERE id = 1 -> 1
    T1: ROLLBACK TO SAVEPOINT s
    T1: SELECT id, v FROM t WHERE id = 1 -> 1,10
    T2: UPDATE t SET v = 12 WHERE id = 1 -> 1
    T1: SELECT id, v FROM t WHERE id = 1 -> 1,12
    T1: COMMIT`;
  const { findings } = verifyMechanism(story(text), findContract('postgres:read-committed')!);
  expect(findings.map(({ kind }) => kind).filter((kind) => kind !== 'lock-violated')).toEqual([]);
});
