import { describe, expect, it } from 'vitest';
import type { History, Operation } from '../../histories/index.js';
import { serverFinding, wentAway } from './server-finding.js';

const history = (...operations: Partial<Operation>[]): History => ({
  header: { sessions: ['T1', 'T2'] },
  operations: operations.map((operation, index) => ({
    index,
    session: 0,
    transaction: 0,
    kind: 'select',
    sql: 'SELECT 1',
    start: index,
    end: index + 1,
    outcome: 'ok',
    ...operation,
  })),
});

describe('findings about the server', () => {
  it('are none when every statement was answered, whatever the answer', () => {
    const fine = history({}, { outcome: 'error', error: { class: 'deadlock', message: 'deadlock' } });
    expect(serverFinding(fine)).toBeUndefined();
    expect(wentAway(fine)).toBe(false);
  });

  it('name the statement under which the server died, before those that were only cut off by it', () => {
    const died = history(
      {},
      { session: 1, error: { class: 'connection-lost', message: 'gone' }, outcome: 'unknown' },
      { error: { class: 'crash', message: 'server closed' }, outcome: 'unknown', sql: 'UPDATE t SET a = 1' },
    );
    expect(wentAway(died)).toBe(true);
    expect(serverFinding(died)).toMatchObject({
      kind: 'server-crash',
      operations: [{ index: 2, text: 'UPDATE t SET a = 1' }],
    });
  });

  it.each([
    'COMMIT RELEASE',
    'ROLLBACK AND NO CHAIN RELEASE',
    'KILL CONNECTION_ID()',
    'SELECT pg_terminate_backend(pg_backend_pid())',
    "SET transaction_timeout = '50ms'",
    'SET SESSION wait_timeout = 1',
  ])('are none where a session asks for a connection to be closed: %s', (sql) => {
    const lost = { class: 'connection-lost', message: 'closed' } as const;
    expect(serverFinding(history({ sql }, { outcome: 'unknown', error: lost }))).toBeUndefined();
  });

  it.each(['COMMIT AND CHAIN NO RELEASE', 'RELEASE SAVEPOINT a', 'SET innodb_lock_wait_timeout = 1'])(
    'are there after %s',
    (sql) => {
      const lost = { class: 'connection-lost', message: 'closed' } as const;
      expect(serverFinding(history({ sql }, { outcome: 'unknown', error: lost }))?.kind).toBe(
        'connection-lost',
      );
    },
  );

  it('tell a silent server from a cut connection', () => {
    const lost = { class: 'connection-lost', message: 'no answer within the time limit' } as const;
    expect(serverFinding(history({ end: null, outcome: 'unknown', error: lost }))?.kind).toBe('no-answer');
    expect(serverFinding(history({ outcome: 'unknown', error: lost }))?.kind).toBe('connection-lost');
  });
});
