import { expect, it } from 'vitest';
import { findContract } from '../../contracts/index.js';
import { verifyMechanism } from './index.js';
import { story } from './story.case.js';

const kinds = (text: string) =>
  verifyMechanism(story(text), findContract('postgres:repeatable-read')!).findings.map(({ kind }) => kind);

/** T1 has its snapshot, T2 commits 11, and T3 writes without committing. */
const seenAfter = (open: string, seen: string) => `
  T1: BEGIN
  T1: SELECT id, v FROM t WHERE id = 2 -> 2,20
  T2: UPDATE t SET v = 11 WHERE id = 1 -> 1
  T3: BEGIN
  T3: ${open}
  T1: SELECT id, v FROM t WHERE id = 1 -> ${seen}
  T3: ROLLBACK
  T1: COMMIT
`;

it('a value that was committed is not said to be dirty because an open transaction wrote it again', () => {
  expect(kinds(seenAfter('UPDATE t SET v = v WHERE id = 1 -> 1', '1,11'))).toEqual(['post-snapshot-read']);
  expect(kinds(seenAfter('UPDATE t SET v = 12 WHERE id = 1 -> 1', '1,11'))).toEqual(['post-snapshot-read']);
  expect(kinds(seenAfter('UPDATE t SET v = 12 WHERE id = 1 -> 1', '1,12'))).toEqual(['dirty-read']);
});
