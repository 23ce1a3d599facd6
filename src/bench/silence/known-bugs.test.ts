import { describe, expect, it } from 'vitest';
import type { Finding } from '../../check/index.js';
import type { History, Operation } from '../../histories/index.js';
import { bugBehind } from './known-bugs.js';

/** One transaction; each statement is answered before the next is sent. */
function historyOf(...operations: readonly Partial<Operation>[]): History {
  return {
    header: {
      sessions: ['T1'],
      dialect: 'mysql',
      setup: ['CREATE TABLE t (id INT PRIMARY KEY, v INT, KEY k (v))'],
    },
    operations: operations.map((each, index) => ({
      ...{ index, session: 0, transaction: 1, kind: 'select', outcome: 'ok' },
      ...{ start: index * 10, end: index * 10 + 5 },
      ...each,
    })),
  } as unknown as History;
}

function findingOf(kind: string, ...indexes: readonly number[]): Finding {
  const operations = indexes.map((index) => ({ index, transaction: 1, text: '' }));
  return { kind, operations, transactions: [{ id: 1 }] } as unknown as Finding;
}

const noOp = { kind: 'update', sql: 'UPDATE t SET v = 1', matched: 2, changed: 1 } as const;
const read = { kind: 'select', sql: 'SELECT * FROM t' } as const;
const innodb = { url: 'mariadb:', level: 'repeatable read' } as const;
const myrocks = { url: 'mariadb:?engine=rocksdb', level: 'repeatable read' } as const;

describe('a known bug', () => {
  it('is behind a finding if its cause came before, not after', () => {
    const finding = findingOf('own-write-missed', 1);
    expect(bugBehind(finding, historyOf(noOp, read), innodb)?.report).toContain('MDEV-26642');
    expect(bugBehind(finding, historyOf(read, read, noOp), innodb)).toBeUndefined();
  });

  it('is one of its engine and level, and of its kinds of findings', () => {
    const history = historyOf(noOp, read);
    expect(bugBehind(findingOf('stale-read', 1), history, innodb)).toBeUndefined();
    expect(bugBehind(findingOf('own-write-missed', 1), history, myrocks)).toBeUndefined();
    expect(
      bugBehind(findingOf('own-write-missed', 1), history, { ...innodb, level: 'serializable' }),
    ).toBeUndefined();
  });

  it('of moved keys needs another transaction that moved them meanwhile', () => {
    const begin = { kind: 'begin', sql: 'BEGIN' } as const;
    const write = { kind: 'update', sql: 'UPDATE t SET v = 5 WHERE id = 2', matched: 1, changed: 1 } as const;
    const other = (sql: string) =>
      ({ kind: 'update', sql, transaction: 2, session: 1, ends: 'commit' }) as const;
    const behind = (sql: string) =>
      bugBehind(findingOf('internal', 3), historyOf(begin, other(sql), write, read), innodb)?.report;
    expect(behind('UPDATE t SET id = 2 WHERE id = 1')).toContain('113228');
    expect(behind('UPDATE s SET id = 2 WHERE id = 1')).toBeUndefined();
    expect(bugBehind(findingOf('internal', 2), historyOf(begin, write, read), innodb)).toBeUndefined();
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
    const elsewhere = { ...read, sql: 'SELECT * FROM s' };
    expect(bugBehind(findingOf('own-write-missed', 1), historyOf(noOp, elsewhere), innodb)).toBeUndefined();
  });
});

