import { expect, it } from 'vitest';
import type { Level } from '../../contracts/index.js';
import type { Operation } from '../../histories/index.js';
import { bugBehind } from './known-bugs.js';
import { findingOf, historyOf } from './known-lab.case.js';

const by = (transaction: number, start: number, end: number, sql: string): Partial<Operation> => ({
  ...{ transaction, session: transaction, start, end, sql },
  kind: sql.startsWith('CREATE') ? 'ddl' : (sql.split(' ')[0]!.toLowerCase() as Operation['kind']),
  ...(sql.startsWith('INSERT') && { matched: 1 }),
  ...(/^(COMMIT|ROLLBACK)/.test(sql) && { ends: sql.toLowerCase() as 'commit' }),
});

/** About row 9, at the last operation. */
function about(level: Level, ...operations: readonly Partial<Operation>[]): string | undefined {
  const setup = ['CREATE TABLE t (rid INT, c INT)', 'CREATE TABLE u (rid INT, c INT)'];
  const { header, ...rest } = historyOf(...operations);
  const finding = {
    ...findingOf('missing-row', operations.length - 1),
    versions: [{ object: 't/9', operation: 0, seen: '', allowed: [] }],
  };
  const history = { header: { ...header, setup }, ...rest };
  return bugBehind(finding as never, history, { url: 'h2:', level })?.report;
}

const insert = by(2, 1, 2, 'INSERT INTO t (rid, c) VALUES (9, 1)');
const index = by(3, 3, 12, 'CREATE INDEX x ON t (c)');
const commit = by(2, 10, 11, 'COMMIT');
const read = by(1, 30, 31, 'SELECT * FROM t WHERE c = 1');

it('a row is not in an index that waited for the transaction that wrote it', () => {
  expect(about('snapshot', insert, index, commit, read)).toContain('makes an index');
  expect(about('serializable', insert, index, commit, read)).toContain('makes an index');
});

it.each<[string, readonly Partial<Operation>[]]>([
  [
    'the transaction was over before',
    [insert, by(2, 2, 3, 'COMMIT'), by(3, 4, 12, 'CREATE INDEX x ON t (c)'), read],
  ],
  ['it wrote another row', [by(2, 1, 2, 'INSERT INTO t (rid, c) VALUES (7, 1)'), index, commit, read]],
  ['it is an index of another table', [insert, by(3, 3, 12, 'CREATE INDEX x ON u (c)'), commit, read]],
  ['the index was made later', [insert, by(3, 40, 42, 'CREATE INDEX x ON t (c)'), commit, read]],
])('but not where %s', (_, operations) => {
  expect(about('snapshot', ...operations)).toBeUndefined();
});

it('nor at levels at which it reads what is committed', () => {
  expect(about('repeatable read', insert, index, commit, read)).toBeUndefined();
});
