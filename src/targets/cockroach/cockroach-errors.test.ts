import { expect, it } from 'vitest';
import { classifyCockroachError } from './cockroach-errors.js';

it.each([
  ['40001', 'restart transaction: TransactionRetryWithProtoRefreshError', false, 'serialization'],
  ['57014', 'query execution canceled due to statement timeout', false, 'statement-timeout'],
  // Who asked for it himself was not timed out, whatever the text says.
  ['57014', 'query execution canceled due to statement timeout', true, 'cancelled'],
  ['57014', 'query execution canceled', false, 'cancelled'],
  ['57P01', 'server is not accepting clients', false, 'connection-lost'],
  ['23505', 'duplicate key value violates unique constraint', false, 'duplicate-key'],
  ['25P02', 'current transaction is aborted', false, 'transaction-aborted'],
  ['42601', 'syntax error', false, 'syntax'],
] as const)('%s, %s (asked for: %s) is %s', (code, message, cancelRequested, expected) => {
  const context = { cancelRequested } as Parameters<typeof classifyCockroachError>[1];
  expect(
    classifyCockroachError({ code, message } as Parameters<typeof classifyCockroachError>[0], context),
  ).toBe(expected);
});
