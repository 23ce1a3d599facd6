/**
 * A pass simplifies a small case in one way. It only proposes: each proposal is decided by a trial, so a pass may
 * propose statements that turn out to be wrong SQL, and needs no understanding of what the finding is.
 */
import type { Level } from '../../contracts/index.js';
import type { Dialect } from '../../sql/index.js';
import type { Candidate } from '../candidate.js';

export interface PassContext {
  readonly dialect: Dialect;
  /** The target's levels, weakest first. */
  readonly levels: readonly Level[];
  /** The level of sessions for which the case names none. */
  readonly level: Level | undefined;
}

export interface Pass {
  readonly name: string;
  /** Simpler cases, the most promising first; undefined where nothing can be made of a proposal. */
  proposals(current: Candidate, context: PassContext): readonly Proposal[];
}

export type Proposal = () => Candidate | undefined;

/** The candidate with other statements in the same places. */
export function withStatements(
  current: Candidate,
  change: (sql: string, session: number, position: number) => string,
): Candidate {
  const sessions = current.case.sessions.map((session, s) => ({
    ...session,
    statements: session.statements.map((sql, p) => change(sql, s, p)),
  }));
  return { ...current, case: { ...current.case, sessions } };
}

export function withSetup(current: Candidate, setup: readonly string[]): Candidate {
  return { ...current, case: { ...current.case, setup } };
}

/** Every statement, set-up included, rewritten. */
export function withSql(current: Candidate, change: (sql: string) => string): Candidate {
  return withSetup(withStatements(current, change), current.case.setup.map(change));
}
