/**
 * Cases that may show to a plain eye what an instrumented run has proved. Reduction throws away whatever its own oracle does not
 * need: the read that would show the damage, and values that tell one write from another. Both are put back, one by one and together:
 *
 * - a closing session that reads every table;
 * - another constant in every assignment, so that no write leaves a value as it was or equals another write.
 */
import type { Case, ScheduledCase } from '../cases/index.js';
import type { Dialect } from '../sql/index.js';
import { withAllRead } from './closing-reads.js';

/** The case as it is, then its variations. */
export function plainVariations(
  plain: Required<ScheduledCase>,
  dialect: Dialect,
): readonly Required<ScheduledCase>[] {
  const distinct = { case: withDistinctValues(plain.case), schedule: plain.schedule };
  return [plain, withAllRead(plain, dialect), distinct, withAllRead(distinct, dialect)];
}

/** `SET a = 1, b = 1` of each UPDATE with numbers that stand nowhere else. */
function withDistinctValues(program: Case): Case {
  let next = 71;
  const renumber = (sql: string) =>
    sql.replace(/\bSET\b.*?(?=\bWHERE\b|$)/is, (assignments) =>
      assignments.replace(/(=\s*)-?\d+(?=\s*(?:,|$))/g, (_, equals: string) => `${equals}${next++}`),
    );
  return {
    ...program,
    sessions: program.sessions.map((session) => ({
      ...session,
      statements: session.statements.map((sql) => (/^\s*UPDATE\b/i.test(sql) ? renumber(sql) : sql)),
    })),
  };
}
