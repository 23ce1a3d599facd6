import { describe, expect, it } from 'vitest';
import type { Finding } from '../../check/index.js';
import type { Operation } from '../../histories/index.js';
import { bugBehind } from './known-bugs.js';
import {
  begin,
  byOther,
  findingOf,
  historyOf,
  innodb,
  myrocks,
  noOp,
  read,
  sameValue,
} from './known-lab.case.js';

describe('a known bug', () => {
  it('is behind a finding if its cause came before, not after', () => {
    const finding = findingOf('own-write-missed', 3);
    expect(bugBehind(finding, historyOf(begin, sameValue, noOp, read), innodb)?.report).toContain(
      'MDEV-26642',
    );
    expect(bugBehind(finding, historyOf(begin, sameValue, read, read, noOp), innodb)).toBeUndefined();
  });

  it('is one of its engine and level, and of its kinds of findings', () => {
    const history = historyOf(begin, sameValue, noOp, read);
    const missed = findingOf('own-write-missed', 3);
    expect(bugBehind(findingOf('stale-read', 3), history, innodb)).toBeUndefined();
    expect(bugBehind(missed, history, myrocks)).toBeUndefined();
    expect(bugBehind(missed, history, { ...innodb, level: 'serializable' })).toBeUndefined();
    expect(bugBehind(missed, history, { ...innodb, url: 'tidb:' })?.report).toContain('TiDB #42487');
  });

  it('of counting the rows of windows is behind counts of such writes only', () => {
    const turso = { url: 'turso:?mode=mvcc', level: 'snapshot' } as const;
    const windowed = 'UPDATE t SET v = 1 WHERE id IN (SELECT ROW_NUMBER() OVER (ORDER BY s.id) FROM t AS s)';
    const write = { kind: 'update', sql: windowed, matched: 4 } as const;
    // The verifier finds the count too high; the graph looks for the rows that it counts, and some were never there.
    for (const kind of ['write-extra-row', 'lost-write'] as const)
      expect(bugBehind(findingOf(kind, 0), historyOf(write), turso)?.report).toContain('window');
    const plain = { ...write, sql: 'UPDATE t SET v = 1' };
    expect(bugBehind(findingOf('write-extra-row', 0), historyOf(plain), turso)).toBeUndefined();
  });

  it('is not behind a finding in another table', () => {
    const history = historyOf(begin, sameValue, noOp, { ...read, sql: 'SELECT * FROM s' });
    expect(bugBehind(findingOf('own-write-missed', 3), history, innodb)).toBeUndefined();
  });
});

describe('the uncommitted write that a write of MariaDB 11.8 does not wait for', () => {
  const place = { url: 'mariadb@11.8:', level: 'read uncommitted' } as const;
  const gone = { kind: 'delete', sql: 'DELETE FROM t WHERE id = 1', transaction: 2 } as const;
  const write = { kind: 'update', sql: 'UPDATE t SET v = 3' } as const;
  const end = { kind: 'commit', sql: 'COMMIT', transaction: 2, ends: 'commit' } as const;
  const about = (index: number, ...operations: readonly Partial<Operation>[]) =>
    bugBehind(findingOf('write-missed-row', index), historyOf(...operations), place)?.report;

  it('needs a DELETE or UPDATE of the same table by a transaction that is open', () => {
    expect(about(1, gone, write, end)).toContain('uncommitted DELETE');
    const changed = { ...gone, kind: 'update', sql: 'UPDATE t SET v = NULL' } as const;
    expect(about(1, changed, { ...write, sql: 'UPDATE t SET id = 3 WHERE v > 1' }, end)).toContain(
      'or UPDATE',
    );
    expect(about(1, changed, { ...write, sql: 'UPDATE t SET id = 3 WHERE id > 1' }, end)).toBeUndefined();
    expect(about(2, gone, end, write)).toBeUndefined();
    expect(about(0, write, gone, end)).toBeUndefined();
    expect(about(1, { ...gone, sql: 'DELETE FROM s' }, write, end)).toBeUndefined();
    expect(about(1, { ...gone, transaction: 1 }, write)).toBeUndefined();
    expect(about(1, gone, { ...write, sql: 'UPDATE t SET v = 3 WHERE id = 2' }, end)).toBeUndefined();
  });
});

