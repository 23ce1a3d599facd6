import { expect, it } from 'vitest';
import { findContract } from '../contracts/index.js';
import type { History, Operation } from '../histories/index.js';
import type { Row } from '../sql/index.js';
import { verifyMechanism } from './mechanism/index.js';

type Step = Partial<Omit<Operation, 'session'>> & { readonly session: 0 | 1 };

const begin: Step = { session: 0, kind: 'begin', sql: 'START TRANSACTION WITH CONSISTENT SNAPSHOT' };
const move: Step = { session: 1, kind: 'update', sql: 'UPDATE t SET k = 106 WHERE rid = 3', matched: 1 };
const change: Step = { session: 1, kind: 'update', sql: 'UPDATE t SET w = 1 WHERE rid = 3', matched: 1 };
const write: Step = { session: 0, kind: 'update', sql: 'UPDATE t SET v = 9 WHERE rid = 3', matched: 1 };
const read = (...rows: Row[]): Step => ({ session: 0, kind: 'select', sql: 'SELECT * FROM t', rows });
const columns = ['rid', 'k', 'v', 'w'];

/** T1 reads what T2 may have moved; each statement of T2 is a transaction of its own. */
function verified(steps: readonly Step[], contract = 'mariadb:repeatable-read') {
  const history: History = {
    header: {
      sessions: ['T1', 'T2'],
      dialect: 'mysql',
      setup: [
        'CREATE TABLE t (rid INT, k INT PRIMARY KEY, v INT, w INT)',
        'INSERT INTO t VALUES (3, 4, 5, 0)',
      ],
    },
    operations: steps.map((step, index) => ({
      ...{ kind: 'other', columns, ...step },
      ...{ index, transaction: step.session === 0 ? 0 : index + 1, outcome: 'ok' },
      ...{ start: index * 10, end: index * 10 + 5, ...(step.session === 1 && { ends: 'commit' }) },
    })),
  };
  const { findings, skipped } = verifyMechanism(history, findContract(contract)!);
  return { kinds: findings.map(({ kind }) => kind), reasons: skipped.map(({ reason }) => reason) };
}

const [old, moved] = [
  [3, 4, 5, 0],
  [3, 106, 9, 0],
];

it('leaves open what is read of a row whose key another moved before the reader wrote it', () => {
  for (const rows of [[old, moved], [old]]) {
    const { kinds, reasons } = verified([begin, move, write, read(...rows)]);
    expect(kinds).toEqual([]);
    expect(reasons).toContainEqual(expect.stringContaining('moved a primary key'));
  }
});

it.each([
  ['nobody moved a key', [begin, change, write, read(old)]],
  ['the key was moved before the snapshot', [move, begin, write, read(old, moved)]],
  ['the reader has moved it itself', [begin, { ...move, session: 0 }, write, read(old, moved)]],
  ['the reader has written nothing', [begin, move, read(old, [3, 106, 5, 0])]],
] satisfies [string, readonly Step[]][])('finds it where %s', (_, steps) => {
  expect(verified(steps).kinds).not.toEqual([]);
});

it('finds it where the write must fail', () => {
  expect(
    verified([begin, move, write, read(old, moved)], 'mariadb:repeatable-read+innodb_snapshot_isolation')
      .kinds,
  ).not.toEqual([]);
});
