/** A template as trees: what the changes to it work on. */
import type { Level } from '../contracts/index.js';
import type { Statement } from '../sql/index.js';

/** A template taken apart. Statements of all sessions, by session and position. */
export interface Skeleton {
  readonly setup: readonly Statement[];
  readonly sessions: readonly SkeletonSession[];
  /** One reference a batch: which session sends its next statement. */
  readonly order: readonly number[];
}

export interface SkeletonSession {
  readonly name: string;
  readonly level?: Level;
  readonly statements: readonly Statement[];
}

/** Changes every statement by itself. */
export function mapStatements(
  skeleton: Skeleton,
  change: (statement: Statement, place: 'setup' | 'session') => Statement,
): Skeleton {
  return {
    setup: skeleton.setup.map((statement) => change(statement, 'setup')),
    sessions: skeleton.sessions.map((session) => ({
      ...session,
      statements: session.statements.map((statement) => change(statement, 'session')),
    })),
    order: skeleton.order,
  };
}
