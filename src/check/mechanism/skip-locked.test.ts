import { expect, it } from 'vitest';
import { findContract } from '../../contracts/index.js';
import type { History, Operation } from '../../histories/index.js';
import { verifyMechanism } from './index.js';

it('takes nothing from the rows that SKIP LOCKED left out', () => {
  const operation = (
    index: number,
    transaction: number,
    sql: string,
    more: Partial<Operation>,
  ): Operation => ({
    index,
    session: transaction % 3,
    transaction,
    kind: 'select',
    sql,
    start: index * 10,
    end: index * 10 + 5,
    outcome: 'ok',
    ...more,
  });
  const columns = ['rid', 'v'];
  const history: History = {
    header: {
      sessions: ['T1', 'T2', 'T3'],
      dialect: 'postgres',
      setup: ['CREATE TABLE t (rid INT PRIMARY KEY, v INT)', 'INSERT INTO t VALUES (1, 10)'],
    },
    operations: [
      operation(0, 0, 'BEGIN', { kind: 'begin' }),
      operation(1, 0, 'UPDATE t SET v = 11 WHERE rid = 1', { kind: 'update', matched: 1 }),
      operation(2, 0, 'INSERT INTO t VALUES (2, 20)', { kind: 'insert', matched: 1 }),
      operation(3, 1, 'SELECT rid, v FROM t FOR SHARE SKIP LOCKED', {
        columns,
        rows: [[1, 11]],
        ends: 'commit',
      }),
      // It may have taken effect before that read, while a third session locked row 2.
      operation(4, 0, 'COMMIT', { kind: 'commit', ends: 'commit', start: 26, end: 40 }),
    ],
  };
  for (const id of ['postgres:repeatable-read', 'postgres:serializable']) {
    expect(verifyMechanism(history, findContract(id)!).findings).toEqual([]);
  }
});
