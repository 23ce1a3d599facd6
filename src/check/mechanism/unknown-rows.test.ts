import { expect, it } from 'vitest';
import { findContract } from '../../contracts/index.js';
import { verifyMechanism } from './index.js';
import { story } from './story.case.js';

it('a write may have met rows of a table whose first rows are not known', () => {
  const setup = ['CREATE TABLE t (id INT PRIMARY KEY, v INT)', 'INSERT INTO t SELECT 1, 10 + 0 * RAND()'];
  const text = (write: string) => `
    T1: BEGIN
    T1: SELECT id, v FROM t WHERE id = 99 -> nothing
    T2: ${write}
    T1: SELECT id, v FROM t -> 1,10
    T3: SELECT id, v FROM t -> nothing`;
  const kinds = (write: string) =>
    verifyMechanism(
      story(text(write), { dialect: 'mysql', setup }),
      findContract('mariadb:repeatable-read')!,
    ).findings.map(({ kind }) => kind);
  expect(kinds('DELETE FROM t WHERE v = 10 -> 1')).toEqual([]);
  expect(kinds('DELETE FROM t WHERE v = 11 -> 0')).toEqual(['missing-row']);
});
