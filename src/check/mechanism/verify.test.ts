import { describe, expect, it } from 'vitest';
import { type Contract, findContract } from '../../contracts/index.js';
import { explain } from '../explain.js';
import { story } from './story.case.js';
import { verifyMechanism } from './verify.js';

const contract = (id: string): Contract => findContract(id)!;
const kinds = (text: string, id: string, options: Parameters<typeof story>[1] = {}) => {
  const result = verifyMechanism(story(text, options), contract(id));
  return result.findings.map((finding) => [finding.kind, finding.clause, finding.operations[0]?.index]);
};
const mariadb = { dialect: 'mysql' as const };
const duckdb = { dialect: 'duckdb' as const };

describe('what a correct database answers is never a finding', () => {
  it.each([
    ['postgres:repeatable-read', 'the snapshot of the first statement', 'BEGIN', '1,10 | 2,20'],
    ['turso:snapshot+mvcc', 'the snapshot of BEGIN', 'BEGIN CONCURRENT', '1,10 | 2,20'],
    ['mariadb:repeatable-read', 'the snapshot of the first read', 'BEGIN', '1,10 | 2,20'],
    ['postgres:read-committed', 'the newest committed rows', 'BEGIN', '1,11 | 2,20'],
  ])('%s: a second read sees %s', (id, _, begin, second) => {
    const text = `
      T1: ${begin}
      T1: SELECT id, v FROM t -> 1,10 | 2,20
      T2: UPDATE t SET v = 11 WHERE id = 1 -> 1
      T1: SELECT id, v FROM t -> ${second}
      T1: COMMIT
      T2: SELECT id, v FROM t -> 1,11 | 2,20`;
    expect(kinds(text, id)).toEqual([]);
  });

  it('allows both sides of a commit that overlaps the read', () => {
    for (const seen of ['1,10 | 2,20', '1,11 | 2,20'])
      expect(
        kinds(
          `[10,20] T2: UPDATE t SET v = 11 WHERE id = 1 -> 1
           [15,30] T1: SELECT id, v FROM t -> ${seen}`,
          'postgres:read-committed',
        ),
      ).toEqual([]);
  });

  it('takes back what a savepoint took back', () => {
    const text = `
      T1: BEGIN
      T1: UPDATE t SET v = 11 WHERE id = 1 -> 1
      T1: SAVEPOINT a
      T1: UPDATE t SET v = 12 WHERE id = 1 -> 1
      T1: DELETE FROM t WHERE id = 2 -> 1
      T1: ROLLBACK TO SAVEPOINT a
      T1: SELECT id, v FROM t -> 1,11 | 2,20
      T1: COMMIT
      T2: SELECT id, v FROM t -> 1,11 | 2,20`;
    expect(kinds(text, 'postgres:read-committed')).toEqual([]);
  });
});

describe('readers of uncommitted data', () => {
  it('may have seen what a savepoint took back while they ran', () => {
    const text = `
      [10,20] T1: BEGIN
      [21,30] T1: SAVEPOINT a
      [31,40] T1: UPDATE t SET v = 11 WHERE id = 1 -> 1
      [50,60] T1: ROLLBACK TO SAVEPOINT a
      [45,70] T2: SELECT id, v FROM t WHERE id = 1 -> 1,11
      [80,90] T1: COMMIT`;
    expect(kinds(text, 'mariadb:read-uncommitted', mariadb)).toEqual([]);
    const later = text.replace('[45,70]', '[65,70]');
    expect(kinds(later, 'mariadb:read-uncommitted', mariadb)).toEqual([
      ['wrong-version', 'pivot uncommitted', 4],
    ]);
  });

  it('may have seen what a failed statement did before it failed', () => {
    const text = `
      [10,20] T1: BEGIN
      [31,40] T1: UPDATE t SET v = 11 WHERE id = 1 -> error lock-timeout
      [35,70] T2: SELECT id, v FROM t WHERE id = 1 -> 1,11
      [80,90] T1: COMMIT`;
    expect(kinds(text, 'mariadb:read-uncommitted', mariadb)).toEqual([]);
    expect(kinds(text.replace('[35,70]', '[45,70]'), 'mariadb:read-uncommitted', mariadb)).toEqual([
      ['wrong-version', 'pivot uncommitted', 2],
    ]);
  });
});