describe('the row that an index of MariaDB 11.8 has lost', () => {
  const place = { url: 'mariadb@11.8:', level: 'repeatable read' } as const;
  const begin = { kind: 'begin', sql: 'BEGIN' } as const;
  const moved = { kind: 'update', sql: 'UPDATE t SET id = 9', transaction: 2, ends: 'commit' } as const;
  const write = { kind: 'update', sql: 'UPDATE t SET v = 3 WHERE id > 0' } as const;
  const about = (index: number, ...operations: readonly Partial<Operation>[]) =>
    bugBehind(findingOf('write-missed-row', index), historyOf(...operations), place)?.report;

  it('needs a DELETE, or an UPDATE of what is indexed, committed since the transaction began', () => {
    expect(about(2, begin, moved, write)).toContain('an index has lost');
    const gone = { ...moved, kind: 'delete', sql: 'DELETE FROM t' } as const;
    expect(about(2, begin, gone, write)).toContain('an index has lost');
    expect(about(2, moved, begin, write)).toBeUndefined();
    expect(about(2, begin, { ...moved, sql: 'UPDATE t SET w = 9' }, write)).toBeUndefined();
    expect(about(2, begin, { ...moved, sql: 'UPDATE s SET id = 9' }, write)).toBeUndefined();
    // It was not committed: rolled back, open, or committed after the write.
    expect(about(2, begin, { ...gone, ends: 'rollback' }, write)).toBeUndefined();
    const { ends: _, ...open } = gone;
    expect(about(2, begin, open, write)).toBeUndefined();
    const commit = { kind: 'commit', sql: 'COMMIT', transaction: 2, ends: 'commit' } as const;
    expect(about(2, begin, open, write, commit)).toBeUndefined();
    // It took no row, or another one.
    expect(about(2, begin, { ...gone, matched: 0 }, write)).toBeUndefined();
    const other = { ...gone, sql: 'DELETE FROM t WHERE id = 10' } as const;
    expect(about(2, begin, other, { ...write, sql: 'UPDATE t SET v = 3 WHERE id = 3' })).toBeUndefined();
    const named = { oracle: 'mechanism', versions: [{ object: 't/3' }] };
    const finding = { ...findingOf('write-missed-row', 2), ...named } as unknown as Finding;
    expect(bugBehind(finding, historyOf(begin, other, write), place)).toBeUndefined();
    expect(bugBehind(finding, historyOf(begin, gone, write), place)?.report).toContain('an index has lost');
  });
});

