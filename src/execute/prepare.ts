/** A case made ready to run on one target at one level: statements classified once, and sent as they are written. */
import type { Case, StatementRef } from '../cases/index.js';
import type { Level } from '../contracts/index.js';
import { IsoldeError } from '../errors.js';
import { classifyStatement, type StatementKind } from '../sql/index.js';
import type { Target } from '../targets/index.js';
import { nodeOf, placeSessions } from './nodes.js';

export interface PreparedStatement {
  /** Absent: not of the case; the executor sent it to end an open transaction. */
  readonly ref?: StatementRef;
  /** What is sent. */
  readonly sql: string;
  readonly kind: StatementKind;
}

export interface PreparedSession {
  readonly name: string;
  /** Where it runs, if there are several nodes. */
  readonly node?: string;
  readonly level: Level;
  readonly statements: readonly PreparedStatement[];
}

export const rollbackStatement: PreparedStatement = { sql: 'ROLLBACK', kind: 'rollback' };

/** Prepares every session; `level` is used where the case says none. */
export function prepareCase(program: Case, target: Target, level: Level | undefined): PreparedSession[] {
  return placeSessions(program, target).sessions.map((session, number) => {
    const wanted = session.level ?? program.level ?? level ?? target.defaultLevel;
    const chosen = target.levels.find((offered) => offered.level === wanted);
    if (chosen === undefined) {
      const offered = target.levels.map((each) => each.level).join(', ');
      throw new IsoldeError(
        'usage',
        `${target.name} has no level "${wanted}" (session ${session.name}); it offers: ${offered}`,
      );
    }
    const statements = session.statements.map((sql, position): PreparedStatement => {
      const { kind } = classifyStatement(sql, target.dialect);
      return { ref: [number, position], sql, kind };
    });
    const node = target.nodes && nodeOf(session.name, target.nodes);
    return { name: session.name, ...(node !== undefined && { node }), level: chosen.level, statements };
  });
}
