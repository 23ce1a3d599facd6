import { describe, expect, it } from 'vitest';
import type { Finding } from '../../check/index.js';
import type { Operation } from '../../histories/index.js';
import { bugBehind } from './known-bugs.js';
import { findingOf, historyOf, read } from './known-lab.case.js';

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
    ['an UPDATE with RETURNING, and one without', 'UPDATE t SET v = 1', 'UPDATE t SET v = 2 RETURNING id'],
    [
      'an upsert with RETURNING, and an UPDATE',
      'INSERT INTO t VALUES (1, 2, 3) ON CONFLICT (id) DO UPDATE SET v = 1 RETURNING id',
      'UPDATE t SET v = 2',
    ],
    [
      'an UPDATE, and a MERGE that deletes',
      'UPDATE t SET v = 1',
      'MERGE INTO t USING (SELECT 1 AS id) AS s ON t.id = s.id WHEN MATCHED THEN DELETE',
    ],
  ])('are %s of one row', (_, first, second) => {
    expect(about(changed, begin, one(first), two(second))).toContain('#17223');
  });

  it('leave one row of a transaction and not another, which looks like half a snapshot', () => {
    const later = { ...read, transaction: 3 } as const;
    const halves = findingOf('fractured-snapshot', 3);
    expect(about(halves, begin, one('DELETE FROM t'), two('UPDATE t SET v = 1'), later)).toContain('#17223');
    expect(about(halves, begin, one('DELETE FROM t'), two('UPDATE s SET v = 1'), later)).toBeUndefined();
  });

  it('begin with the first statement, in runs for the dependency graph with BEGIN', () => {
    const only = { kind: 'begin', sql: 'BEGIN', transaction: 2 } as const;
    const pair = [one('UPDATE t SET v = 1'), two('DELETE FROM t')];
    expect(about({ ...changed, oracle: 'mechanism' }, only, ...pair)).toBeUndefined();
    expect(
      about({ ...findingOf('update-of-changed-row', 3, 2), oracle: 'mechanism' }, only, begin, ...pair),
    ).toContain('#17223');
    // Such a run reads right after BEGIN, and does not show it.
    expect(about({ ...changed, oracle: 'dependency-graph' }, only, ...pair)).toContain('#17223');
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
    [
      'two UPDATEs with RETURNING',
      changed,
      [begin, one('UPDATE t SET v = 1 RETURNING id'), two('UPDATE t SET v = 2 RETURNING id')],
    ],
    [
      'an UPDATE with RETURNING in a table without indexes',
      findingOf('wrong-version', 3),
      [
        ...[begin, one('UPDATE s SET v = 1'), two('UPDATE s SET v = 2 RETURNING id')],
        { ...read, sql: 'SELECT * FROM s', transaction: 3 },
      ],
    ],
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

  const index = { kind: 'ddl', sql: 'CREATE INDEX i ON s (v)', transaction: 3, ends: 'commit' } as const;

  it('depend on the indexes that were there', () => {
    const finding = findingOf('update-of-changed-row', 3, 2);
    const [update, remove] = [one('UPDATE s SET v = 1'), two('DELETE FROM s')];
    expect(about(finding, begin, update, remove, index)).toContain('#17223');
    // Now both remove the row, and DuckDB sees that.
    expect(about(finding, index, begin, update, remove)).toBeUndefined();
  });

  /** The dependency graph's names of a row. */
  const inGraph = (kind: string, object: string, ...indexes: readonly number[]) =>
    ({
      ...findingOf(kind, ...indexes),
      oracle: 'dependency-graph',
      versions: [{ operation: indexes[0], object, seen: {}, allowed: [] }],
    }) as unknown as Finding;

  it('are behind a row that is gone, if they can have met the row that the finding names by who made it', () => {
    const made = (sql: string) => ({ kind: 'insert', sql, transaction: 3, ends: 'commit' }) as const;
    const lost = (id: number, ...pair: readonly Partial<Operation>[]) =>
      about(
        inGraph('lost-write', 't/88.3.1', 0),
        made(`INSERT INTO t (id, v, w) VALUES (${id}, 5, 5)`),
        begin,
        ...pair,
      );
    const pair = [one('UPDATE t SET v = 1 WHERE id = 7'), two('DELETE FROM t WHERE v = 6')];
    expect(lost(7, ...pair)).toContain('#17223');
    expect(lost(8, ...pair)).toBeUndefined();
    expect(lost(7, pair[0]!)).toBeUndefined();
    expect(about(inGraph('incompatible-order', 't/88.3.1', 1, 2), begin, ...pair)).toContain('#17223');
  });

  it('are of the row that the graph names by its key, unless somebody has changed that', () => {
    const order = (object: string, ...operations: readonly Partial<Operation>[]) =>
      about(inGraph('incompatible-order', object, 1, 2), begin, ...operations);
    const pair = [one('UPDATE t SET v = 1 WHERE id = 7'), two('DELETE FROM t WHERE id = 7 AND w = 3')];
    expect(order('t[id=7]', ...pair)).toContain('#17223');
    expect(order('t[id=8]', ...pair)).toBeUndefined();
    expect(order('t[id=7, w=4]', ...pair)).toBeUndefined();
    expect(order('t[w=NULL]', ...pair)).toContain('#17223');
    // Not the name of any column: a text with a comma in it.
    expect(order('t[w=a, b]', ...pair)).toContain('#17223');
    expect(order('s[id=7]', ...pair)).toBeUndefined();
    const moved = { ...one('UPDATE t SET id = 7 WHERE id = 8'), transaction: 3 };
    expect(order('t[id=8]', ...pair, moved)).toContain('#17223');
  });

  it('are behind what only the closing read shows, if one of the two came before the version that was read', () => {
    const finding = inGraph('incompatible-order', 't[id=1, w=a/b]', 2);
    const own = { kind: 'update', sql: 'UPDATE t SET v = 1', matched: 1 } as const;
    const end = { kind: 'commit', sql: 'COMMIT', ends: 'commit' } as const;
    const later = two('UPDATE t SET v = 2 RETURNING id');
    expect(about(finding, begin, own, read, later, end)).toContain('#17223');
    expect(about(finding, begin, own, read, end, two('UPDATE s SET v = 2'))).toBeUndefined();
    const [third, fourth] = [3, 4].map((transaction) => ({ ...later, transaction }));
    const other = { ...own, transaction: 4 } as const;
    expect(about(finding, begin, read, read, other, third!, { ...end, transaction: 4 })).toBeUndefined();
    // Two readers are named: what came after both explains nothing.
    const both = inGraph('incompatible-order', 't[id=1]', 1, 2);
    expect(about(both, begin, own, { ...read, transaction: 3 }, fourth!, end)).toBeUndefined();
  });
});

