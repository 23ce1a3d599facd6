/** Who may hold a row together with whom, from when and until when. */
import { describe, expect, it } from 'vitest';
import { findContract } from '../../contracts/index.js';
import type { Dialect } from '../../sql/index.js';
import { story } from './story.case.js';
import { verifyMechanism } from './verify.js';

function kinds(text: string, id: string, dialect: Dialect = 'postgres'): readonly string[] {
  return verifyMechanism(story(text, { dialect }), findContract(id)!).findings.map(({ kind }) => kind);
}

const rc = 'postgres:read-committed';
const violated = ['lock-violated'];

/** What a statement of T1 on row 1 does to one of T2 that is answered before T1 ends. */
const together = (first: string, second: string) => `
  T1: BEGIN
  T2: BEGIN
  T1: ${first}
  T2: ${second}
  T2: COMMIT
  T1: COMMIT`;

describe('row locks of PostgreSQL', () => {
  // The table of the manual (Explicit Locking: Conflicting Row-Level Locks), strongest last.
  const modes = ['KEY SHARE', 'SHARE', 'NO KEY UPDATE', 'UPDATE'] as const;
  const conflicts: Readonly<Record<string, readonly string[]>> = {
    'KEY SHARE': ['UPDATE'],
    SHARE: ['NO KEY UPDATE', 'UPDATE'],
    'NO KEY UPDATE': ['SHARE', 'NO KEY UPDATE', 'UPDATE'],
    UPDATE: ['KEY SHARE', 'SHARE', 'NO KEY UPDATE', 'UPDATE'],
  };
  const lock = (mode: string) => `SELECT id, v FROM t WHERE id = 1 FOR ${mode} -> 1,10`;

  // Locks for the sake of foreign keys are not followed: who asks for one is neither accused nor accuses.
  const followed: readonly string[] = ['SHARE', 'UPDATE'];

  it.each(modes.flatMap((held) => modes.map((wanted) => [held, wanted] as const)))(
    'FOR %s, then FOR %s',
    (held, wanted) => {
      const kept = conflicts[held]!.includes(wanted) && followed.includes(held) && followed.includes(wanted);
      expect(kinds(together(lock(held), lock(wanted)), rc)).toEqual(kept ? violated : []);
    },
  );

  it.each([
    ['an UPDATE of a value', 'UPDATE t SET v = 11 WHERE id = 1 -> 1', ['SHARE', 'NO KEY UPDATE', 'UPDATE']],
    ['an UPDATE of the key', 'UPDATE t SET id = 9 WHERE id = 1 -> 1', [...modes]],
    ['a DELETE', 'DELETE FROM t WHERE id = 1 -> 1', [...modes]],
  ])('%s waits for FOR …', (_, write, kept) => {
    const met = modes.filter((mode) => kinds(together(lock(mode), write), rc).includes('lock-violated'));
    expect(met).toEqual(kept.filter((mode) => followed.includes(mode)));
  });
});

describe('row locks of InnoDB', () => {
  const [share, exclusive, old] = ['FOR SHARE', 'FOR UPDATE', 'LOCK IN SHARE MODE'];
  const lock = (mode: string) => `SELECT id, v FROM t WHERE id = 1 ${mode} -> 1,10`;

  it.each([
    [share, share, []],
    [share, old, []],
    [old, exclusive, violated],
    [share, exclusive, violated],
    [exclusive, share, violated],
    [exclusive, exclusive, violated],
  ] as const)('%s, then %s', (held, wanted, expected) => {
    expect(kinds(together(lock(held!), lock(wanted!)), 'mysql:repeatable-read', 'mysql')).toEqual(expected);
  });

  it('SERIALIZABLE shares what it reads with readers only', () => {
    const read = 'SELECT id, v FROM t WHERE id = 1 -> 1,10';
    const write = 'UPDATE t SET v = 11 WHERE id = 1 -> 1';
    expect(kinds(together(read, read), 'mysql:serializable', 'mysql')).toEqual([]);
    expect(kinds(together(read, write), 'mysql:serializable', 'mysql')).toEqual(violated);
    expect(kinds(together(read, write), 'mysql:repeatable-read', 'mysql')).toEqual([]);
  });

  it('a SELECT outside of a transaction holds nothing when it is over', () => {
    const text = `
      T1: SELECT id, v FROM t WHERE id = 1 FOR UPDATE -> 1,10
      T2: UPDATE t SET v = 11 WHERE id = 1 -> 1`;
    expect(kinds(text, 'mysql:serializable', 'mysql')).toEqual([]);
  });
});

