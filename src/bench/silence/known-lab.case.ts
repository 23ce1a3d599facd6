/** Small histories and findings for tests of known bugs. */
import type { Finding } from '../../check/index.js';
import type { History, Operation } from '../../histories/index.js';

/** One transaction; each statement is answered before the next is sent. */
export function historyOf(...operations: readonly Partial<Operation>[]): History {
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

export function findingOf(kind: string, ...indexes: readonly number[]): Finding {
  const operations = indexes.map((index) => ({ index, transaction: 1, text: '' }));
  return { kind, operations, transactions: [{ id: 1 }] } as unknown as Finding;
}

export const noOp = { kind: 'update', sql: 'UPDATE t SET v = 1', matched: 2, changed: 1 } as const;
export const read = { kind: 'select', sql: 'SELECT * FROM t' } as const;
export const begin = { kind: 'begin', sql: 'BEGIN' } as const;
/** What another transaction has done, which is over at once. */
export const byOther = (sql: string, rest: Partial<Operation> = {}) =>
  ({ kind: 'update', sql, matched: 1, transaction: 2, session: 1, ends: 'commit', ...rest }) as const;
export const sameValue = byOther('UPDATE t SET v = 1');
export const innodb = { url: 'mariadb:', level: 'repeatable read' } as const;
export const myrocks = { url: 'mariadb:?engine=rocksdb', level: 'repeatable read' } as const;
