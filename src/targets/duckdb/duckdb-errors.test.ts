import { describe, expect, it } from 'vitest';
import { duckdbError } from './duckdb-errors.js';

describe('errors of DuckDB', () => {
  it.each([
    ['Parser Error: syntax error at or near "SELEC"', 'syntax', 'Parser Error'],
    ['Parser Error: FOR UPDATE is not supported', 'unsupported', 'Parser Error'],
    ['Binder Error: Referenced column "x" not found', 'syntax', 'Binder Error'],
    ['Catalog Error: Table with name x does not exist!', 'syntax', 'Catalog Error'],
    ['Not implemented Error: SAVEPOINT', 'unsupported', 'Not implemented Error'],
    [
      'Constraint Error: Duplicate key "a: 1" violates primary key constraint',
      'duplicate-key',
      'Constraint Error',
    ],
    ['Constraint Error: NOT NULL constraint failed: t.a', 'constraint', 'Constraint Error'],
    ['Constraint Error: CHECK constraint failed on table t', 'constraint', 'Constraint Error'],
    ['Constraint Error: write-write conflict on key: "1"', 'serialization', 'Constraint Error'],
    ['Conversion Error: Could not convert string', 'data', 'Conversion Error'],
    ['Out of Range Error: Overflow in addition of INT32', 'data', 'Out of Range Error'],
    ['INTERRUPT Error: Interrupted!', 'cancelled', 'INTERRUPT Error'],
    ['Out of Memory Error: failed to allocate', 'out-of-memory', 'Out of Memory Error'],
    ['FATAL Error: Failed to commit', 'crash', 'FATAL Error'],
    ['INTERNAL Error: Assertion triggered', 'crash', 'INTERNAL Error'],
    ['TransactionContext Error: Conflict on update!', 'serialization', 'TransactionContext Error'],
    [
      'TransactionContext Error: Failed to commit: write-write conflict on key',
      'serialization',
      'TransactionContext Error',
    ],
    [
      'TransactionContext Error: Failed to commit: PRIMARY KEY or UNIQUE constraint violation: duplicate key "1"',
      'duplicate-key',
      'TransactionContext Error',
    ],
    [
      'TransactionContext Error: Current transaction is aborted (please ROLLBACK)',
      'transaction-aborted',
      'TransactionContext Error',
    ],
    [
      'TransactionContext Error: cannot rollback - no transaction is active',
      'transaction-aborted',
      'TransactionContext Error',
    ],
    [
      'TransactionContext Error: cannot start a transaction within a transaction',
      'other',
      'TransactionContext Error',
    ],
    ['Something Else Entirely Error: what', 'other', 'Something Else Entirely Error'],
    ['Failed to execute: connection disconnected', 'connection-lost', undefined],
    ['no idea', 'other', undefined],
    ['', 'other', undefined],
  ] as const)('%s', (message, expected, code) => {
    expect(duckdbError(message)).toEqual({ class: expected, message, ...(code !== undefined && { code }) });
  });

  it('takes the kind from the beginning only: an error may quote another one', () => {
    expect(duckdbError('Invalid Input Error: see "Constraint Error: Duplicate key"').class).toBe('data');
    expect(duckdbError(`${'a '.repeat(100_000)}Error: x`).class).toBe('other');
  });
});
