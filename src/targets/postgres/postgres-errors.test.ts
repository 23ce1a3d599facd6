import { describe, expect, it } from 'vitest';
import { classifyServerError, copyRefusal } from './postgres-errors.js';

const idle = { cancelRequested: false };

describe('the class of a PostgreSQL error', () => {
  it.each([
    ['40001', 'could not serialize access due to concurrent update', 'serialization'],
    ['40P01', 'deadlock detected', 'deadlock'],
    ['55P03', 'canceling statement due to lock timeout', 'lock-timeout'],
    ['55P03', 'could not obtain lock on row in relation "t"', 'busy'],
    ['57014', 'canceling statement due to statement timeout', 'statement-timeout'],
    ['57014', 'canceling statement due to user request', 'cancelled'],
    ['57014', `COPY from stdin failed: ${copyRefusal}`, 'unsupported'],
    ['23505', 'duplicate key value violates unique constraint', 'duplicate-key'],
    ['23503', 'violates foreign key constraint', 'constraint'],
    ['23P01', 'conflicting key value violates exclusion constraint', 'constraint'],
    ['25P02', 'current transaction is aborted', 'transaction-aborted'],
    ['42601', 'syntax error at or near "SELEC"', 'syntax'],
    ['42P01', 'relation "x" does not exist', 'syntax'],
    ['42501', 'permission denied', 'other'],
    ['42P07', 'relation "t" already exists', 'other'],
    ['0A000', 'FOR UPDATE is not allowed with aggregate functions', 'unsupported'],
    ['22012', 'division by zero', 'data'],
    ['57P01', 'terminating connection due to administrator command', 'connection-lost'],
    ['57P01', 'terminating connection due to unexpected postmaster exit', 'crash'],
    ['57P02', 'terminating connection because of crash of another server process', 'crash'],
    ['57P03', 'the database system is in recovery mode', 'crash'],
    ['08006', 'connection failure', 'connection-lost'],
    ['XX000', 'cache lookup failed for relation 12345', 'other'],
    [undefined, 'read ECONNRESET', 'other'],
  ] as const)('%s "%s" is %s', (code, message, expected) => {
    expect(classifyServerError({ code, message }, idle)).toBe(expected);
  });

  it('needs no English: a translated cancel is told by who asked, a translated lock error by the routine', () => {
    const cancel = { code: '57014', message: 'storniere Anfrage', routine: 'ProcessInterrupts' };
    expect(classifyServerError(cancel, { cancelRequested: true })).toBe('cancelled');
    expect(classifyServerError(cancel, idle)).toBe('statement-timeout');
    const lock = { code: '55P03', message: 'konnte Sperre nicht setzen' };
    expect(classifyServerError({ ...lock, routine: 'ProcessInterrupts' }, idle)).toBe('lock-timeout');
    expect(classifyServerError({ ...lock, routine: 'heapam_tuple_lock' }, idle)).toBe('busy');
  });

  it('takes a PANIC for a crash whatever its code', () => {
    expect(classifyServerError({ code: 'XX000', severity: 'PANIC', message: 'stuck spinlock' }, idle)).toBe(
      'crash',
    );
  });
});
