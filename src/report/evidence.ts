/**
 * What shows a bug when it is run again: what its finding names, as for comparing bugs, and the reads at the end that show the
 * damage. Same results, same bug; every exported form checks just these.
 */
import {
  answerKey,
  witnessOperations as namedOperations,
  operationOf,
  sameAnswers as sameNamedAnswers,
} from '../dedupe/index.js';
import type { History, Operation } from '../histories/index.js';
import type { Bug } from './bug.js';
import { closingDamage } from './closing-reads.js';

export { answerKey, operationOf };

type Shown = Pick<Bug, 'finding' | 'history'>;

/** The operations whose results show the bug, in the order of the history. */
export function witnessOperations(shown: Shown): readonly Operation[] {
  const all = new Set([...namedOperations(shown), ...closingDamage(shown).map(({ operation }) => operation)]);
  return shown.history.operations.filter((operation) => all.has(operation));
}

/** Whether every one of them was answered as when the bug was confirmed. */
export function sameAnswers(bug: Shown, history: History): boolean {
  const closing = closingDamage(bug).every(({ operation }) => {
    const again = operation.statement === undefined ? undefined : operationOf(history, operation.statement);
    return again !== undefined && answerKey(again) === answerKey(operation);
  });
  return closing && sameNamedAnswers(bug, history);
}
