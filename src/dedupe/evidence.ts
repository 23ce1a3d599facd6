/**
 * What shows the bug when it is run again: the results of the operations the finding names, and how its transactions
 * ended. Same results, same bug; every exported form checks just these.
 */
import type { History, Operation } from '../histories/index.js';
import type { Behaviour } from './behaviour.js';

type Shown = Pick<Behaviour, 'finding' | 'history'>;

/** The operations whose results show the bug; all that return something when the finding names none. */
export function witnessOperations({ finding, history }: Shown): readonly Operation[] {
  const indexes = new Set<number | undefined>([
    ...finding.operations.map(({ index }) => index),
    ...(finding.versions ?? []).map(({ operation }) => operation),
    ...(finding.cycle ?? []).flatMap(({ fromOperation, toOperation }) => [fromOperation, toOperation]),
  ]);
  const transactions = new Set(finding.transactions.map(({ id }) => id));
  const chosen = history.operations.filter(
    ({ index, ends, transaction }) =>
      indexes.has(index) || (ends !== undefined && transactions.has(transaction)),
  );
  return chosen.length > 0 ? chosen : history.operations.filter(({ statement }) => statement !== undefined);
}

/** Equal when two operations were answered alike: rows as a bag, counts, error class, how the transaction ended. */
export function answerKey(operation: Operation): string {
  return JSON.stringify([
    operation.outcome,
    operation.error?.class,
    operation.rows?.map((row) => JSON.stringify(row)).sort(),
    operation.matched,
    operation.changed,
    operation.ends,
  ]);
}

/** The operations of a history by their statements; whoever asks for one asks for many. */
const byStatement = new WeakMap<History, ReadonlyMap<string, Operation>>();

/** The operation that ran a statement of the case. */
export function operationOf(history: History, ref: readonly [number, number]): Operation | undefined {
  let known = byStatement.get(history);
  if (known === undefined) {
    const found = new Map<string, Operation>();
    for (const operation of history.operations) {
      const name = operation.statement?.join();
      if (name !== undefined && !found.has(name)) found.set(name, operation);
    }
    known = found;
    byStatement.set(history, known);
  }
  return known.get(ref.join());
}

/** Whether every witness operation was answered as when the bug was confirmed. */
export function sameAnswers(bug: Shown, history: History): boolean {
  return witnessOperations(bug).every((operation) => {
    const again = operation.statement === undefined ? undefined : operationOf(history, operation.statement);
    if (operation.statement === undefined) return true;
    return again !== undefined && answerKey(again) === answerKey(operation);
  });
}
