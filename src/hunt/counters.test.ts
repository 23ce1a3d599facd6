import { describe, expect, it } from 'vitest';
import type { History, Operation, OperationError } from '../histories/index.js';
import { countRound, newCounters } from './counters.js';
import { KnownPrograms } from './row-mirror.js';

const setup = ['CREATE TABLE t (id INT PRIMARY KEY, v INT)', 'INSERT INTO t VALUES (1, 10), (2, 20)'];

function history(...steps: readonly (Partial<Operation> & { readonly sql: string })[]): History {
  return {
    header: { sessions: ['T1', 'T2'], dialect: 'postgres', setup },
    operations: steps.map((step, index) => ({
      ...{ index, session: 0, transaction: 0, kind: 'other', start: index, end: index + 0.5, outcome: 'ok' },
      ...step,
    })),
  };
}

const failure = (name: OperationError['class']) => ({
  outcome: 'error' as const,
  error: { class: name, message: name },
});

describe('the counters of a hunt', () => {
  it('count statements, transactions and what failed', () => {
    const counters = newCounters();
    countRound(
      counters,
      history(
        { sql: 'BEGIN' },
        { sql: 'SELEC 1', ...failure('syntax') },
        { sql: 'ROLLBACK', ends: 'rollback' },
        { sql: 'SELECT 1', transaction: 1, ends: 'commit' },
        { sql: 'UPDATE t SET v = 1', transaction: 2, ...failure('lock-timeout') },
      ),
    );
    expect(counters).toMatchObject({ rounds: 1, statements: 5, transactions: 3, aborted: 1 });
    expect(counters).toMatchObject({ failed: 2, invalid: 1, clashes: 1, conflicts: 0 });
  });

  it('count a round once as a clash and once as a conflict, whatever happens how often', () => {
    const counters = newCounters();
    const programs = new KnownPrograms();
    const meeting = history(
      { sql: 'BEGIN' },
      { sql: 'BEGIN', session: 1, transaction: 1 },
      { sql: 'UPDATE t SET v = 1 WHERE id = 1' },
      { sql: 'UPDATE t SET v = 2 WHERE id = 1', session: 1, transaction: 1, blocked: true },
      { sql: 'UPDATE t SET v = 3 WHERE id = 1', session: 1, transaction: 1, ...failure('deadlock') },
      { sql: 'COMMIT', ends: 'commit' },
    );
    for (let round = 0; round < 3; round++) countRound(counters, meeting, programs);
    expect(counters).toMatchObject({ rounds: 3, clashes: 3, conflicts: 3 });
  });

  it('do not carry rows from one round to the next, though what is known of the program is kept', () => {
    const programs = new KnownPrograms();
    const first = newCounters();
    const moved = history(
      { sql: 'UPDATE t SET v = 99 WHERE id = 1', ends: 'commit' },
      { sql: 'INSERT INTO t VALUES (7, 99)', transaction: 1, ends: 'commit' },
    );
    countRound(first, moved, programs);
    const second = newCounters();
    const meeting = history(
      { sql: 'BEGIN' },
      { sql: 'BEGIN', session: 1, transaction: 1 },
      { sql: 'UPDATE t SET v = 5 WHERE v = 99' },
      { sql: 'SELECT * FROM t', session: 1, transaction: 1 },
      { sql: 'COMMIT', ends: 'commit' },
    );
    countRound(second, meeting, programs);
    expect([first.conflicts, second.conflicts]).toEqual([0, 0]);
  });
});
