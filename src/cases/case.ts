/**
 * A case: a program for concurrent sessions. Set-up SQL, then for each session the statements it sends, in
 * order, transaction control included. Nothing in it says when a statement runs relative to another session's:
 * that is the schedule (`schedule.ts`).
 *
 * Statements are kept flat, not nested into transactions, because real programs do not nest either: they
 * autocommit, set savepoints, change levels and forget to commit. `transactionsOf` derives the nesting.
 */

import type { Level } from '../contracts/index.js';
import type { SessionId, StepId } from '../ids.js';
import { chainsOn, classifyStatement, type Dialect } from '../sql/index.js';

export interface Case {
  readonly name: string;
  readonly description?: string;
  /** How the SQL is spelt; absent: portable SQL, or unknown. */
  readonly dialect?: Dialect;
  /** The level every session runs at; absent: the target's default. */
  readonly level?: Level;
  /** Statements that build the initial state, run by one session before all others. */
  readonly setup: readonly string[];
  readonly sessions: readonly CaseSession[];
}

export interface CaseSession {
  /** As people write it: `T1`, `writer`; on a certain node of a cluster `T1@standby`. Unique in the case. */
  readonly name: string;
  /** Overrides the case's level. */
  readonly level?: Level;
  /** Normalised SQL (`sql/split.ts`), without semicolon. */
  readonly statements: readonly string[];
}

/** The node of a cluster that the name of a session asks for: `standby` of `T1@standby`. */
export function namedNode(name: CaseSession['name']): string | undefined {
  return /@([^@]+)$/.exec(name)?.[1];
}

/** A statement of a case: session number and position in that session, both from 0. */
export type StatementRef = readonly [session: SessionId, position: StepId];

/** A transaction of a session: the positions of its statements, `first` to `last` inclusive. */
export interface TransactionSpan {
  readonly session: SessionId;
  readonly first: number;
  readonly last: number;
  /** Whether it was opened by a BEGIN; if not, it is one autocommitted statement. */
  readonly explicit: boolean;
  /** How the text ends it. `open`: the session ends first. */
  readonly end: 'commit' | 'rollback' | 'open' | 'autocommit';
}

/**
 * The transactions of a session as its text says; what really happened is in a history. Those that AND CHAIN ties together
 * are one span: none of them could be run, moved or left out without the others.
 */
export function transactionsOf(program: Case, session: SessionId): TransactionSpan[] {
  const spans: TransactionSpan[] = [];
  const statements = program.sessions[session]?.statements ?? [];
  let first = -1;
  statements.forEach((sql, position) => {
    const { kind } = classifyStatement(sql, program.dialect);
    if (first >= 0 && (kind === 'commit' || kind === 'rollback')) {
      if (chainsOn(sql)) return;
      spans.push({ session, first, last: position, explicit: true, end: kind });
      first = -1;
    } else if (first < 0 && kind === 'begin') {
      first = position;
    } else if (first < 0) {
      spans.push({ session, first: position, last: position, explicit: false, end: 'autocommit' });
    }
  });
  if (first >= 0) spans.push({ session, first, last: statements.length - 1, explicit: true, end: 'open' });
  return spans;
}

/** Number of statements in all sessions. */
export function countStatements(program: Case): number {
  return program.sessions.reduce((sum, session) => sum + session.statements.length, 0);
}