describe('a subquery of a locking read', () => {
  const text = (read: string) => `
    T1: BEGIN
    T1: SELECT id, v FROM t WHERE v > 90 -> nothing
    T2: UPDATE t SET v = 99 WHERE id = 1 -> 1
    T1: ${read}
    T1: COMMIT`;

  it('is no locking read itself: it may see the snapshot', () => {
    for (const seen of ['nothing', '1,99 | 2,20']) {
      const read = `SELECT id, v FROM t WHERE EXISTS (SELECT 1 FROM t AS s WHERE s.v > 90) FOR UPDATE -> ${seen}`;
      expect(kinds(text(read), 'mariadb:repeatable-read', mariadb), seen).toEqual([]);
    }
    const joined = 'SELECT a.id, b.v FROM t AS a JOIN t AS b ON a.id = b.id FOR UPDATE -> 1,10 | 2,20';
    expect(kinds(text(joined), 'mariadb:repeatable-read', mariadb)).toHaveLength(1);
  });
});

describe('a first read that may have been answered without looking', () => {
  const text = (read: string) => `
    T1: BEGIN
    T1: ${read}
    T2: INSERT INTO t VALUES (3, 30) -> 1
    T1: DELETE FROM t WHERE id = 3 -> 1
    T1: COMMIT`;
  const taken = 'mariadb:repeatable-read+innodb_snapshot_isolation';

  it.each([
    'SELECT id, v FROM t WHERE v = 1 AND v = 0 -> nothing',
    'SELECT COUNT(*) FROM t WHERE v = 1 AND v = 0 -> 0',
    'SELECT x FROM (SELECT 1 AS x) AS d -> 1',
    'SELECT id FROM t WHERE id IS NULL -> nothing',
  ])('is not taken for the snapshot: %s', (read) => {
    expect(kinds(text(read), taken, mariadb)).toEqual([]);
  });

  it.each([
    'SELECT id, v FROM t WHERE v = 1 -> nothing',
    'SELECT id, v FROM t WHERE v > 10 AND v < 30 -> 2,20',
    'SELECT COUNT(*) FROM t -> 2',
  ])('is the snapshot where it must have looked: %s', (read) => {
    expect(kinds(text(read), taken, mariadb).map(([kind]) => kind)).toEqual(['write-extra-row']);
  });
});

