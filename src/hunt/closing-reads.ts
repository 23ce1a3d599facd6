/** A session `after` that reads what the transactions left behind: a part of what a checker, a reduction and a report can see. */
import type { Case, Schedule, ScheduledCase, StatementRef } from '../cases/index.js';
import { type Dialect, parseStatement, printName } from '../sql/index.js';

export const afterSession = 'after';

/** One query for each table the set-up creates. */
export function closingQueries({ setup, dialect }: Pick<Case, 'setup' | 'dialect'>): string[] {
  return setup.flatMap((sql) => {
    const statement = parseStatement(sql, dialect);
    if (statement.type !== 'create-table') return [];
    return [`SELECT * FROM ${dialect === undefined ? statement.name : printName(statement.name, dialect)}`];
  });
}

/** The case with these reads at its end, one after another; as it is where there are none, or where it has such a session. */
export function withClosingReads(
  program: Case,
  schedule: Schedule,
  reads: readonly string[],
): Required<ScheduledCase> {
  if (reads.length === 0 || program.sessions.some(({ name }) => name === afterSession))
    return { case: program, schedule };
  const session = program.sessions.length;
  const batches = reads.map((_, position): readonly StatementRef[] => [[session, position]]);
  return {
    case: { ...program, sessions: [...program.sessions, { name: afterSession, statements: reads }] },
    schedule: { batches: [...schedule.batches, ...batches] },
  };
}

/** The same for a case of this dialect, every table read. */
export function withAllRead(
  { case: program, schedule }: Required<ScheduledCase>,
  dialect: Dialect,
): Required<ScheduledCase> {
  return withClosingReads(program, schedule, closingQueries({ setup: program.setup, dialect }));
}
