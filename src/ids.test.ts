import { expect, it } from 'vitest';
import type { Operation } from './histories/index.js';
import type { OperationId, OrderStepId, RowId, SessionId, StepId, TransactionId } from './ids.js';

it('the compiler tells ids of different things apart, and takes plain numbers for any', () => {
  const transaction: TransactionId = 3;
  const operation: OperationId = 4;
  // @ts-expect-error a transaction is no operation
  const wrong: OperationId = transaction;
  // @ts-expect-error nor is an operation a session
  const alsoWrong: SessionId = operation;
  // @ts-expect-error nor a session a step
  const swapped: readonly [SessionId, StepId] = [0 as StepId, 0 as SessionId];
  // @ts-expect-error nor a row a step of an order
  const step: OrderStepId = 5 as RowId;
  const byTransaction = ({ index }: Operation): TransactionId =>
    // @ts-expect-error the place in the history is not the transaction
    index;
  expect([wrong, alsoWrong, ...swapped, step, byTransaction.length]).toEqual([3, 4, 0, 0, 5, 1]);
});
