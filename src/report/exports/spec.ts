/**
 * PostgreSQL's `isolationtester`: one session block per session, one permutation. Blocking needs no marks: the tester
 * finds out by itself. SQL with a closing brace cannot be written in this form.
 */
import { transactionsOf } from '../../cases/index.js';
import { splitStatements } from '../../sql/index.js';
import { oneLine } from '../../visible.js';
import type { Bug } from '../bug.js';
import { compareAnswers } from '../comparison.js';
import type { ExportForm } from './export.js';
import { createdTables, levelOf, plainNames, replayBatches } from './steps.js';

export const specExport: ExportForm = {
  name: 'isolationtester',
  unfit: (bug) => {
    if (bug.target.name !== 'postgres') return 'isolationtester is PostgreSQL’s';
    const statements = [...bug.case.setup, ...bug.case.sessions.flatMap((session) => session.statements)];
    if (statements.some((sql) => sql.includes('}')))
      return 'a statement holds a closing brace, which ends a step';
    // A semicolon inside a step would make two statements of one, unless it stands in a quote.
    const several = statements.some((sql) => splitStatements(sql, 'postgres').length > 1);
    return several ? 'a statement holds several statements' : undefined;
  },
  files: (bug) => [{ name: 'repro.spec', text: printSpec(bug) }],
};

function printSpec(bug: Bug): string {
  const names = plainNames(bug.case.sessions.map(({ name }) => name));
  const lines = [`# ${oneLine(bug.title)}`, '#'];
  for (const { statement, transaction, actual, expected } of compareAnswers(bug)) {
    lines.push(`# ${oneLine(`${transaction}: ${statement}`)}`);
    lines.push(`#   ${oneLine(`got ${actual}; expected ${expected}`)}`);
  }
  lines.push('', ...bug.case.setup.map((sql) => `setup { ${sql}; }`));
  const tables = createdTables(bug.case.setup);
  lines.push('', `teardown { ${tables.length === 0 ? 'SELECT 1;' : `DROP TABLE ${tables.join(', ')};`} }`);
  const permutation: string[] = [];
  const steps = names.map((): string[] => []);
  for (const { session, sql } of replayBatches(bug).flat()) {
    const step = `${names[session]}_${steps[session]!.length + 1}`;
    steps[session]!.push(`step ${step} { ${sql}; }`);
    permutation.push(step);
  }
  names.forEach((name, session) => {
    if (steps[session]!.length === 0) return;
    lines.push('', `session ${name}`);
    // Every BEGIN names its level. To a statement outside a transaction only SERIALIZABLE makes a difference.
    if (levelOf(bug, session) === 'serializable') {
      lines.push("setup { SET default_transaction_isolation = 'serializable'; }");
    }
    lines.push(...steps[session]!);
    // The tester drops the tables while sessions are still connected: an open transaction would make it wait for ever.
    if (transactionsOf(bug.case, session).some(({ end }) => end === 'open'))
      lines.push('teardown { ROLLBACK; }');
  });
  lines.push('', `permutation ${permutation.join(' ')}`, '');
  return lines.join('\n');
}