describe('a lock on one row', () => {
  it.each([
    [
      'leaves others free',
      'UPDATE t SET v = 11 WHERE id = 1 -> 1',
      'UPDATE t SET v = 21 WHERE id = 2 -> 1',
      [],
    ],
    [
      'is met by a write of all',
      'UPDATE t SET v = 11 WHERE id = 1 -> 1',
      'UPDATE t SET v = v + 1 -> 2',
      violated,
    ],
    [
      'is met whichever columns each of them changes',
      'UPDATE t SET v = 11 WHERE id = 1 -> 1',
      'UPDATE t SET v = v WHERE id = 1 -> 1',
      violated,
    ],
    [
      'does not hinder reading',
      'UPDATE t SET v = 11 WHERE id = 1 -> 1',
      'SELECT id, v FROM t -> 1,10 | 2,20',
      [],
    ],
    [
      'is not taken by what matched nothing',
      'UPDATE t SET v = 0 WHERE id = 9 -> 0',
      'DELETE FROM t -> 2',
      [],
    ],
  ] as const)('%s', (_, first, second, expected) => {
    expect(kinds(together(first, second), rc)).toEqual(expected);
  });
});

describe('a lock is held', () => {
  const held = (between: string) => `
    [10,20] T1: BEGIN
    [30,40] T1: UPDATE t SET v = 11 WHERE id = 1 -> 1
    ${between}
    [90,100] T1: COMMIT`;

  it.each([
    ['from the answer on', '[50,60] T2: UPDATE t SET v = 12 WHERE id = 1 -> 1', violated],
    ['not before it was answered', '[25,60] T2: UPDATE t SET v = 12 WHERE id = 1 -> 1', []],
    ['until COMMIT is sent', '[50,89] T2: UPDATE t SET v = 12 WHERE id = 1 -> 1', violated],
    ['not after COMMIT was sent', '[50,95] T2: UPDATE t SET v = 12 WHERE id = 1 -> 1', []],
  ] as const)('%s', (_, between, expected) => {
    expect(kinds(held(between), rc)).toEqual(expected);
  });

  it('no longer than ROLLBACK TO a savepoint before it', () => {
    const text = (back: string) => `
      T1: BEGIN
      T1: SAVEPOINT s
      T1: UPDATE t SET v = 11 WHERE id = 1 -> 1
      ${back}
      T2: UPDATE t SET v = 12 WHERE id = 1 -> 1
      T1: COMMIT`;
    expect(kinds(text('T1: ROLLBACK TO SAVEPOINT s'), rc)).toEqual([]);
    expect(kinds(text('T1: RELEASE SAVEPOINT s'), rc)).toEqual(violated);
  });

  it('as far as is known by a transaction without an end: its connection may be gone', () => {
    const text = `
      T1: BEGIN
      T1: UPDATE t SET v = 11 WHERE id = 1 -> 1
      T2: UPDATE t SET v = 12 WHERE id = 1 -> 1`;
    expect(kinds(text, rc)).toEqual([]);
    expect(kinds(`${text}\nT1: SELECT id, v FROM t WHERE id = 1 -> 1,11`, rc)).toEqual(violated);
  });

  it('not by a statement that failed', () => {
    const text = `
      T1: BEGIN
      T1: UPDATE t SET v = 11 WHERE id = 1 -> error lock-timeout
      T2: UPDATE t SET v = 12 WHERE id = 1 -> 1
      T1: ROLLBACK`;
    expect(kinds(text, rc)).toEqual([]);
    expect(kinds(text, 'mysql:repeatable-read', 'mysql')).toEqual([]);
  });

  it('by the row that an INSERT made, from those who look for it there', () => {
    const text = `
      T1: BEGIN
      T1: INSERT INTO t VALUES (3, 30) -> 1
      T2: DELETE FROM t WHERE id = 3 -> 1
      T1: COMMIT`;
    expect(kinds(text, rc)).not.toEqual([]);
    expect(kinds(text.replace('id = 3 -> 1', 'id = 3 -> 0'), rc)).toEqual([]);
  });
});

describe('those who are refused a row break nothing', () => {
  it.each([
    'SELECT id, v FROM t WHERE id = 1 FOR UPDATE NOWAIT -> error lock-timeout',
    'SELECT id, v FROM t WHERE id = 1 FOR UPDATE SKIP LOCKED -> nothing',
    'UPDATE t SET v = 12 WHERE id = 1 -> error deadlock',
  ])('%s', (second) => {
    const text = `
      T1: BEGIN
      T1: UPDATE t SET v = 11 WHERE id = 1 -> 1
      T2: ${second}
      T1: COMMIT
      T3: SELECT id, v FROM t -> 1,11 | 2,20`;
    expect(kinds(text, rc)).toEqual([]);
  });

  it('but SKIP LOCKED that gets the row does', () => {
    const text = `
      T1: BEGIN
      T1: UPDATE t SET v = 11 WHERE id = 1 -> 1
      T2: BEGIN
      T2: SELECT id, v FROM t FOR UPDATE SKIP LOCKED -> 1,10 | 2,20
      T2: COMMIT
      T1: COMMIT`;
    expect(kinds(text, rc)).toContain('lock-violated');
  });
});