describe('the lost snapshot of MyRocks', () => {
  const skew = (...indexes: readonly number[]) => findingOf('read-skew', ...indexes);
  const failed = { kind: 'update', sql: 'UPDATE t SET v = 3', outcome: 'error' } as const;
  const other = { ...noOp, transaction: 2, ends: 'commit' } as const;
  const about = (finding: Finding, ...operations: readonly Partial<Operation>[]) =>
    bugBehind(finding, historyOf(...operations), myrocks)?.report;

  it('needs a snapshot, a failed write of several rows, a commit of others since, and an operation after it', () => {
    expect(about(skew(3), read, other, failed, read)).toContain('another snapshot');
    const inserts = { ...failed, kind: 'insert', sql: 'INSERT INTO t VALUES (7, 1), (1, 1)' } as const;
    expect(about(skew(3), read, other, inserts, read)).toContain('another snapshot');
  });

  it.each<[string, Finding, readonly Partial<Operation>[]]>([
    ['no snapshot before the failure', skew(2), [other, failed, read]],
    ['nothing committed since the snapshot', skew(3), [other, read, failed, read]],
    ['shown before the failure', skew(0), [read, other, failed, read]],
    ['a failed read', skew(3), [read, other, { ...read, outcome: 'error' }, read]],
    ['a failed write of another transaction', skew(3), [read, other, { ...failed, transaction: 3 }, read]],
    [
      'a failed write of one row',
      skew(3),
      [read, other, { ...failed, sql: 'UPDATE t SET v = 3 WHERE id = 1' }, read],
    ],
    [
      'a failed INSERT of one row',
      skew(3),
      [read, other, { ...failed, kind: 'insert', sql: 'INSERT INTO t VALUES (1, 1)' }, read],
    ],
  ])('is not behind %s', (_, finding, operations) => {
    expect(about(finding, ...operations)).toBeUndefined();
  });

  it('is behind what others see after such a transaction has written, and only in that table', () => {
    const inserts = { kind: 'insert', sql: 'INSERT INTO t VALUES (9, 9)', ends: 'commit' } as const;
    const reader = { ...read, transaction: 4 } as const;
    const finding = { ...findingOf('wrong-version', 4), transactions: [{ id: 4 }] } as unknown as Finding;
    expect(about(finding, read, other, failed, inserts, reader)).toContain('another snapshot');
    expect(about(finding, read, other, inserts, failed, reader)).toBeUndefined();
    expect(
      about(finding, read, other, failed, { ...inserts, sql: 'INSERT INTO s VALUES (9)' }, reader),
    ).toBeUndefined();
  });

  it('is behind what others see of the row that such a transaction has written', () => {
    const inserts = { kind: 'insert', sql: 'INSERT INTO t (id, v) VALUES (9, 9)', ends: 'commit' } as const;
    const removed = byOther('DELETE FROM t WHERE id = 9', { kind: 'delete' });
    const reader = { ...read, transaction: 4 } as const;
    const row = (object: string, between: Partial<Operation>) => {
      const rest = { transactions: [{ id: 4 }], versions: [{ object }] };
      const finding = { ...findingOf('wrong-version', 4), ...rest } as unknown as Finding;
      return about(finding, read, between, failed, inserts, reader);
    };
    expect(row('t/9', removed)).toContain('another snapshot');
    expect(row('t/1', removed)).toBeUndefined();
    expect(row('t/9', byOther('DELETE FROM t WHERE id = 8', { kind: 'delete' }))).toBeUndefined();
  });

  it('is lost by a write of one row that is looked for without a key', () => {
    const one = { ...failed, sql: 'UPDATE t SET v = 3 WHERE id = 1' };
    const history = historyOf(read, other, one, read);
    const setup = ['CREATE TABLE t (id INT, v INT)', 'INSERT INTO t VALUES (1, 1), (2, 2)'];
    const without = { ...history, header: { ...history.header, setup } };
    expect(bugBehind(skew(3), without, myrocks)?.report).toContain('another snapshot');
  });

  it('is another bug than the row that is met twice, which needs a row moved in an index by the transaction itself', () => {
    const twice = findingOf('duplicate-write', 1);
    expect(about(twice, noOp, noOp)).toContain('meets a row twice');
    expect(about(twice, { ...noOp, sql: 'UPDATE t SET w = 1' }, noOp)).toBeUndefined();
    expect(about(twice, { ...noOp, transaction: 2 }, noOp)).toBeUndefined();
  });

  it('is not the row that is met twice by a writer, which another transaction reads', () => {
    const read2 = { ...read, transaction: 2, session: 1 };
    const finding = {
      ...findingOf('duplicate-write', 2),
      transactions: [{ id: 2 }, { id: 1 }],
    } as unknown as Finding;
    expect(about(finding, noOp, noOp, read2)).toContain('meets a row twice');
    expect(about(finding, { ...noOp, sql: 'UPDATE t SET w = 1' }, noOp, read2)).toBeUndefined();
    // Of two UPDATEs one must have moved the row before the other met it.
    expect(about(finding, noOp, read, read2)).toBeUndefined();
  });

  it('is not the row that is met twice if the row was moved to a larger key, or is not met', () => {
    const sees = findingOf('wrong-result', 1);
    const move = (to: number) => ({ ...noOp, sql: `UPDATE t SET id = ${to} WHERE id = 10` });
    expect(about(sees, move(5), read)).toContain('meets a row twice');
    for (const to of [10, 500]) expect(about(sees, move(to), read)).toBeUndefined();
    expect(about(sees, { ...noOp, sql: 'UPDATE t SET id = 500' }, read)).toContain('meets a row twice');
    const one = (id: number) => ({ ...read, sql: `SELECT * FROM t WHERE id = ${id}` });
    for (const id of [5, 10]) expect(about(sees, move(5), one(id))).toContain('meets a row twice');
    expect(about(sees, move(5), one(3))).toBeUndefined();
  });
});