describe('the uncommitted DELETE that a write of MariaDB 11.8 does not wait for', () => {
  const place = { url: 'mariadb@11.8:', level: 'read uncommitted' } as const;
  const gone = { kind: 'delete', sql: 'DELETE FROM t WHERE id = 1', transaction: 2 } as const;
  const write = { kind: 'update', sql: 'UPDATE t SET v = 3' } as const;
  const end = { kind: 'commit', sql: 'COMMIT', transaction: 2, ends: 'commit' } as const;
  const about = (index: number, ...operations: readonly Partial<Operation>[]) =>
    bugBehind(findingOf('write-missed-row', index), historyOf(...operations), place)?.report;

  it('needs a DELETE from the same table by a transaction that is open', () => {
    expect(about(1, gone, write, end)).toContain('uncommitted DELETE');
    expect(about(2, gone, end, write)).toBeUndefined();
    expect(about(0, write, gone, end)).toBeUndefined();
    expect(about(1, { ...gone, sql: 'DELETE FROM s' }, write, end)).toBeUndefined();
    expect(about(1, { ...gone, transaction: 1 }, write)).toBeUndefined();
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
});

describe('the state before a wait that HSQLDB reads with MVLOCKS', () => {
  const mvlocks = { url: 'hsqldb:?tx=mvlocks', level: 'serializable' } as const;
  const write = { kind: 'update', sql: 'UPDATE t SET v = 1', transaction: 2, start: 0, end: 5 } as const;
  const commit = { kind: 'commit', transaction: 2, ends: 'commit', start: 25, end: 28 } as const;
  const earlier = { kind: 'update', sql: 'UPDATE s SET v = 1', start: 10, end: 15 } as const;
  const waited = { ...read, start: 20, end: 30 };
  /** About the last SELECT. */
  const about = (...operations: readonly Partial<Operation>[]) => {
    const at = operations.findLastIndex(({ kind }) => kind === 'select');
    const finding = {
      ...findingOf('stale-read', at),
      transactions: [{ id: operations[at]!.transaction ?? 1 }],
    };
    return bugBehind(finding as unknown as Finding, historyOf(...operations), mvlocks)?.report;
  };

  it('needs a statement before the wait, and a wait for the writer of a table it uses', () => {
    expect(about(write, earlier, waited, commit)).toContain('after a wait');
    // Whoever it waits for: what was committed since its first statement is not seen.
    const insert = {
      kind: 'insert',
      sql: 'INSERT INTO t VALUES (7, 7)',
      transaction: 3,
      ends: 'commit',
    } as const;
    const between = { ...insert, start: 16, end: 18 };
    expect(about(write, earlier, between, waited, { ...commit, ends: 'rollback' })).toContain('after a wait');
  });

  it('is behind what others see after such a transaction has written, and only in that table', () => {
    const wrote = { ...waited, kind: 'update', sql: 'UPDATE t SET v = 2' } as const;
    const reader = { ...read, transaction: 4, start: 40, end: 45 };
    expect(about(write, earlier, wrote, commit, reader)).toContain('after a wait');
    expect(about(write, earlier, wrote, commit, { ...reader, sql: 'SELECT * FROM r' })).toBeUndefined();
  });

  it.each<[string, readonly Partial<Operation>[]]>([
    ['no statement before', [write, waited, commit]],
    ['only a BEGIN before', [write, { ...earlier, kind: 'begin', sql: 'START TRANSACTION' }, waited, commit]],
    ['no wait: the commit came before', [write, earlier, { ...waited, start: 29 }, commit]],
    ['no wait: the commit came after', [write, earlier, { ...waited, end: 24 }, commit]],
    ['nothing committed since', [write, earlier, waited, { ...commit, ends: 'rollback' }]],
    ['a writer of another table', [{ ...write, sql: 'UPDATE r SET v = 1' }, earlier, waited, commit]],
  ])('is not behind %s', (_, operations) => {
    expect(about(...operations)).toBeUndefined();
  });
});

describe('the conflicts that DuckDB misses', () => {
  const duckdb = { url: 'duckdb:', level: 'snapshot' } as const;
  const setup = ['CREATE TABLE t (id INT PRIMARY KEY, v INT, w INT)', 'CREATE TABLE s (id INT, v INT)'];
  const begin = { kind: 'select', sql: 'SELECT * FROM t WHERE id = 9', transaction: 2 } as const;
  const one = (sql: string, rest: Partial<Operation> = {}): Partial<Operation> => ({
    ...{ kind: sql.startsWith('DELETE') ? 'delete' : 'update', sql, matched: 1, ends: 'commit' },
    ...rest,
  });
  const two = (sql: string): Partial<Operation> => one(sql, { transaction: 2 });
  const about = (finding: Finding, ...operations: readonly Partial<Operation>[]) => {
    const { header, ...rest } = historyOf(...operations);
    return bugBehind(finding, { header: { ...header, dialect: 'duckdb', setup }, ...rest }, duckdb)?.report;
  };
  const changed = findingOf('update-of-changed-row', 2, 1);

  it.each([
    ['a DELETE and an UPDATE', 'DELETE FROM t', 'UPDATE t SET v = 1'],
    ['UPDATEs of different columns', 'UPDATE t SET v = 1 WHERE id = 1', 'UPDATE t SET w = 1 WHERE id = 1'],
    ['UPDATEs of one column, to a value and to NULL', 'UPDATE t SET v = 1', 'UPDATE t SET v = NULL'],
    ['a DELETE and an upsert', 'DELETE FROM t', 'INSERT OR REPLACE INTO t VALUES (1, 2, 3)'],
    ['an UPDATE of a key', 'UPDATE t SET id = 4, v = 1', 'UPDATE t SET v = 2'],
  ])('are %s of one row', (_, first, second) => {
    expect(about(changed, begin, one(first), two(second))).toContain('#17223');
  });

  it.each<[string, Finding, readonly Partial<Operation>[]]>([
    [
      'a DELETE and a plain INSERT',
      changed,
      [begin, one('DELETE FROM t'), two('INSERT INTO t VALUES (1, 2, 3)')],
    ],
    [
      'UPDATEs of one column to NULL',
      changed,
      [begin, one('UPDATE t SET v = NULL'), two('UPDATE t SET v = NULL')],
    ],
    ['two DELETEs', changed, [begin, one('DELETE FROM t'), two('DELETE FROM t')]],
    ['UPDATEs of one column', changed, [begin, one('UPDATE t SET v = 1'), two('UPDATE t SET v = 2, w = 1')]],
    [
      'writes of other rows',
      changed,
      [begin, one('UPDATE t SET v = 1 WHERE id = 1'), two('UPDATE t SET w = 1 WHERE id = 2')],
    ],
    [
      'a write that found nothing',
      changed,
      [begin, one('DELETE FROM t', { matched: 0 }), two('UPDATE t SET w = 1')],
    ],
    [
      'a write that failed',
      changed,
      [begin, one('DELETE FROM t', { outcome: 'error' }), two('UPDATE t SET w = 1')],
    ],
    [
      'a write that was rolled back before',
      changed,
      [begin, one('DELETE FROM t', { ends: 'rollback' }), two('UPDATE t SET w = 1')],
    ],
    [
      'transactions one after another',
      findingOf('wrong-version', 1),
      [one('DELETE FROM t'), two('UPDATE t SET w = 1')],
    ],
    [
      'another table',
      findingOf('wrong-version', 3),
      [begin, one('DELETE FROM s'), two('UPDATE s SET v = 1'), { ...read, transaction: 3 }],
    ],
    [
      'another row of the table',
      {
        ...findingOf('wrong-version', 3),
        versions: [{ operation: 3, object: 't/7', seen: {}, allowed: [] }],
      } as unknown as Finding,
      [
        ...[begin, one('UPDATE t SET v = 1 WHERE id = 1'), two('UPDATE t SET w = 1 WHERE id = 1')],
        { ...read, transaction: 3 },
      ],
    ],
  ])('are not behind %s', (_, finding, operations) => {
    expect(about(finding, ...operations)).toBeUndefined();
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
