import { expect, it } from 'vitest';
import type { Level } from '../../contracts/index.js';
import type { Operation } from '../../histories/index.js';
import { bugBehind } from './known-bugs.js';
import { findingOf, historyOf } from './known-lab.case.js';

const by = (transaction: number, start: number, end: number, sql: string): Partial<Operation> => ({
  ...{ transaction, session: transaction, start, end, sql, ends: 'commit' as const },
  kind: sql.split(' ')[0]!.toLowerCase() as Operation['kind'],
  ...(sql.startsWith('UPDATE') && { matched: 1 }),
});

/** About row 1, at the last operation. */
function about(
  operations: readonly Partial<Operation>[],
  level: Level = 'read committed',
): string | undefined {
  const setup = [
    'CREATE TABLE t (rid INT, id INT PRIMARY KEY, v INT)',
    'CREATE TABLE u (rid INT)',
    'INSERT INTO t (rid, id, v) VALUES (1, 1, 0), (2, 2, 0)',
  ];
  const { header, ...rest } = historyOf(...operations);
  const finding = {
    ...findingOf('incompatible-order', operations.length - 1),
    versions: [{ object: 't/1', operation: 0, seen: '', allowed: [] }],
  };
  const history = { header: { ...header, setup }, ...rest };
  return bugBehind(finding as never, history, { url: 'derby:', level })?.report;
}

const ofOwn = 'UPDATE t SET v = v + 100 WHERE EXISTS (SELECT 1 FROM t AS s WHERE id = 2)';
const update = by(2, 1, 20, ofOwn);
const other = by(3, 5, 10, 'UPDATE t SET v = v + 1 WHERE id = 1');
const read = by(1, 30, 31, 'SELECT * FROM t');

it('an UPDATE that reads its own table in a subquery overwrites what others commit meanwhile', () => {
  expect(about([update, other, read])).toContain('overwrites');
  expect(about([update, other, read], 'read uncommitted')).toContain('overwrites');
});

it.each<[string, readonly Partial<Operation>[]]>([
  ['it reads another table', [by(2, 1, 20, ofOwn.replace('FROM t AS', 'FROM u AS')), other, read]],
  ['it reads none', [by(2, 1, 20, 'UPDATE t SET v = v + 100'), other, read]],
  ['the other was over before', [by(3, 0, 0.5, 'UPDATE t SET v = v + 1 WHERE id = 1'), update, read]],
  ['the other came later', [update, by(3, 21, 25, 'UPDATE t SET v = v + 1 WHERE id = 1'), read]],
])('but not where %s', (_, operations) => {
  expect(about(operations)).toBeUndefined();
});

it('nor at levels at which it keeps its locks', () => {
  expect(about([update, other, read], 'repeatable read')).toBeUndefined();
});
