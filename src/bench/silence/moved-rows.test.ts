import { describe, expect, it } from 'vitest';
import type { Finding } from '../../check/index.js';
import type { Operation } from '../../histories/index.js';
import { bugBehind } from './known-bugs.js';
import { begin, byOther, findingOf, historyOf, read } from './known-lab.case.js';

describe('a row that another transaction has moved', () => {
  /** `rid` names the rows for good, as in generated cases. */
  const tables = (key: string) => [
    `CREATE TABLE t (rid INT, id INT NOT NULL, v INT, ${key})`,
    'CREATE TABLE s (rid INT, id INT PRIMARY KEY)',
    'INSERT INTO t (rid, id, v) VALUES (1, 1, 0), (2, 2, 0)',
    'INSERT INTO s (rid, id) VALUES (1, 1)',
  ];
  const moved = byOther('UPDATE t SET id = 9 WHERE rid = 1');
  const { ends: _, ...open } = moved;
  const write = { kind: 'update', sql: 'UPDATE t SET v = 5 WHERE rid = 1', matched: 1 } as const;
  const gone = { kind: 'delete', sql: 'DELETE FROM t WHERE rid IN (1, 7)', matched: 1 } as const;
  /** About the last operation; `key`: how `id` is declared. */
  const about = (
    operations: readonly Partial<Operation>[],
    { url = 'tidb:', key = 'PRIMARY KEY (id)', finding = {} as Partial<Finding> } = {},
  ) => {
    const { header, ...rest } = historyOf(...operations);
    const history = { header: { ...header, setup: tables(key) }, ...rest };
    const shown = { ...findingOf('own-write-missed', operations.length - 1), ...finding };
    return bugBehind(shown, history, { url, level: 'repeatable read' })?.report;
  };

  it.each([
    ['tidb:', 'TiDB #48960'],
    ['mariadb:', 'MySQL #113228'],
  ])('is seen at its old key, too, on %s', (url, report) => {
    expect(about([begin, moved, write, read], { url })).toContain(report);
    expect(about([begin, moved, gone, read], { url })).toContain(report);
    const other = { ...write, sql: 'UPDATE t SET id = 3 WHERE rid = 1' };
    expect(about([begin, moved, other, read], { url })).toContain(report);
    const upsert = 'INSERT INTO t (rid, id, v) VALUES (4, 9, 0) ON DUPLICATE KEY UPDATE v = 1';
    // The graph's rounds mark each row, so there is no upsert that changes nothing.
    const finding = findingOf('internal', 3);
    const own = { ...write, kind: 'insert', sql: upsert } as const;
    expect(about([begin, moved, own, read], { url, finding })).toContain(report);
    const byUpsert = byOther(upsert.replace('v = 1', 'id = 8'), { kind: 'insert' });
    expect(about([begin, byUpsert, write, read], { url })).toContain(report);
  });

  it('is moved while its transaction waits for the other one, whose COMMIT may be answered later', () => {
    const waits = { ...write, start: 20, end: 45 };
    const commit = { kind: 'commit', sql: 'COMMIT', transaction: 2, ends: 'commit', end: 70 } as const;
    const later = { ...read, start: 50, end: 55 };
    const finding = findingOf('own-write-missed', 4);
    expect(about([begin, open, waits, commit, later], { finding })).toContain('48960');
    expect(about([begin, open, waits, { ...commit, start: 46 }, later], { finding })).toBeUndefined();
  });

  it.each<[string, readonly Partial<Operation>[]]>([
    ['nobody has moved', [begin, write, read]],
    ['was moved before the transaction began', [moved, begin, write, read]],
    ['was moved after the own write', [begin, write, moved, read]],
    ['was moved by a transaction that was rolled back', [begin, { ...moved, ends: 'rollback' }, write, read]],
    ['was moved by a statement that failed', [begin, { ...moved, outcome: 'error' }, write, read]],
    ['was not found by the one that moves', [begin, { ...moved, matched: 0 }, write, read]],
    ['was not changed by the one that moves', [begin, { ...moved, changed: 0 }, write, read]],
    ['was moved by the transaction itself', [begin, { ...open, transaction: 1 }, write, read]],
    ['kept its key', [begin, byOther('UPDATE t SET v = 9 WHERE rid = 1'), write, read]],
    ['was given its own key', [begin, byOther('UPDATE t SET id = id WHERE rid = 1'), write, read]],
    ['is in another table', [begin, byOther('UPDATE s SET id = 9 WHERE rid = 1'), write, read]],
    ['is another one', [begin, byOther('UPDATE t SET id = 9 WHERE rid = 2'), write, read]],
    [
      'is another one than the one read',
      [begin, moved, write, { ...read, sql: `${read.sql} WHERE rid = 2` }],
    ],
    ['was not found by the own write', [begin, moved, { ...write, matched: 0 }, read]],
    [
      'the transaction has only inserted beside',
      [
        ...[begin, moved],
        { kind: 'insert', sql: 'INSERT INTO t (rid, id, v) VALUES (4, 4, 4)', matched: 1 },
        read,
      ],
    ],
    ['is read in another table', [begin, moved, write, { ...read, sql: 'SELECT * FROM s' }]],
  ])('is not behind a row that %s', (_, operations) => {
    for (const url of ['tidb:', 'mariadb:']) expect(about(operations, { url })).toBeUndefined();
  });

  it('has an address: a clustered key in TiDB, the first unique key that is never NULL in InnoDB', () => {
    const operations = [begin, moved, write, read];
    const at = (key: string) =>
      ['tidb:', 'mariadb:'].map((url) => about(operations, { url, key }) !== undefined);
    expect(at('PRIMARY KEY (id) CLUSTERED')).toEqual([true, true]);
    expect(at('PRIMARY KEY (id) NONCLUSTERED')[0]).toBe(false);
    expect(at('primary key (id) nonclustered')[0]).toBe(false);
    expect(at('UNIQUE (id)')).toEqual([false, true]);
    expect(at('UNIQUE (v), UNIQUE (id)')).toEqual([false, true]);
    expect(at('KEY (id)')).toEqual([false, false]);
    expect(at('k INT PRIMARY KEY, UNIQUE (id)')).toEqual([false, false]);
    expect(at('UNIQUE (id, v)')).toEqual([false, false]);
  });

  it('is the row that the finding names, and met by the write that the finding names', () => {
    const any = byOther('UPDATE t SET id = id + 8');
    const names = (object: string) =>
      ({ oracle: 'mechanism', versions: [{ object }] }) as unknown as Partial<Finding>;
    expect(about([begin, any, write, read], { finding: names('t/1') })).toContain('48960');
    expect(about([begin, any, write, read], { finding: names('t/2') })).toBeUndefined();
    // The graph's name of a row, by a column that nobody assigns.
    const label = (object: string) =>
      ({ ...names(object), kind: 'internal', oracle: 'dependency-graph' }) as const;
    expect(about([begin, any, write, read], { finding: label('t[rid=1]') })).toContain('48960');
    expect(about([begin, any, write, read], { finding: label('t[rid=2]') })).toBeUndefined();
    const second = { ...write, sql: 'UPDATE t SET v = 5 WHERE rid = 2' };
    const operations = [begin, moved, write, second, read];
    expect(about(operations, { finding: findingOf('internal', 2, 4) })).toContain('48960');
    expect(about(operations, { finding: findingOf('internal', 3, 4) })).toBeUndefined();
  });
});

it('is passed by in H2 where the write waited for the one who moved it, or may have', () => {
  const setup = [
    'CREATE TABLE t (rid INT, k INT PRIMARY KEY)',
    'INSERT INTO t (rid, k) VALUES (1, 1), (2, 2)',
  ];
  const about = (sql: string, level: 'repeatable read' | 'read committed' = 'repeatable read') => {
    const other = byOther(sql, { start: 6, end: 8 });
    const { header, operations } = historyOf(begin, other, {
      kind: 'delete',
      sql: 'DELETE FROM t',
      matched: 1,
    });
    const history = { header: { ...header, setup }, operations };
    return bugBehind(findingOf('write-missed-row', 2), history, { url: 'h2:', level })?.report;
  };
  expect(about('UPDATE t SET k = 5 WHERE rid = 2')).toContain('H2 passes by');
  expect(about('UPDATE t SET rid = 5 WHERE rid = 2')).toBeUndefined();
  expect(about('UPDATE t SET k = 5 WHERE rid = 2', 'read committed')).toBeUndefined();
});
