import { describe, expect, it } from 'vitest';
import { findContract } from '../../contracts/index.js';
import { story } from './story.case.js';
import { verifyMechanism } from './verify.js';

function found(table: string, read: string, more: readonly string[] = []): string[] {
  const setup = [table, 'INSERT INTO t VALUES (1, 10, 5), (2, 20, 6)', ...more];
  const script = `
    T1: BEGIN
    T1: SELECT * FROM t WHERE id = 1 FOR UPDATE -> 1,10,5
    T2: BEGIN
    T2: ${read}
    T2: COMMIT
    T1: COMMIT`;
  const history = story(script, { dialect: 'mysql', setup });
  return ['mariadb:repeatable-read', 'mysql:read-committed'].flatMap((id) =>
    verifyMechanism(history, findContract(id)!).findings.map(({ kind }) => kind),
  );
}

const broken = ['lock-violated', 'lock-violated'];
const plain = 'CREATE TABLE t (id INT PRIMARY KEY, v INT, w INT)';
const indexed = 'CREATE TABLE t (id INT PRIMARY KEY, v INT, w INT, KEY (v))';

describe('a shared lock of InnoDB', () => {
  it.each([
    ['an index has its columns', indexed, 'SELECT id, v FROM t WHERE v = 10 LOCK IN SHARE MODE -> 1,10', []],
    [
      'a later index has them',
      plain,
      'SELECT id, v FROM t WHERE v = 10 FOR SHARE -> 1,10',
      ['CREATE INDEX i ON t (v)'],
    ],
    [
      'ALTER TABLE adds one',
      plain,
      'SELECT id, v FROM t WHERE v = 10 FOR SHARE -> 1,10',
      ['ALTER TABLE t ADD KEY (v)'],
    ],
  ] as const)('may leave the row alone where %s', (_, table, read, more) => {
    expect(found(table, read, more)).toEqual([]);
  });

  it.each([
    ['there is no other index', plain, 'SELECT id, v FROM t WHERE v = 10 LOCK IN SHARE MODE -> 1,10'],
    ['no index has all columns', indexed, 'SELECT * FROM t WHERE v = 10 LOCK IN SHARE MODE -> 1,10,5'],
    ['it searches for the primary key', indexed, 'SELECT v FROM t WHERE id = 1 LOCK IN SHARE MODE -> 10'],
    ['it is exclusive', indexed, 'SELECT id, v FROM t WHERE v = 10 FOR UPDATE -> 1,10'],
  ])('is on the row where %s', (_, table, read) => {
    expect(found(table, read)).toEqual(broken);
  });
});

describe('a read of columns that nobody changes', () => {
  const kinds = (read: string, contract: string, dialect: 'mysql' | 'postgres') => {
    const setup = [
      'CREATE TABLE t (id INT PRIMARY KEY, u INT, v INT, KEY (v, id))',
      'INSERT INTO t VALUES (1, 1, 1)',
    ];
    const script = `
      T1: BEGIN
      T1: ${read}
      T2: UPDATE t SET u = 0 -> 1
      T1: UPDATE t SET v = 0 -> 1
      T1: COMMIT`;
    return verifyMechanism(story(script, { dialect, setup }), findContract(contract)!).findings.map(
      ({ kind }) => kind,
    );
  };

  it('comes before the writer of another column or after it', () => {
    expect(kinds('SELECT id FROM t -> 1', 'mariadb:serializable', 'mysql')).toEqual([]);
    expect(kinds('SELECT id, v FROM t WHERE v = 1 -> 1,1', 'mysql:serializable', 'mysql')).toEqual([]);
  });

  it('comes before the writer of one of them', () => {
    expect(kinds('SELECT id, u FROM t -> 1,1', 'mariadb:serializable', 'mysql')).not.toEqual([]);
    expect(kinds('SELECT id FROM t WHERE u = 1 -> 1', 'mariadb:serializable', 'mysql')).toContain(
      'lost-update',
    );
  });
});
