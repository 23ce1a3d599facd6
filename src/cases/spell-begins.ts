/**
 * Spells the plain BEGINs of a case in another way. A case is sent as it is written; who writes one for any database (the
 * generator, the probe) has to say in it how that database begins the transactions it is about: in Turso's MVCC mode only
 * BEGIN CONCURRENT lets two transactions write.
 */
import { classifyStatement } from '../sql/index.js';
import type { Case } from './case.js';

/** The case with `begin` where it says BEGIN, BEGIN TRANSACTION, BEGIN WORK or START TRANSACTION and no more. */
export function spellBegins(program: Case, begin: string): Case {
  const spelt = (sql: string) => (classifyStatement(sql, program.dialect).plainBegin ? begin : sql);
  return {
    ...program,
    sessions: program.sessions.map((session) => ({ ...session, statements: session.statements.map(spelt) })),
  };
}
