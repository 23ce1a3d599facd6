/**
 * Expected against actual: what sessions printed, and what they should have printed. Where a finding names no version that would
 * have been right, what its kind asks for in general stands in its place.
 */
import { type Observation, showObservation } from '../check/index.js';
import { describeKind } from '../contracts/index.js';
import { type Operation, resultText, transactionNames } from '../histories/index.js';
import type { Bug } from './bug.js';

/** What a session printed, and what it should have. */
export interface Comparison {
  readonly transaction: string;
  readonly statement: string;
  readonly actual: string;
  readonly expected: string;
}

/** One line for each thing that was wrong; at least one. */
export function compareAnswers({ finding, history }: Pick<Bug, 'finding' | 'history'>): Comparison[] {
  const names = transactionNames(history);
  const operations = new Map(history.operations.map((operation) => [operation.index, operation]));
  const { expected: inGeneral } = describeKind(finding.kind);
  const of = (index: number) => {
    const operation = operations.get(index);
    const text = finding.operations.find((each) => each.index === index)?.text ?? '';
    return {
      transaction: (operation && names.get(operation.transaction)) ?? '',
      statement: operation?.sql ?? text,
      printed: operation === undefined ? '' : printedBy(operation),
    };
  };
  const versions = (finding.versions ?? []).map(({ operation, object, seen, allowed }) => {
    const { transaction, statement, printed } = of(operation);
    const shown = show(object, [seen]);
    const expected = allowed.length === 0 ? inGeneral : show(object, allowed);
    if (printed === '') return { transaction, statement, actual: shown, expected };
    const isAnswer = speaksOfAnswer(seen) && allowed.every(speaksOfAnswer);
    return { transaction, statement, actual: isAnswer ? printed : `${printed} (${shown})`, expected };
  });
  if (versions.length > 0) return versions;
  if (finding.cycle !== undefined && finding.cycle.length > 0) {
    const around = finding.cycle.map(
      ({ from, to }) => `${names.get(from) ?? from} before ${names.get(to) ?? to}`,
    );
    const who = finding.transactions.map(({ name }) => name).join(', ');
    const actual = `all committed, though each needs another order: ${around.join(', ')}`;
    return [{ transaction: who, statement: 'COMMIT', actual, expected: inGeneral }];
  }
  const [judged] = finding.operations;
  if (judged === undefined) return [];
  const { transaction, statement, printed } = of(judged.index);
  return [{ transaction, statement, actual: printed === '' ? 'ok' : printed, expected: inGeneral }];
}

/** Of a row: which one, and its values; of an answer: the answer. */
function show(object: string, list: readonly Observation[]): string {
  const text = list.map(showObservation).join(' or ');
  return list.every(speaksOfAnswer) ? text : `${object}: ${text}`;
}

/** Whether it says how a statement was answered, not what a row looked like. */
function speaksOfAnswer({ as }: Observation): boolean {
  return as === 'written' || as === 'conflict-error' || as === 'wait' || as === 'matched';
}

/** The answer as the interleaving shows it, without its arrow. */
function printedBy(operation: Operation): string {
  return resultText(operation).replace(/^→ /, '');
}
