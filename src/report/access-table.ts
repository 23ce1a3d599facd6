/**
 * The table of expected access: for each operation of a bug’s case that met rows, what it is held to, and per row what it met
 * and should have met. Under the contract the bug breaks; where that one says nothing about mechanisms, the vendor’s.
 *
 * Two things no row shows by itself: that a statement should have been answered otherwise (an error, another number of rows), which the
 * finding says, and that a read at the end returns something else than all the answers before it say (`closing-reads.ts`). Both are lines
 * of the whole answer.
 */
import {
  type AccessStep,
  type AccessVersion,
  expectedAccess,
  type Finding,
  showObservation,
  speaksOfAnswer,
  unknownValues,
} from '../check/index.js';
import { type Contract, describeKind } from '../contracts/index.js';
import { IsoldeError } from '../errors.js';
import { transactionNames } from '../histories/index.js';
import type { Bug } from './bug.js';
import { closingDamage } from './closing-reads.js';
import { mechanismOf } from './mechanism-of.js';

export interface AccessRow {
  readonly operation: number;
  readonly transaction: string;
  readonly statement: string;
  /** The state it is held to. */
  readonly sees: string;
  readonly row: string;
  readonly actual: string;
  readonly expected: string;
  readonly wrong: boolean;
}

export const accessHeads = [
  'operation',
  'transaction',
  'statement',
  'sees',
  'row',
  'actual',
  'expected',
] as const;

const mostRows = 60;
/** Reduced cases are short; a history that was never reduced is looked at elsewhere. */
const mostOperations = 200;

/** What statements met, and, where the finding is told, what is wrong with it. Empty: no contract says what the case’s operations should have met. */
export function accessRows(
  bug: Pick<Bug, 'history' | 'contract' | 'target' | 'level'> & Partial<Pick<Bug, 'finding'>>,
): AccessRow[] {
  const contract = mechanismOf(bug);
  if (contract === undefined || bug.history.operations.length > mostOperations) return [];
  const names = transactionNames(bug.history);
  const statements = new Map(bug.history.operations.map(({ index, sql, kind }) => [index, sql ?? kind]));
  const { finding, history } = bug;
  const damages = finding === undefined ? [] : closingDamage({ finding, history });
  const closing = new Map(damages.map((damage) => [damage.operation.index, damage]));
  const rows = stepsOf(bug, contract).flatMap((step) => {
    const of = {
      operation: step.operation,
      transaction: names.get(step.transaction) ?? `transaction ${step.transaction}`,
      statement: statements.get(step.operation) ?? '',
      sees: stateText(step),
    };
    const damage = closing.get(step.operation);
    const met =
      damage === undefined
        ? [
            ...named(lines(step), step, finding),
            ...(finding === undefined ? [] : wrongAnswers(step, finding)),
          ]
        : [{ row: wholeAnswer, actual: damage.actual, expected: damage.expected, wrong: true }];
    return met.map((line) => ({ ...of, ...line }));
  });
  if (rows.length <= mostRows) return rows;
  const wrong = new Set(rows.filter((row) => row.wrong).map(({ row }) => row));
  return rows.filter(({ row }) => wrong.has(row)).slice(0, mostRows);
}

function stepsOf({ history }: Pick<Bug, 'history'>, contract: Contract): readonly AccessStep[] {
  try {
    return expectedAccess(history, contract).steps;
  } catch (error) {
    // A stored history may be of a kind that the verifier refuses; the report is right without the table.
    if (error instanceof IsoldeError) return [];
    throw error;
  }
}

type Met = Pick<AccessRow, 'row' | 'actual' | 'expected' | 'wrong'>;

const wholeAnswer = '(answer)';

/**
 * Of tables without a key an answer's line belongs to no row, so that the row is missing and the line is too much. Where the finding says
 * of which row the line is, the two are one.
 */
function named(met: readonly Met[], { operation }: AccessStep, finding: Finding | undefined): Met[] {
  let list = [...met];
  for (const { operation: index, object, seen } of finding?.versions ?? []) {
    if (index !== operation || seen.as !== 'values') continue;
    const row = list.find((each) => each.row === object && each.wrong);
    const line = list.find((each) => each !== row && each.wrong && each.actual === seen.text);
    if (row === undefined || line === undefined) continue;
    list = list.flatMap((each) =>
      each === line ? [] : [each === row ? { ...row, actual: seen.text } : each],
    );
  }
  return list;
}

/** What the finding says of how the operation was answered, once each. */
function wrongAnswers({ operation }: AccessStep, { versions = [], kind }: Finding): Met[] {
  const said = versions.flatMap(({ operation: index, seen, allowed }): Met[] => {
    if (index !== operation || !speaksOfAnswer(seen) || !allowed.every(speaksOfAnswer)) return [];
    const expected = allowed.map(showObservation).join(' or ') || describeKind(kind).expected;
    return [{ row: wholeAnswer, actual: showObservation(seen), expected, wrong: true }];
  });
  return said.filter(({ actual }, i) => said.findIndex((other) => other.actual === actual) === i);
}

function lines({ rows, answer, state }: AccessStep): Met[] {
  const list = rows.map(({ object, actual, expected, agrees, wrote }) => ({
    row: object,
    actual: wrote === undefined ? (actual === undefined ? '' : showVersion(actual)) : writtenText(wrote),
    expected: expected.map(showVersion).join(' or ') || 'no such row',
    wrong: agrees === false,
  }));
  if (answer === undefined || state === undefined) return list;
  const whole = { row: wholeAnswer, actual: answer.actual, expected: answer.expected.join(' or ') };
  return [...list, { ...whole, wrong: !answer.agrees }];
}

/** `writes (1, 11)`; values that follow from nothing but an answer that was wrong are not shown. */
function writtenText(wrote: NonNullable<AccessStep['rows'][number]['wrote']>): string {
  const texts = wrote.map(showObservation).filter((text) => text !== unknownValues);
  return `writes ${texts.join(' or ')}`.trim();
}

/** `(1, 10) of T2`. */
function showVersion({ value, name, transaction, initial }: AccessVersion): string {
  const text = showObservation(value);
  if (initial === true) return `${text}, initial`;
  return transaction === undefined ? text : `${text} of ${name ?? `transaction ${transaction}`}`;
}

function stateText({ state, pivot, operation }: AccessStep): string {
  switch (state) {
    case 'snapshot':
      return pivot === operation ? 'snapshot taken here' : `snapshot of operation ${pivot}`;
    case 'statement':
      return 'committed before it';
    case 'uncommitted':
      return 'newest, committed or not';
    case 'current':
      return 'current rows';
    case undefined:
      return '';
    default:
      return state satisfies never;
  }
}
