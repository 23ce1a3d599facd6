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

it.each([
  'postgres:read-committed',
  'postgres:repeatable-read',
  'h2:repeatable-read',
  'mariadb:repeatable-read',
])('%s: a write may have met rows that a query inserts at the same time', (contract) => {
  const kinds = (write: string, seen: string) => {
    const text = `
        [990,995] T2: BEGIN
        [1000,1010] T1: INSERT INTO t SELECT id + 100, v FROM t WHERE id = 1 -> 1
        [1002,1008] T2: ${write}
        [1012,1018] T2: SELECT id, v FROM t -> ${seen}
        [1020,1030] T2: COMMIT
        [1040,1050] T3: SELECT id, v FROM t -> ${seen}`;
    return verifyMechanism(story(text), findContract(contract)!).findings.map(({ kind }) => kind);
  };
  expect(kinds('UPDATE t SET v = 9 -> 3', '1,9 | 2,9 | 101,9')).toEqual([]);
  expect(kinds('DELETE FROM t -> 3', 'nothing')).toEqual([]);
});

it('a write that runs beside an UPDATE meets no rows that are not known', () => {
  const text = `
    [1000,1010] T1: UPDATE t SET v = v + 1 WHERE v >= 20 -> 1
    [1002,1008] T2: UPDATE t SET v = 30 WHERE v = 20 -> 1
    [1040,1050] T3: SELECT id, v FROM t -> 1,10 | 2,31`;
  const { checked, findings } = verifyMechanism(story(text), findContract('postgres:read-committed')!);
  expect({ reads: checked.reads, findings }).toEqual({ reads: 1, findings: [] });
});
