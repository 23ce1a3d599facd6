import { describe, expect, it } from 'vitest';
import type { Operation } from '../histories/index.js';
import type { Dialect } from '../sql/index.js';
import type { Answer } from '../targets/index.js';
import type { PreparedStatement } from './prepare.js';
import { Recorder, type TransactionState } from './recorder.js';

type Kind = PreparedStatement['kind'];

const failure: NonNullable<Answer['error']> = { class: 'serialization', message: 'no' };

function recorder(dialect: Dialect = 'postgres') {
  const made = new Recorder(dialect);
  const states = new Map<number, TransactionState>();
  const record = (session: number, kind: Kind, answer: Answer) => {
    const state = states.get(session) ?? { transaction: -1, failed: false };
    states.set(session, state);
    const { operation } = made.record({
      session,
      state,
      statement: { kind, sql: kind.toUpperCase() },
      start: made.count * 10,
      end: answer.transaction === 'lost' ? null : made.count * 10 + 5,
      answer,
      blocked: false,
    });
    return { operation, state: { ...state } };
  };
  return { made, record };
}

/** How a statement of this kind ended its transaction, by what the database answered. */
function ending(kind: Kind, answer: Answer, inside: boolean, dialect?: Dialect): Operation['ends'] {
  const { record } = recorder(dialect);
  if (inside) record(0, 'begin', { transaction: 'open' });
  return record(0, kind, answer).operation.ends;
}

describe('how an answer ends a transaction', () => {
  it.each<[Kind, Answer, boolean, Operation['ends']]>([
    // The database says that none is open any more.
    ['commit', { transaction: 'none' }, true, 'commit'],
    ['commit', { transaction: 'none', error: failure }, true, 'rollback'],
    ['commit', { transaction: 'none', ended: 'rollback' }, true, 'rollback'],
    ['rollback', { transaction: 'none' }, true, 'rollback'],
    ['update', { transaction: 'none' }, false, 'commit'],
    ['update', { transaction: 'none', error: failure }, false, 'rollback'],
    ['update', { transaction: 'none', error: failure }, true, 'rollback'],
    ['ddl', { transaction: 'none' }, true, 'commit'],
    // It goes on.
    ['select', { transaction: 'open' }, true, undefined],
    ['begin', { transaction: 'open' }, false, undefined],
    ['update', { transaction: 'failed', error: failure }, true, undefined],
    // The connection is gone: what may have committed is not known.
    ['commit', { transaction: 'lost' }, true, 'unknown'],
    ['update', { transaction: 'lost' }, true, 'rollback'],
    ['update', { transaction: 'lost' }, false, 'unknown'],
    ['ddl', { transaction: 'lost' }, true, 'unknown'],
    ['rollback', { transaction: 'lost' }, true, 'rollback'],
    ['begin', { transaction: 'lost' }, false, 'rollback'],
  ])('%s answered %j, inside a transaction: %s', (kind, answer, inside, ends) => {
    expect(ending(kind, answer, inside)).toBe(ends);
  });

  it('MySQL’s family commits what is open when another transaction begins; others do not', () => {
    expect(ending('begin', { transaction: 'open' }, true, 'mysql')).toBe('commit');
    expect(ending('begin', { transaction: 'open', error: failure }, true, 'mysql')).toBeUndefined();
    expect(ending('begin', { transaction: 'open' }, true, 'postgres')).toBeUndefined();
  });
});

describe('a transaction that the end of another one opens', () => {
  it.each(['commit', 'rollback'] as const)('has a number of its own (%s AND CHAIN)', (ended) => {
    const { record } = recorder();
    record(0, 'begin', { transaction: 'open' });
    const chained = record(0, ended, { transaction: 'open', ended });
    expect(chained.operation).toMatchObject({ transaction: 0, ends: ended });
    expect(chained.state).toEqual({ transaction: 1, failed: false });
    const lost = record(0, 'update', { transaction: 'lost' });
    expect(lost.operation).toMatchObject({ transaction: 1, ends: 'rollback' });
  });

  it('is the next one of the session, whoever begins one meanwhile', () => {
    const { record } = recorder('mysql');
    record(0, 'begin', { transaction: 'open' });
    record(0, 'begin', { transaction: 'open', ended: 'commit' });
    record(1, 'update', { transaction: 'none' });
    expect(record(0, 'commit', { transaction: 'none' }).operation).toMatchObject({ transaction: 1 });
  });
});

describe('what is recorded', () => {
  it('transactions are numbered in the order in which they begin, over all sessions', () => {
    const { record } = recorder();
    const open = { transaction: 'open' } as const;
    const none = { transaction: 'none' } as const;
    const numbers = [
      record(0, 'begin', open),
      record(1, 'update', none),
      record(0, 'update', open),
      record(1, 'update', none),
      record(0, 'commit', none),
      record(0, 'update', none),
    ].map(({ operation }) => [operation.index, operation.transaction]);
    expect(numbers).toEqual([
      [0, 0],
      [1, 1],
      [2, 0],
      [3, 2],
      [4, 0],
      [5, 3],
    ]);
  });

  it('a doomed transaction stays open until it is ended', () => {
    const { record } = recorder();
    record(0, 'begin', { transaction: 'open' });
    const doomed = record(0, 'update', { transaction: 'failed', error: failure });
    expect(doomed.state).toEqual({ transaction: 0, failed: true });
    const ended = record(0, 'rollback', { transaction: 'none' });
    expect(ended.state).toEqual({ transaction: -1, failed: false });
  });

  it('outcomes are ok, error, or unknown where the answer was lost', () => {
    const { record } = recorder();
    const outcome = (answer: Answer) => record(0, 'update', answer).operation.outcome;
    expect(outcome({ transaction: 'none' })).toBe('ok');
    expect(outcome({ transaction: 'none', error: failure })).toBe('error');
    expect(outcome({ transaction: 'lost' })).toBe('unknown');
  });

  it('only what the database said is written down', () => {
    const { record } = recorder();
    const { operation } = record(0, 'select', {
      transaction: 'none',
      columns: ['a'],
      rows: [[1]],
      matched: 1,
    });
    expect(operation).toEqual({
      ...{ index: 0, session: 0, transaction: 0, kind: 'select', sql: 'SELECT', start: 0, end: 5 },
      ...{ outcome: 'ok', ends: 'commit', columns: ['a'], rows: [[1]], matched: 1 },
    });
  });

  it('a sink takes operations one by one, and none are kept', async () => {
    const written: Operation[] = [];
    const made = new Recorder('postgres', { write: (operation) => void written.push(operation) });
    const entry = {
      ...{ session: 0, state: { transaction: -1, failed: false }, start: 0, end: 1, blocked: true },
      statement: { kind: 'update', sql: 'UPDATE' } as const,
      answer: { transaction: 'none' } as const,
    };
    await made.record(entry).written;
    expect([made.count, made.operations.length, written.length]).toEqual([1, 0, 1]);
    expect(written[0]!.blocked).toBe(true);
  });
});