describe('the index that DuckDB makes between removals', () => {
  const duckdb = { url: 'duckdb:', level: 'snapshot' } as const;
  const message =
    'FATAL Error: Invalid Input Error: Failed to delete all rows from index. Only deleted 0 out of 1 rows.';
  const opens = { ...read, kind: 'select' } as const;
  const failed = {
    kind: 'commit',
    sql: 'COMMIT',
    outcome: 'unknown',
    ends: 'unknown',
    error: { class: 'crash', code: 'FATAL Error', message },
  } as const;
  const other = (kind: 'delete' | 'update' | 'ddl', sql: string, transaction: number) =>
    ({ kind, sql, transaction, ends: 'commit', ...(kind === 'ddl' ? {} : { matched: 1 }) }) as const;
  const first = other('delete', 'DELETE FROM t WHERE id = 1', 2);
  const index = other('ddl', 'CREATE INDEX i ON t (v)', 3);
  const second = other('update', 'UPDATE t SET id = 9 WHERE id = 2', 4);
  const about = (...operations: readonly Partial<Operation>[]) => {
    const { header, ...rest } = historyOf(...operations);
    const setup = ['CREATE TABLE t (id INT UNIQUE, v INT, w INT)', 'CREATE TABLE s (id INT, v INT)'];
    const finding = findingOf('server-crash', operations.length - 1);
    return bugBehind(finding, { header: { ...header, dialect: 'duckdb', setup }, ...rest }, duckdb)?.report;
  };

  it('needs a removal that the transaction can still see, then the index, then another removal', () => {
    expect(about(opens, first, index, second, failed)).toContain('CREATE INDEX');
    const own = { kind: 'delete', sql: 'DELETE FROM t WHERE id = 2', matched: 1 } as const;
    expect(about(opens, own, first, index, failed)).toContain('CREATE INDEX');
    // An UPDATE of v is a removal once v has an index, and in place before.
    const inPlace = other('update', 'UPDATE t SET v = 9 WHERE id = 2', 4);
    expect(about(opens, first, index, inPlace, failed)).toContain('CREATE INDEX');
    expect(about(opens, inPlace, index, second, failed)).toBeUndefined();
  });

  it.each<[string, readonly Partial<Operation>[]]>([
    ['no index', [opens, first, second, failed]],
    ['an index before both', [opens, index, first, second, failed]],
    ['an index after both', [opens, first, second, index, failed]],
    [
      'an index on another table',
      [opens, first, { ...index, sql: 'CREATE INDEX i ON s (v)' }, second, failed],
    ],
    ['an index that was refused', [opens, first, { ...index, outcome: 'error' }, second, failed]],
    ['a removal before the snapshot', [first, opens, index, second, failed]],
    ['a removal that was taken back', [opens, { ...first, ends: 'rollback' }, index, second, failed]],
    [
      'a table that had no index',
      [
        ...[opens, { ...first, sql: 'DELETE FROM s' }, { ...index, sql: 'CREATE INDEX i ON s (v)' }],
        ...[{ ...second, sql: 'DELETE FROM s', kind: 'delete' } as const, failed],
      ],
    ],
    [
      'another failure',
      [
        opens,
        first,
        index,
        second,
        { ...failed, error: { ...failed.error, message: 'FATAL Error: out of memory' } },
      ],
    ],
  ])('is not behind %s', (_, operations) => {
    expect(about(...operations)).toBeUndefined();
  });
});
