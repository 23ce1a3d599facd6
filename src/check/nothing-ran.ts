/**
 * A history in which no statement could run: a misspelt word, a table that is not there, SQL of another engine. It breaks no promise, and says
 * nothing about any either; without this rule it would be called valid by every oracle, for each judges what was answered.
 *
 * Statements that failed because of another session (a conflict, a deadlock, a time-out) or because the row was refused (a key that is taken)
 * did run. BEGIN, COMMIT, ROLLBACK and SET do not count: they work beside the worst of statements.
 */
import type { ErrorClass, History } from '../histories/index.js';
import { type CheckResult, verdictOf } from './oracle.js';

export const nothingRanReason = 'no statement could be run: each was refused as wrong or unsupported';

const refused: ReadonlySet<ErrorClass> = new Set(['syntax', 'unsupported', 'other']);
const controlKinds: ReadonlySet<string> = new Set(['begin', 'commit', 'rollback', 'set']);

/** Whether statements were sent, and the database refused each of them. */
export function nothingRan({ operations }: History): boolean {
  const sent = operations.filter(({ kind }) => !controlKinds.has(kind));
  return sent.length > 0 && sent.every(({ error }) => error !== undefined && refused.has(error.class));
}

/** The verdict on a history, open if nothing ran in it. */
export function unlessNothingRan<Result extends CheckResult>(result: Result, history: History): Result {
  if (result.findings.length > 0 || !nothingRan(history)) return result;
  const unknownReasons = [...result.unknownReasons, nothingRanReason];
  return { ...result, unknownReasons, valid: verdictOf(result.findings, unknownReasons) };
}
