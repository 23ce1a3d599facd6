/**
 * A candidate: a case with an order for it, the thing a trial runs. Everything a reduction tries, keeps and returns
 * is one of these; the original is the first.
 */
import { createHash } from 'node:crypto';
import type { Case, Schedule, ScheduledCase } from '../cases/index.js';
import { countStatements, serialOrder, transactionsOf } from '../cases/index.js';
import { parseStatement } from '../sql/index.js';

export interface Candidate extends ScheduledCase {
  readonly schedule: Schedule;
}

/** A scheduled case as a candidate: without a schedule, its sessions run one after another. */
export function candidateOf({ case: program, schedule }: ScheduledCase): Candidate {
  return { case: program, schedule: schedule ?? serialOrder(program) };
}

/**
 * Equal exactly when two candidates run the same way: set-up, levels, sessions, statements, order, cancellations and whether deleted rows are kept. What is only for
 * people (names, descriptions, reasons) does not count.
 */
export function contentKey({ case: program, schedule }: Candidate): string {
  const hash = createHash('sha256');
  hash.update(JSON.stringify([program.dialect, program.level, program.setup]));
  for (const { level, statements } of program.sessions) hash.update(JSON.stringify([level, statements]));
  hash.update(JSON.stringify(schedule.batches));
  const { cancelled = [], keepsHistory } = schedule;
  if (cancelled.length > 0) hash.update(JSON.stringify(cancelled));
  if (keepsHistory === true) hash.update('keepsHistory');
  return hash.digest('base64url').slice(0, 27);
}

/** How big a case is, in the numbers people ask for. */
export interface CaseSize {
  /** Statements of all sessions, BEGIN and COMMIT included. */
  readonly operations: number;
  readonly transactions: number;
  readonly sessions: number;
  /** Rows the set-up inserts with VALUES. */
  readonly rows: number;
}

export function sizeOf(program: Case): CaseSize {
  return {
    operations: countStatements(program),
    transactions: program.sessions.reduce((sum, _, s) => sum + transactionsOf(program, s).length, 0),
    sessions: program.sessions.length,
    rows: setupRows(program),
  };
}

/** Rows of the set-up's INSERT … VALUES. */
export function setupRows(program: Case): number {
  return program.setup.reduce((sum, sql) => {
    if (!/^\s*(insert|replace)\b/i.test(sql)) return sum;
    const statement = parseStatement(sql, program.dialect);
    return statement.type === 'insert' && statement.source.type === 'values'
      ? sum + statement.source.rows.length
      : sum;
  }, 0);
}
