import { expect, it } from 'vitest';
import { findContract } from '../../contracts/index.js';
import { verifyMechanism } from './index.js';
import { story } from './story.case.js';

const kinds = (text: string, contract: string) =>
  verifyMechanism(story(text), findContract(contract)!).findings.map(({ kind }) => kind);

const second = (first: string) => `
  T1: BEGIN
  T1: ${first}
  T2: UPDATE t SET v = 12 WHERE id = 1 -> 1
  T1: ROLLBACK
`;

it('an update to the same values holds no row where conflicts fail at once, and does where they wait', () => {
  const same = second('UPDATE t SET v = 10 WHERE id = 1 -> 1');
  expect(kinds(same, 'duckdb:snapshot')).toEqual([]);
  expect(kinds(second('UPDATE t SET v = v WHERE id = 1 -> 1'), 'duckdb:snapshot')).toEqual([]);
  expect(kinds(same, 'postgres:repeatable-read')).toEqual(['lock-violated']);
  expect(kinds(second('UPDATE t SET v = 11 WHERE id = 1 -> 1'), 'duckdb:snapshot')).toEqual([
    'lock-violated',
  ]);
  expect(kinds(second('DELETE FROM t WHERE id = 1 -> 1'), 'duckdb:snapshot')).toEqual(['lock-violated']);
});

it('such an update takes nothing back from what overtook it', () => {
  const overtaken = (first: string, other: string, seen: string) => `
    T1: BEGIN
    T1: ${first}
    T2: ${other}
    T1: COMMIT
    T1: SELECT id, v FROM t WHERE id = 1 -> ${seen}
  `;
  const quiet = 'UPDATE t SET v = 10 WHERE id = 1 -> 1';
  const update = 'UPDATE t SET v = 12 WHERE id = 1 -> 1';
  const remove = 'DELETE FROM t WHERE id = 1 -> 1';
  expect(kinds(overtaken(quiet, update, '1,12'), 'duckdb:snapshot')).toEqual([]);
  expect(kinds(overtaken(quiet, remove, 'nothing'), 'duckdb:snapshot')).toEqual([]);
  expect(kinds(overtaken(quiet, remove, '1,13'), 'duckdb:snapshot')).not.toEqual([]);
  const loud = 'UPDATE t SET v = 11 WHERE id = 1 -> 1';
  expect(kinds(overtaken(loud, remove, 'nothing'), 'duckdb:snapshot')).toContain('missing-row');
});
