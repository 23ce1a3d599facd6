import { expect, it } from 'vitest';
import type { Finding } from '../../check/index.js';
import type { Operation } from '../../histories/index.js';
import { bugBehind } from './known-bugs.js';
import { findingOf, historyOf } from './known-lab.case.js';

/** `rid` names the rows for good, as in generated cases. */
const setup = [
  'CREATE TABLE t (rid INT, id INT PRIMARY KEY, v INT)',
  'INSERT INTO t (rid, id, v) VALUES (1, 3, 1), (2, 10, 2)',
  'CREATE TABLE u (rid INT, id INT PRIMARY KEY)',
];
const by = (transaction: number, start: number, end: number, sql: string): Partial<Operation> => ({
  ...{ transaction, session: transaction, start, end, sql, matched: 1 },
  kind: sql.split(' ')[0]!.toLowerCase() as Operation['kind'],
  ...(/^(COMMIT|ROLLBACK)/.test(sql) && { ends: sql.toLowerCase() as 'commit' }),
});
const moves = by(2, 1, 2, 'UPDATE t SET id = 103 WHERE id = 3');
const waits = by(3, 3, 12, 'UPDATE t SET v = 45');
const insert = by(1, 4, 13, 'INSERT INTO t (rid, id, v) VALUES (16, 3, 60)');
const commit = by(2, 10, 11, 'COMMIT');
const rollback = by(3, 20, 21, 'ROLLBACK');
const read = by(1, 30, 31, 'SELECT * FROM t');

const behind = (...operations: readonly Partial<Operation>[]) => about({}, ...operations);
/** About row 16, at the last operation, where `other` says nothing else. */
const about = (other: Partial<Finding>, ...operations: readonly Partial<Operation>[]) => {
  const finding = {
    ...findingOf('own-write-missed', operations.length - 1),
    versions: [{ object: 't/16', operation: 0, seen: '', allowed: [] }],
    ...other,
  };
  const { header, ...rest } = historyOf(...operations);
  const place = { url: 'h2:', level: 'read committed' } as const;
  return bugBehind(finding as unknown as Finding, { header: { ...header, setup }, ...rest }, place)?.report;
};

it('is behind an INSERT that waited for its key and is gone after the ROLLBACK of another who waited', () => {
  expect(behind(moves, waits, insert, commit, rollback, read)).toContain('H2');
});

it.each<[string, readonly Partial<Operation>[]]>([
  ['nobody rolls back', [moves, waits, insert, commit, read]],
  ['the other commits', [moves, waits, insert, commit, by(3, 20, 21, 'COMMIT'), read]],
  ['nobody had the key before', [waits, insert, rollback, read]],
  [
    'the key was free long before',
    [moves, by(2, 2, 3, 'COMMIT'), by(3, 3, 12, 'UPDATE t SET v = 45'), insert, rollback, read],
  ],
  [
    'the row is another one',
    [moves, waits, by(1, 4, 13, 'INSERT INTO t (rid, id, v) VALUES (17, 7, 60)'), commit, rollback, read],
  ],
  ['the ROLLBACK comes later', [moves, waits, insert, commit, by(3, 40, 41, 'ROLLBACK'), read]],
  [
    'the other wrote only later',
    [moves, by(3, 15, 16, 'UPDATE t SET v = 45'), insert, commit, rollback, read],
  ],
  [
    'the key was free all the time',
    [
      by(2, 1, 2, 'UPDATE t SET v = 9 WHERE id = 10'),
      by(3, 3, 12, 'UPDATE t SET v = 45 WHERE id = 10'),
      ...[by(1, 4, 13, 'INSERT INTO t (rid, id, v) VALUES (16, 77, 60)'), commit, rollback, read],
    ],
  ],
  [
    'nobody has taken a row away',
    [by(2, 1, 2, 'UPDATE t SET v = 9 WHERE id = 3'), waits, insert, commit, rollback, read],
  ],
  [
    'the row that was taken away had another key',
    [by(2, 1, 2, 'DELETE FROM t WHERE id = 10'), waits, insert, commit, rollback, read],
  ],
  [
    'the write that was rolled back was at another row',
    [moves, by(3, 3, 12, 'UPDATE t SET v = 45 WHERE id = 10'), insert, commit, rollback, read],
  ],
  [
    'the write that was rolled back was at another row, by its name',
    [
      by(2, 1, 2, 'DELETE FROM t WHERE rid = 1'),
      by(3, 3, 12, 'UPDATE t SET v = 45 WHERE rid = 2'),
      ...[insert, commit, rollback, read],
    ],
  ],
  [
    'the INSERT itself was rolled back',
    [moves, waits, insert, commit, by(1, 14, 15, 'ROLLBACK'), rollback, read],
  ],
])('is not if %s', (_, operations) => {
  expect(behind(...operations)).toBeUndefined();
});

it('is behind it where the row was deleted, or another column names it', () => {
  for (const sql of [
    'DELETE FROM t WHERE id = 3',
    'DELETE FROM t WHERE rid = 1',
    'UPDATE t SET id = id + 100',
  ])
    expect(behind(by(2, 1, 2, sql), waits, insert, commit, rollback, read), sql).toContain('H2');
  const at = by(3, 3, 12, 'UPDATE t SET v = 45 WHERE id = 3');
  expect(behind(moves, at, insert, commit, rollback, read)).toContain('H2');
  // The INSERT is rolled back after the finding has shown.
  const end = by(1, 40, 41, 'ROLLBACK');
  const { operations } = findingOf('own-write-missed', 5);
  expect(about({ operations }, moves, waits, insert, commit, rollback, read, end)).toContain('H2');
});

it('is not behind what shows in another table', () => {
  const counts = { kind: 'wrong-result', versions: [] } as const;
  const of = (table: string) =>
    about(
      counts,
      ...[moves, waits, insert, commit, rollback],
      by(4, 30, 31, `SELECT COUNT(*) FROM ${table}`),
    );
  expect(of('t')).toContain('H2');
  expect(of('u')).toBeUndefined();
});

it('is behind a lost write, which shows at the end, whatever the finding names', () => {
  const lost = findingOf('lost-write', 2);
  expect(about(lost, moves, waits, insert, commit, rollback)).toContain('H2');
  expect(about(lost, moves, waits, insert, commit)).toBeUndefined();
  expect(about(lost, moves, waits, insert, commit, by(1, 14, 15, 'ROLLBACK'), rollback)).toBeUndefined();
});
