import { describe, expect, it } from 'vitest';
import type { Finding } from '../../check/index.js';
import type { Operation } from '../../histories/index.js';
import { bugBehind } from './known-bugs.js';
import { begin, byOther, findingOf, historyOf, innodb, noOp, read, sameValue } from './known-lab.case.js';

describe('an own update that changes nothing', () => {
  it('may be an upsert, unless they say what they changed', () => {
    const sql = 'INSERT INTO t VALUES (1, 7) ON DUPLICATE KEY UPDATE v = 1';
    const upsert = { kind: 'insert', sql, matched: 1 } as const;
    const behind = (write: Partial<Operation>, url: string) =>
      bugBehind(findingOf('own-write-missed', 3), historyOf(begin, sameValue, write, read), {
        ...innodb,
        url,
      })?.report;
    expect(behind(upsert, 'tidb:')).toContain('TiDB #42487');
    expect(behind(upsert, 'mariadb:')).toContain('MDEV-26642');
    expect(behind({ ...upsert, changed: 1 }, 'tidb:')).toBeUndefined();
    expect(behind({ ...upsert, sql: 'REPLACE INTO t VALUES (1, 1)', changed: 1 }, 'tidb:')).toContain(
      '42487',
    );
    expect(behind({ ...upsert, outcome: 'error' }, 'tidb:')).toBeUndefined();
    expect(behind({ ...upsert, sql: 'INSERT INTO t VALUES (1, 7)' }, 'tidb:')).toBeUndefined();
  });

  it.each<[string, readonly Partial<Operation>[]]>([
    ['there is none', [begin, read, noOp, read]],
    ['it committed before', [sameValue, begin, noOp, read]],
    ['it was rolled back', [begin, { ...sameValue, ends: 'rollback' }, noOp, read]],
    ['it wrote another table', [begin, byOther('UPDATE s SET v = 1'), noOp, read]],
    ['it came after the own UPDATE', [begin, noOp, sameValue, read]],
  ])('needs another transaction that wrote the same: %s', (_, operations) => {
    for (const url of ['mariadb:', 'tidb:'])
      expect(
        bugBehind(findingOf('own-write-missed', 3), historyOf(...operations), { ...innodb, url }),
      ).toBeUndefined();
  });

  const about = (operations: readonly Partial<Operation>[], finding: Partial<Finding>) => {
    const shown = { ...findingOf('own-write-missed', operations.length - 1), ...finding };
    return bugBehind(shown, historyOf(...operations), innodb)?.report;
  };

  it('may be an upsert of one row, unless that counts twice', () => {
    const sql = 'INSERT INTO t (id, v) VALUES (1, 0) ON DUPLICATE KEY UPDATE v = 1';
    const upsert = { kind: 'insert', sql, matched: 1 } as const;
    expect(about([begin, sameValue, upsert, read], {})).toContain('MDEV-26642');
    expect(about([begin, sameValue, { ...upsert, matched: 2 }, read], {})).toBeUndefined();
    const two = { ...upsert, sql: sql.replace('(1, 0)', '(1, 0), (2, 0)'), matched: 2 };
    expect(about([begin, sameValue, two, read], {})).toContain('MDEV-26642');
  });

  it('is the write that the finding names', () => {
    const changes = {
      kind: 'update',
      sql: 'UPDATE t SET v = 5 WHERE id = 1',
      matched: 1,
      changed: 1,
    } as const;
    const operations = [begin, sameValue, noOp, changes, read];
    expect(about(operations, findingOf('own-write-missed', 4, 2))).toContain('MDEV-26642');
    expect(about(operations, findingOf('own-write-missed', 4, 3))).toBeUndefined();
    const replace = { kind: 'insert', sql: 'REPLACE INTO t (id, v) VALUES (2, 0)', matched: 1 } as const;
    expect(about([begin, sameValue, replace, changes, read], findingOf('own-write-missed', 4, 3))).toBe(
      undefined,
    );
  });

  it.each<[string, boolean, string, string, string, string?]>([
    ['all of them', true, 'WHERE id = 1', 'WHERE id = 1', 'WHERE id = 1', 't/1'],
    ['no row that is named', true, '', '', ''],
    ['another row of the other one', false, 'WHERE id = 9', 'WHERE id = 1', ''],
    ['another row that is read', false, '', 'WHERE id = 1', 'WHERE id = 2'],
    ['another row that is named', false, '', 'WHERE id = 1', '', 't/2'],
    ['another row of the other one than is named', false, 'WHERE id = 1', '', '', 't/2'],
  ])('is of one row with what the other wrote and what is read: %s', (_, same, other, own, seen, object) => {
    const operations = [
      ...[begin, byOther(`UPDATE t SET v = 1 ${other}`)],
      ...[
        { ...noOp, sql: `UPDATE t SET v = 1 ${own}` },
        { ...read, sql: `SELECT * FROM t ${seen}` },
      ],
    ];
    const versions = object === undefined ? [] : [{ object }];
    const behind = about(operations, { versions } as unknown as Partial<Finding>);
    expect(behind?.includes('MDEV-26642') ?? false).toBe(same);
  });

  it('may be of a row that the other one has inserted', () => {
    const inserted = (id: number) => byOther(`INSERT INTO t (id, v) VALUES (${id}, 1)`, { kind: 'insert' });
    const own = { ...noOp, sql: 'UPDATE t SET v = 1 WHERE id = 7', matched: 1, changed: 0 };
    expect(about([begin, inserted(7), own, read], {})).toContain('MDEV-26642');
    expect(about([begin, inserted(8), own, read], {})).toBeUndefined();
  });
});
