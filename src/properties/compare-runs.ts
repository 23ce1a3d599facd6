/**
 * Compares two runs of one plan: on two engines or versions that promise the same (differential), or twice on one
 * (determinism). Answers are bags of rows, or that a statement failed.
 *
 * 1. Statements are compared in order, as long as both runs sent the same ones: a group that was void in one run only has left
 *    different tables behind, and everything after it is not comparable.
 * 2. What one engine does not support, and what a documented difference explains, is no finding; if it could have changed
 *    rows, the comparison ends there.
 * 3. A write that was made to fail (`write-error`) fails where the files of an engine happen to grow: that is no answer.
 * 4. Floating-point numbers are the same when they differ by a billionth: engines add in any order.
 */
import { conflictErrors, type ErrorClass, timeoutErrors } from '../histories/index.js';
import { classifyStatement, type Dialect, type Row, type Value, valueKey } from '../sql/index.js';
import type { Answer } from '../targets/index.js';
import { sameBag } from './judge-check.js';
import { knownDifference } from './known-differences.js';
import { type PlanOutcome, type Sent, writeErrors } from './run-plan.js';

export interface Difference {
  /** The interaction whose answers differ; -1: what the runs left behind. */
  readonly at: number;
  readonly sql: string;
  readonly kind: 'rows' | 'failure' | 'content';
  readonly left: string;
  readonly right: string;
  /** What the one said that refused. */
  readonly refused?: string;
}

export interface ComparedRuns {
  readonly left: string;
  readonly right: string;
  readonly dialect: Dialect;
}

/** Refusals that depend on what an engine can do, or on the moment: no answers to compare. */
const notAnswers: ReadonlySet<ErrorClass> = new Set<ErrorClass>([
  ...conflictErrors,
  ...timeoutErrors,
  ...(['unsupported', 'syntax', 'transaction-aborted'] as const),
]);

export function compareRuns(
  left: Pick<PlanOutcome, 'sent'>,
  right: Pick<PlanOutcome, 'sent'>,
  engines: ComparedRuns,
): Difference | undefined {
  for (const [i, a] of left.sent.entries()) {
    const b = right.sent[i];
    if (b === undefined || a.interaction !== b.interaction) return undefined;
    const verdict = compareAnswers(a, b, engines);
    if (verdict === 'same') continue;
    if (verdict === 'not comparable') {
      if (classifyStatement(a.sql, engines.dialect).kind !== 'select') return undefined;
    } else return verdict;
  }
  return undefined;
}

function compareAnswers(a: Sent, b: Sent, engines: ComparedRuns): 'same' | 'not comparable' | Difference {
  const failures = [a, b].filter(({ answer }) => answer.error !== undefined);
  if (
    failures.some(({ answer: { error } }) => notAnswers.has(error!.class) || writeErrors.test(error!.message))
  )
    return failures.length === 2 && a.answer.error!.class === b.answer.error!.class
      ? 'same'
      : 'not comparable';
  if (failures.length === 2) return 'same';
  if (failures.length === 0 && sameAnswer(a.answer, b.answer)) return 'same';
  if (knownDifference(engines.left, engines.right, a.sql) !== undefined) return 'not comparable';
  return {
    at: a.interaction,
    sql: a.sql,
    kind: failures.length === 0 ? 'rows' : 'failure',
    left: show(a.answer),
    right: show(b.answer),
    ...(failures.length > 0 && { refused: failures[0]!.answer.error!.message }),
  };
}

function sameAnswer(a: Answer, b: Answer): boolean {
  const [rows, others] = [a.rows ?? [], b.rows ?? []];
  if (sameBag(rows, others)) return true;
  return sameBag(rows.map(rounded), others.map(rounded));
}

function rounded(row: Row): Row {
  return row.map((value): Value => {
    if (typeof value !== 'number' || Number.isInteger(value)) return value;
    return Number(value.toPrecision(9));
  });
}

function show({ error, rows }: Answer): string {
  if (error !== undefined) return `${error.class}: ${error.message.split('\n')[0]}`;
  const shown = (rows ?? []).slice(0, 20).map((row) => `(${row.map(valueKey).join(', ')})`);
  return shown.length === 0 ? 'no rows' : shown.join(' ');
}