describe('each violation has its name and its clause', () => {
  it('own-write-missed: a transaction does not see its update (MDEV-26642)', () => {
    const text = `
      T2: BEGIN
      T2: SELECT id, v FROM t -> 1,10 | 2,20
      T1: UPDATE t SET v = 99 -> 2
      T2: UPDATE t SET v = 99 -> 2
      T2: SELECT id, v FROM t -> 1,10 | 2,20
      T2: COMMIT`;
    expect(kinds(text, 'mariadb:repeatable-read', mariadb)).toEqual([['own-write-missed', 'ownWrites', 4]]);
  });

  it('own-write-missed: a transaction still sees a row it deleted', () => {
    const text = `
      T1: BEGIN
      T1: DELETE FROM t WHERE id = 1 -> 1
      T1: SELECT v FROM t WHERE id = 1 -> 10
      T1: COMMIT`;
    expect(kinds(text, 'postgres:read-committed')).toEqual([['own-write-missed', 'ownWrites', 2]]);
  });

  it('dirty-read: a value that was rolled back, or was not committed yet', () => {
    const text = `
      T2: BEGIN
      T2: UPDATE t SET v = 11 WHERE id = 1 -> 1
      T1: SELECT id, v FROM t WHERE id = 1 -> 1,11
      T2: ROLLBACK
      T1: SELECT v FROM t WHERE id = 1 -> 11`;
    expect(kinds(text, 'postgres:read-committed')).toEqual([
      ['dirty-read', 'pivot statement', 2],
      ['dirty-read', 'pivot statement', 4],
    ]);
    expect(kinds(text.replace('ROLLBACK', 'COMMIT'), 'postgres:read-committed')).toEqual([
      ['dirty-read', 'pivot statement', 2],
    ]);
    expect(kinds(text.replace('ROLLBACK', 'COMMIT'), 'mariadb:read-uncommitted', mariadb)).toEqual([]);
  });

  it('stale-read: the snapshot is older than it should be', () => {
    const text = `
      T2: UPDATE t SET v = 11 WHERE id = 1 -> 1
      T1: BEGIN
      T1: SELECT id, v FROM t WHERE id = 1 -> 1,10
      T1: COMMIT`;
    expect(kinds(text, 'postgres:repeatable-read')).toEqual([['stale-read', 'pivot first-statement', 2]]);
  });

  it('post-snapshot-read: a snapshot that moved', () => {
    const text = `
      T1: BEGIN
      T1: SELECT id, v FROM t WHERE id = 1 -> 1,10
      T2: UPDATE t SET v = 11 WHERE id = 1 -> 1
      T1: SELECT id, v FROM t WHERE id = 1 -> 1,11
      T1: COMMIT`;
    expect(kinds(text, 'postgres:repeatable-read')).toEqual([
      ['post-snapshot-read', 'pivot first-statement', 3],
    ]);
  });

  it('missing-row and extra-row: a phantom, and a row that should be there', () => {
    const text = `
      T1: BEGIN
      T1: SELECT id, v FROM t WHERE v >= 10 -> 1,10 | 2,20
      T2: INSERT INTO t VALUES (3, 30) -> 1
      T2: DELETE FROM t WHERE id = 2 -> 1
      T1: SELECT id, v FROM t WHERE v >= 10 -> 1,10 | 3,30
      T1: COMMIT`;
    expect(kinds(text, 'postgres:repeatable-read')).toEqual([
      ['post-snapshot-read', 'pivot first-statement', 4],
      ['missing-row', 'pivot first-statement', 4],
    ]);
  });

  it('extra-row: a row that was deleted before', () => {
    const text = `
      T2: DELETE FROM t WHERE id = 2 -> 1
      T1: SELECT id, v FROM t -> 1,10 | 2,20`;
    expect(kinds(text, 'postgres:read-committed')).toEqual([['extra-row', 'pivot statement', 1]]);
  });

  it('wrong-result: an aggregate over rows that are certain', () => {
    const text = `
      T2: UPDATE t SET v = 11 WHERE id = 1 -> 1
      T1: SELECT SUM(v) FROM t -> 30`;
    expect(kinds(text, 'mariadb:read-committed', { dialect: 'sqlite' })).toEqual([
      ['wrong-result', 'pivot statement', 1],
    ]);
  });

  it('write-missed-row and write-extra-row: a count that does not fit', () => {
    const missed = `T1: UPDATE t SET v = 0 WHERE v >= 10 -> 1`;
    expect(kinds(missed, 'postgres:read-committed')).toEqual([['write-missed-row', 'writesSee current', 0]]);
    const extra = `T1: DELETE FROM t WHERE v > 10 -> 2`;
    expect(kinds(extra, 'postgres:read-committed')).toEqual([['write-extra-row', 'writesSee current', 0]]);
  });

  it('lock-violated: a row is taken while another transaction holds it', () => {
    const text = `
      T1: BEGIN
      T1: SELECT v FROM t WHERE id = 1 FOR UPDATE -> 10
      T2: UPDATE t SET v = 11 WHERE id = 1 -> 1
      T1: COMMIT`;
    expect(kinds(text, 'postgres:read-committed')).toEqual([['lock-violated', 'writeConflict waits', 2]]);
    expect(kinds(text.replace(' FOR UPDATE', ''), 'postgres:read-committed')).toEqual([]);
  });

  it('lock-violated: InnoDB’s SERIALIZABLE locks what it reads', () => {
    const text = `
      T1: BEGIN
      T1: SELECT v FROM t WHERE id = 1 -> 10
      T2: UPDATE t SET v = 11 WHERE id = 1 -> 1
      T1: COMMIT`;
    expect(kinds(text, 'mariadb:serializable', mariadb)).toEqual([['lock-violated', 'readsLock true', 2]]);
  });

  it('update-of-changed-row: DuckDB loses an update of a deleted row (duckdb #17223)', () => {
    const setup = ['CREATE TABLE t (id INT, v INT)', 'INSERT INTO t VALUES (1, 10), (2, 20)'];
    const text = `
      T2: BEGIN
      T2: SELECT id, v FROM t -> 1,10 | 2,20
      T1: DELETE FROM t WHERE id = 1 -> 1
      T2: UPDATE t SET v = 55 WHERE id = 1 -> 1
      T2: COMMIT`;
    expect(kinds(text, 'duckdb:snapshot', { ...duckdb, setup })).toEqual([
      ['update-of-changed-row', 'firstUpdaterWins true', 3],
    ]);
    expect(
      kinds(
        text.replace('55 WHERE id = 1 -> 1', '55 WHERE id = 1 -> error serialization'),
        'duckdb:snapshot',
        { ...duckdb, setup },
      ),
    ).toEqual([]);
  });

  it('fractured-snapshot: one row from before a commit, one from after it', () => {
    const text = `
      [10,20] T2: BEGIN
      [21,30] T2: UPDATE t SET v = 11 WHERE id = 1 -> 1
      [31,40] T2: UPDATE t SET v = 21 WHERE id = 2 -> 1
      [41,90] T2: COMMIT
      [42,50] T1: BEGIN
      [51,60] T1: SELECT id, v FROM t WHERE id = 1 -> 1,11
      [61,70] T1: SELECT id, v FROM t WHERE id = 2 -> 2,20
      [71,80] T1: COMMIT`;
    expect(kinds(text, 'postgres:repeatable-read')).toEqual([
      ['fractured-snapshot', 'pivot first-statement', 6],
    ]);
    expect(kinds(text, 'postgres:read-committed')).toEqual([]);
  });

  it('write-skew, found by the certifier', () => {
    const text = `
      T1: BEGIN
      T1: SELECT id, v FROM t -> 1,10 | 2,20
      T2: BEGIN
      T2: SELECT id, v FROM t -> 1,10 | 2,20
      T1: UPDATE t SET v = 0 WHERE id = 1 -> 1
      T2: UPDATE t SET v = 0 WHERE id = 2 -> 1
      T1: COMMIT
      T2: COMMIT`;
    const result = verifyMechanism(story(text), contract('postgres:serializable'));
    expect(result.findings.map(({ kind, clause }) => [kind, clause])).toEqual([
      ['write-skew', 'certifier ssi'],
    ]);
    expect(kinds(text, 'postgres:repeatable-read')).toEqual([]);
  });
});

