/**
 * The case with the SQL that the oracle adds, for a bug that no run of its own statements shows. Each row carries the list of the statements
 * that wrote it, reads return these lists, and a last session reads all of them: what is wrong stands there, to be seen with any client.
 */
import { type Case, printScript, type Schedule, type StatementRef } from '../../cases/index.js';
import { engineWords, explain, findOracle, instrumentCase } from '../../check/index.js';
import { findContract } from '../../contracts/index.js';
import { type Bug, plainRun } from '../bug.js';
import type { ExportForm } from './export.js';

export const instrumentedExport: ExportForm = {
  name: 'instrumented',
  unfit: ({ finding, secondLook = [] }) =>
    findOracle(finding.oracle)?.tracesVersions === true && secondLook.some(({ by }) => by === plainRun)
      ? undefined
      : 'its own statements show it',
  files: (bug) => [{ name: 'instrumented.sql', text: printInstrumented(bug) }],
};

function printInstrumented(bug: Bug): string {
  const { target, finding, level } = bug;
  const contract = bug.contract === undefined ? undefined : findContract(bug.contract);
  const dialect = bug.case.dialect ?? bug.history.header.dialect ?? 'postgres';
  const { scheduled, observe } = instrumentCase(bug, dialect, {
    ...engineWords(target.name),
    ...(contract && { contract }),
  });
  const description = [
    `${bug.title}, with added columns that list the statements which wrote each row.`,
    ...explain(finding).split('\n'),
  ].join('\n');
  const closed = withLastSession(scheduled.case, scheduled.schedule!, observe);
  return printScript(
    { ...closed, case: { ...closed.case, description, level: closed.case.level ?? level } },
    { inComments: true },
  );
}

/** The case with one more session, which begins when all others are done. */
function withLastSession(
  program: Case,
  { batches }: Schedule,
  statements: readonly string[],
): { readonly case: Case; readonly schedule: Schedule } {
  const session = program.sessions.length;
  const added = statements.map((_, position): StatementRef[] => [[session, position]]);
  return {
    case: { ...program, sessions: [...program.sessions, { name: 'lists', statements }] },
    schedule: { batches: [...batches, ...added] },
  };
}
