/**
 * Expected against actual: what sessions printed, and what they should have printed. Where a finding names no version that would
 * have been right, what its kind asks for in general stands in its place.
 */
import { type Observation, showObservation, speaksOfAnswer } from '../check/index.js';
import { describeKind } from '../contracts/index.js';
import { answerText, type Operation, transactionNames } from '../histories/index.js';
import { showValue } from '../sql/index.js';
import type { Bug } from './bug.js';
import { closingDamage } from './closing-reads.js';

/** What a session printed, and what it should have. */
export interface Comparison {
  readonly transaction: string;
  readonly statement: string;
  readonly actual: string;
  readonly expected: string;
  /** A read at the end, which shows what came of the rest. */
  readonly closing?: true;
}

/** One line for each thing that was wrong, then one for each closing read that shows the damage; at least one. */
export function compareAnswers(bug: Pick<Bug, 'finding' | 'history'>): Comparison[] {
  const names = transactionNames(bug.history);
  const closing = closingDamage(bug).map(({ operation, actual, expected }): Comparison => {
    const transaction = names.get(operation.transaction) ?? '';
    return { transaction, statement: operation.sql ?? '', actual, expected, closing: true };
  });
  return [...compareWitnesses(bug), ...closing];
}

function compareWitnesses({ finding, history }: Pick<Bug, 'finding' | 'history'>): Comparison[] {
  const names = transactionNames(history);
  const operations = new Map(history.operations.map((operation) => [operation.index, operation]));
  const { expected: inGeneral } = describeKind(finding.kind);
  const of = (index: number) => {
    const operation = operations.get(index);
    const text = finding.operations.find((each) => each.index === index)?.text ?? '';
    return {
      transaction: (operation && names.get(operation.transaction)) ?? '',
      statement: operation?.sql ?? text,
      printed: operation === undefined ? '' : answerText(operation),
    };
  };
  const versions = (finding.versions ?? []).map(({ operation, object, seen, allowed }) => {
    const { transaction, statement, printed } = of(operation);
    const shown = show(object, [seen]);
    const expected = allowed.length === 0 ? inGeneral : show(object, allowed);
    if (printed === '') return { transaction, statement, actual: shown, expected };
    const alone = finding.versions!.filter((each) => each.operation === operation).length === 1;
    const whole = alone ? wholeAnswer(operations.get(operation)!, seen, allowed) : undefined;
    if (whole !== undefined) return { transaction, statement, actual: printed, expected: whole };
    const isAnswer = speaksOfAnswer(seen) && allowed.every(speaksOfAnswer);
    return { transaction, statement, actual: isAnswer ? printed : `${printed} (${shown})`, expected };
  });
  if (versions.length > 0) return versions;
  // Of transactions that cannot be put into an order, the last to commit should have got an error.
  const inCycle = new Set(finding.cycle?.map(({ from }) => from));
  const last = history.operations.findLast(
    ({ transaction, ends }) => ends === 'commit' && inCycle.has(transaction),
  );
  if (last !== undefined) {
    const { transaction, statement, printed } = of(last.index);
    const ends = history.operations.filter(
      ({ transaction: id, ends: how }) => how === 'commit' && inCycle.has(id) && id !== last.transaction,
    );
    const expected = errorInOneOf(ends, names);
    return [{ transaction, statement, actual: printed || 'ok', expected }];
  }
  const [judged] = finding.operations;
  if (judged === undefined) return [];
  const { transaction, statement, printed } = of(judged.index);
  return [{ transaction, statement, actual: printed === '' ? 'ok' : printed, expected: inGeneral }];
}

/** `a serialization error here or at the COMMIT of T1`. */
function errorInOneOf(ends: readonly Operation[], names: ReadonlyMap<number, string>): string {
  const who = ends
    .map(({ transaction }) => names.get(transaction) ?? `transaction ${transaction}`)
    .join(' or ');
  if (who === '') return 'a serialization error';
  const where = ends.every(({ kind }) => kind === 'commit') ? 'at the COMMIT of' : 'in';
  return `a serialization error here or ${where} ${who}`;
}

const mostRows = 8;

/** What the whole answer should have been, where one row of it is wrong; undefined: the row alone does not tell. */
function wholeAnswer(
  { rows = [], columns = [], sql = '' }: Operation,
  seen: Observation,
  [right, ...others]: readonly Observation[],
): string | undefined {
  if (right === undefined || others.length > 0 || columns.length === 0 || rows.length > mostRows)
    return undefined;
  if (right.as !== 'absent' && (right.as !== 'values' || right.width !== columns.length)) return undefined;
  const texts = rows.map((row) => `(${row.map(showValue).join(', ')})`);
  const put = right.as === 'values' ? [right.text] : [];
  if (seen.as === 'values') {
    const at = texts.indexOf(seen.text);
    if (at < 0 || texts.lastIndexOf(seen.text) !== at) return undefined;
    texts.splice(at, 1, ...put);
    // Where an order is asked for, another value may belong elsewhere.
  } else if (seen.as === 'absent' && !/\border\s+by\b/i.test(sql)) texts.push(...put);
  else return undefined;
  return texts.length === 0 ? 'no rows' : texts.join(' ');
}

/** Of a row: which one, and its values; of an answer: the answer. */
function show(object: string, list: readonly Observation[]): string {
  const text = list.map(showObservation).join(' or ');
  return list.every(speaksOfAnswer) ? text : `${object}: ${text}`;
}