describe('what cannot be decided is counted, with its reason', () => {
  it('skips a read after a write that cannot be followed', () => {
    const text = `
      T1: UPDATE t SET v = random() -> 2
      T1: SELECT id, v FROM t -> 1,7 | 2,8
      T1: SELECT id, v FROM t -> 1,7 | 2,8`;
    const result = verifyMechanism(story(text), contract('postgres:read-committed'));
    expect(result.findings).toEqual([]);
    expect(result.skipped.map(({ what }) => what)).toContain('write');
  });

  it('refuses a contract that says nothing of mechanisms', () => {
    expect(() => verifyMechanism(story('T1: BEGIN'), contract('adya:PL-2'))).toThrow(/choose a vendor/);
  });

  it('says what another contract would change', () => {
    const text = `
      T1: BEGIN
      T1: SELECT id, v FROM t -> 1,10 | 2,20
      T2: UPDATE t SET v = 11 WHERE id = 1 -> 1
      T1: SELECT id, v FROM t -> 1,11 | 2,20
      T1: COMMIT`;
    const result = verifyMechanism(story(text), contract('postgres:read-committed'), {
      compareWith: contract('postgres:repeatable-read'),
    });
    expect(result.comparison?.appear.map(({ kind }) => kind)).toEqual(['post-snapshot-read']);
    expect(result.comparison?.vanish).toEqual([]);
  });
});

describe('memory', () => {
  it('follows concurrency, not the length of the history', () => {
    const peak = (rounds: number): number => {
      const lines = Array.from({ length: rounds }, (_, i) => {
        const before = i === 0 ? '1,10 | 2,20' : `1,${i - 1} | 2,20 | ${99 + i},0`;
        return `
        T1: BEGIN
        T1: SELECT id, v FROM t -> ${before}
        T1: UPDATE t SET v = ${i} WHERE id = 1 -> 1
        T1: INSERT INTO t VALUES (${100 + i}, 0) -> 1
        T1: DELETE FROM t WHERE id = ${99 + i} -> ${i === 0 ? 0 : 1}
        T1: COMMIT`;
      });
      const result = verifyMechanism(story(lines.join('')), contract('postgres:repeatable-read'));
      expect(result.findings.map(explain)).toEqual([]);
      expect(result.checked.reads).toBe(rounds);
      return result.checked.peakVersions;
    };
    const short = peak(100);
    expect(short).toBeLessThan(100);
    expect(peak(1000)).toBeLessThan(short * 1.5);
  });

  it('nor the doubt about a table whose rows are not known any more', () => {
    const peak = (rounds: number): number => {
      const lines = Array.from(
        { length: rounds },
        (_, i) => `
        T1: BEGIN
        T1: INSERT INTO t VALUES (random(), 0)
        T2: BEGIN
        T1: INSERT INTO t VALUES (${100 + i}, 0) -> 1
        T1: COMMIT
        T2: UPDATE t SET v = ${i} WHERE v < 7
        T2: COMMIT`,
      );
      const result = verifyMechanism(story(lines.join('')), contract('postgres:repeatable-read'));
      expect(result.findings.map(explain)).toEqual([]);
      return result.checked.peakVersions;
    };
    expect(peak(100)).toBeLessThan(120);
    expect(peak(1000)).toBeLessThan(120);
  });
});
