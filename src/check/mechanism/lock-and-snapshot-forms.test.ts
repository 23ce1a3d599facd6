/** Snapshots that are taken for each table (H2), and locks that last as long as a row is read (Derby). */
import { describe, expect, it } from 'vitest';
import { findContract } from '../../contracts/index.js';
import { story } from './story.case.js';
import { verifyMechanism } from './verify.js';

const setup = [
  'CREATE TABLE t (id INT PRIMARY KEY, v INT)',
  'INSERT INTO t (id, v) VALUES (1, 10), (2, 20)',
  'CREATE TABLE u (id INT PRIMARY KEY, v INT)',
  'INSERT INTO u (id, v) VALUES (1, 10), (2, 20)',
];
const kinds = (text: string, contract: string) =>
  verifyMechanism(story(text, { setup }), findContract(contract)!).findings.map(({ kind }) => kind);

describe('a snapshot for each table', () => {
  const twoTables = (seen: string) => `
    T1: BEGIN
    T1: SELECT id, v FROM t -> 1,10 | 2,20
    T2: UPDATE u SET v = 11 WHERE id = 1 -> 1
    T1: SELECT id, v FROM u -> ${seen}
    T1: COMMIT`;

  it('shows a table as it is when it is first read', () => {
    expect(kinds(twoTables('1,11 | 2,20'), 'h2:repeatable-read')).toEqual([]);
    expect(kinds(twoTables('1,11 | 2,20'), 'h2:snapshot')).not.toEqual([]);
    expect(kinds(twoTables('1,10 | 2,20'), 'h2:snapshot')).toEqual([]);
  });
});

describe('locks for as long as a row is read', () => {
  const torn = `
    [10,20] T2: BEGIN
    [21,30] T2: UPDATE t SET v = 11 WHERE id = 1 -> 1
    [31,40] T2: UPDATE t SET v = 21 WHERE id = 2 -> 1
    [45,60] T2: COMMIT
    [42,70] T1: SELECT id, v FROM t -> 1,10 | 2,21`;

  it('let one SELECT show rows of two states, which a snapshot for the statement does not', () => {
    expect(kinds(torn, 'derby:read-committed')).toEqual([]);
    expect(kinds(torn, 'h2:read-committed')).not.toEqual([]);
  });

  it('show nothing that is not committed', () => {
    const dirty = `
      T2: BEGIN
      T2: UPDATE t SET v = 11 WHERE id = 1 -> 1
      T1: SELECT id, v FROM t -> 1,11 | 2,20
      T2: ROLLBACK`;
    expect(kinds(dirty, 'derby:read-committed')).not.toEqual([]);
    expect(kinds(dirty, 'derby:read-uncommitted')).toEqual([]);
  });

  it('leave later transactions free to write what was read', () => {
    const overwritten = `
      T1: BEGIN
      T1: SELECT id, v FROM t -> 1,10 | 2,20
      T2: UPDATE t SET v = 11 WHERE id = 1 -> 1
      T1: SELECT id, v FROM t -> 1,11 | 2,20
      T1: COMMIT`;
    expect(kinds(overwritten, 'derby:read-committed')).toEqual([]);
    expect(kinds(overwritten, 'derby:repeatable-read')).not.toEqual([]);
  });
});