describe('the state of the first statement that HSQLDB reads with MVLOCKS', () => {
  const mvlocks = { url: 'hsqldb:?tx=mvlocks', level: 'serializable' } as const;
  const first = { kind: 'select', sql: 'SELECT * FROM s' } as const;
  const committed = byOther('UPDATE t SET v = 1 WHERE id = 1');
  const one = { ...read, sql: 'SELECT * FROM t WHERE id = 1' };
  /** About the last operation. */
  const about = (operations: readonly Partial<Operation>[], rest: object = {}) => {
    const at = operations.length - 1;
    const transactions = [{ id: operations[at]!.transaction ?? 1 }];
    const finding = { ...findingOf('stale-read', at), transactions, ...rest } as unknown as Finding;
    return bugBehind(finding, historyOf(...operations), mvlocks)?.report;
  };
  const names = (object: string) => ({ oracle: 'mechanism', versions: [{ object }] });
  const later = { ...one, transaction: 4, start: 1000, end: 1005 };

  it('is behind a read of what others have committed since, whether it waited for them or not', () => {
    expect(about([first, committed, one])).toContain('first statement');
    expect(about([first, committed, read], names('t/1'))).toContain('first statement');
    const { ends: _, ...open } = committed;
    const end = { kind: 'commit', transaction: 2, ends: 'commit', start: 25, end: 28 } as const;
    expect(about([open, first, end, { ...one, start: 20, end: 30 }])).toContain('first statement');
    const counts = { ...read, sql: 'SELECT COUNT(*) FROM r WHERE id IN (SELECT id FROM t)' };
    expect(about([first, committed, counts], names('r/7'))).toContain('first statement');
  });

  it.each<[string, readonly Partial<Operation>[], object?]>([
    ['no statement before', [committed, one]],
    ['only a BEGIN before', [begin, committed, one]],
    ['the commit came before the first statement', [committed, first, one]],
    ['the commit came after', [first, { ...committed, start: 26, end: 28 }, { ...one, start: 20, end: 25 }]],
    ['nothing committed since', [first, { ...committed, ends: 'rollback' }, one]],
    ['a commit in another table', [first, byOther('UPDATE r SET v = 1'), one]],
    ['a commit of another row', [first, byOther('UPDATE t SET v = 1 WHERE id = 2'), one]],
    ['a commit of another row than the one named', [first, committed, read], names('t/2')],
  ])('is not behind %s', (_, operations, rest) => {
    expect(about(operations, rest)).toBeUndefined();
  });

  it('is behind cycles of dependencies in which such a transaction has a part, and no others', () => {
    const skew = (...ids: readonly number[]) => ({
      ...{ kind: 'write-skew', cycle: [], transactions: ids.map((id) => ({ id })) },
    });
    const write = { kind: 'update', sql: 'UPDATE s SET v = 2', matched: 1 } as const;
    expect(about([first, committed, one, write], skew(1, 2))).toContain('first statement');
    expect(about([first, committed, one, write, later], skew(4))).toBeUndefined();
    expect(about([committed, first, one, write], skew(1, 2))).toBeUndefined();
  });

  it('is behind what others see of a row that such a transaction has written, and of no other', () => {
    const wrote = (id: number) =>
      ({
        kind: 'update',
        sql: `UPDATE t SET v = v + 1 WHERE id = ${id}`,
        matched: 1,
        ends: 'commit',
      }) as const;
    expect(about([first, committed, wrote(1), later])).toContain('first statement');
    expect(about([first, committed, wrote(1), { ...later, ...read }], names('t/1'))).toContain('first');
    // What was committed since has no part in what it wrote; or that is not the row that is read, or named.
    expect(about([first, committed, wrote(2), { ...later, sql: one.sql.replace('1', '2') }])).toBeUndefined();
    const both = byOther('UPDATE t SET v = 1');
    expect(about([first, both, wrote(2), later])).toBeUndefined();
    expect(about([first, both, wrote(2), { ...later, ...read }], names('t/1'))).toBeUndefined();
    expect(about([first, both, wrote(1), { ...later, sql: 'SELECT * FROM r' }])).toBeUndefined();
  });
});

describe('a statement that H2 never answers', () => {
  const h2 = { url: 'h2:', level: 'read committed' } as const;
  const wrote = { kind: 'update', sql: 'UPDATE t SET v = 5 WHERE id = 1', transaction: 2 } as const;
  const failed = { ...wrote, sql: 'UPDATE t SET v = 1 / (v - 1)', outcome: 'error' } as const;
  const hangs = { kind: 'update', sql: 'UPDATE t SET v = 9', end: null, outcome: 'unknown' } as const;
  const about = (...operations: readonly Partial<Operation>[]) =>
    bugBehind(findingOf('no-answer', operations.length - 1), historyOf(...operations), h2)?.report;

  it('waits for an open transaction that wrote to its table and had a statement undone', () => {
    expect(about(failed, wrote, hangs)).toContain('H2');
    expect(about(wrote, failed, hangs)).toContain('H2');
    const back = { kind: 'rollback-to', sql: 'ROLLBACK TO SAVEPOINT s', transaction: 2 } as const;
    expect(about(back, wrote, hangs)).toContain('H2');
    // The failure comes while it waits already.
    const [op, waits] = [historyOf(wrote, hangs, failed), findingOf('no-answer', 1)];
    expect(bugBehind(waits, op, h2)?.report).toContain('H2');
    // It writes the row meanwhile, as another that waited.
    expect(bugBehind(waits, historyOf(failed, hangs, wrote), h2)?.report).toContain('H2');
    expect(bugBehind(findingOf('no-answer', 0), historyOf(hangs, failed, wrote), h2)).toBeUndefined();
  });

  it.each<[string, readonly Partial<Operation>[]]>([
    ['nothing undone', [wrote, hangs]],
    ['nothing written', [failed, hangs]],
    [
      'the other one ended before',
      [wrote, failed, { kind: 'commit', transaction: 2, ends: 'commit' }, hangs],
    ],
    ['another table', [failed, { ...wrote, sql: 'UPDATE s SET v = 5' }, hangs]],
    ['its own failure', [{ ...failed, transaction: 1 }, { ...wrote, transaction: 1 }, hangs]],
    ['the failure ended the transaction', [wrote, { ...failed, ends: 'rollback' }, hangs]],
  ])('is not explained by %s', (_, operations) => {
    expect(about(...operations)).toBeUndefined();
  });
});