describe('engines that fail the second writer', () => {
  const second = (answer: string) => `
    T1: BEGIN
    T1: UPDATE t SET v = 11 WHERE id = 1 -> 1
    T2: UPDATE t SET v = 12 WHERE id = 1 -> ${answer}
    T1: COMMIT`;

  it.each([
    ['duckdb:snapshot', 'duckdb'],
    ['turso:snapshot+mvcc', 'sqlite'],
    ['hsqldb:repeatable-read+mvcc', 'postgres'],
  ] as const)('%s', (id, dialect) => {
    expect(kinds(second('error serialization'), id, dialect)).toEqual([]);
    expect(kinds(second('1'), id, dialect)).toEqual(violated);
  });
});

describe('a write that waited', () => {
  /** T2's UPDATE was sent while T1 held the row, and answered when T1 had ended. */
  const waited = (end: string, second: string, seen: string) => `
    [10,11] T1: BEGIN
    [12,13] T1: UPDATE t SET v = 11 WHERE id = 1 -> 1
    [20,40] T2: ${second}
    [30,35] T1: ${end}
    [50,55] T3: SELECT id, v FROM t -> ${seen}`;

  it.each([
    ['sees what was committed', 'COMMIT', 'UPDATE t SET v = v + 1 WHERE id = 1 -> 1', '1,12 | 2,20', []],
    [
      'never computes from what it waited for to go',
      'COMMIT',
      'UPDATE t SET v = v + 1 WHERE id = 1 -> 1',
      '1,11 | 2,20',
      ['x'],
    ],
    [
      'sees the old row after a rollback',
      'ROLLBACK',
      'UPDATE t SET v = v + 1 WHERE id = 1 -> 1',
      '1,11 | 2,20',
      [],
    ],
    [
      'looks again whether the row still matches',
      'COMMIT',
      'UPDATE t SET v = 0 WHERE v = 10 -> 0',
      '1,11 | 2,20',
      [],
    ],
    ['may not match the row as it was', 'COMMIT', 'DELETE FROM t WHERE v = 10 -> 1', '2,20', ['x']],
  ] as const)('%s', (_, end, second, seen, expected) => {
    expect(kinds(waited(end, second, seen), rc).length > 0).toBe(expected.length > 0);
  });

  it('fails if the row was changed under its snapshot', () => {
    const text = (answer: string, seen: string) => `
      [1,2] T2: BEGIN
      [3,4] T2: SELECT id, v FROM t -> 1,10 | 2,20
      ${waited('COMMIT', `UPDATE t SET v = 12 WHERE id = 1 -> ${answer}`, seen)}
      [60,61] T2: ROLLBACK`;
    expect(kinds(text('error serialization', '1,11 | 2,20'), 'postgres:repeatable-read')).toEqual([]);
    const lost = text('1', '1,11 | 2,20');
    expect(kinds(lost, 'postgres:repeatable-read')).toEqual(['update-of-changed-row']);
    expect(kinds(lost, 'postgres:read-committed')).toEqual([]);
  });

  it('may have had the row first if it was sent before the other one was answered', () => {
    const text = `
      [1,2] T2: BEGIN
      [3,4] T2: SELECT id, v FROM t -> 1,10 | 2,20
      [10,11] T1: BEGIN
      [12,30] T1: UPDATE t SET v = 11 WHERE id = 1 -> 1
      [20,40] T2: UPDATE t SET v = 12 WHERE id = 1 -> 1
      [35,36] T1: COMMIT
      [60,61] T2: COMMIT`;
    expect(kinds(text, 'postgres:repeatable-read')).toEqual([]);
  });

  it('may have it when the other one goes back to a savepoint', () => {
    const text = (back: string) => `
      [1,2] T2: BEGIN
      [3,4] T2: SELECT id, v FROM t -> 1,10 | 2,20
      [10,11] T1: BEGIN
      [12,13] T1: SAVEPOINT s
      [14,15] T1: UPDATE t SET v = 11 WHERE id = 1 -> 1
      [20,40] T2: UPDATE t SET v = 12 WHERE id = 1 -> 1
      [30,45] T1: ${back}
      [50,51] T1: COMMIT
      [60,61] T2: COMMIT`;
    expect(kinds(text('ROLLBACK TO SAVEPOINT s'), 'postgres:repeatable-read')).toEqual([]);
    expect(kinds(text('RELEASE SAVEPOINT s'), 'postgres:repeatable-read')).not.toEqual([]);
  });
});
