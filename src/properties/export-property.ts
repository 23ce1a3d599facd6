/**
 * A stored bug as a micro-property (D4 §3.1): its statements in their order, each in its session, and the assertion that its judged
 * read does not return the wrong rows again.
 *
 * Only for findings about what a read returned: there the rows themselves are what the contract forbids. Whether a lock was
 * kept or a conflict was missed cannot be told from one answer; such bugs are for `bugs rerun`, which has the oracle.
 */
import { describeKind } from '../contracts/index.js';
import { IsoldeError } from '../errors.js';
import type { Bug } from '../report/index.js';
import { parseStatement } from '../sql/index.js';
import { oneLine } from '../visible.js';

/** The text of a module that exports the property; rejects a bug that cannot be told from an answer. */
export function exportProperty(bug: Bug): string {
  const { case: program, schedule, finding, history } = bug;
  const judged = history.operations.find(({ index }) => index === finding.operations[0]?.index);
  if (describeKind(finding.kind).shape !== 'read' || judged?.rows === undefined)
    throw new IsoldeError(
      'usage',
      `${bug.id} cannot become a property: its finding (${finding.kind}) is not about the rows of one read; "bugs rerun" replays it with its oracle`,
    );
  const lines = [...program.setup.map((sql) => `  run(${text(sql)});`)];
  for (const [session, position] of schedule.batches.flat()) {
    const sql = program.sessions[session]!.statements[position]!;
    const [judgedSession, judgedPosition] = judged.statement ?? [-1, -1];
    const isJudged = judgedSession === session && judgedPosition === position;
    lines.push(`  ${isJudged ? 'const judged = ' : ''}run(${text(sql)}, ${session});`);
  }
  const rows = JSON.stringify(judged.rows);
  lines.push(`  assert(that.differs(judged, ${rows}), ${text(oneLine(bug.title))});`);
  for (const name of tablesOf(bug)) lines.push(`  run(${text(`DROP TABLE ${name}`)});`);
  return [
    `// Made by Isolde from the stored bug ${bug.id}.`,
    "import { property } from 'isolde-db';",
    '',
    `export default property(${text(`regression ${bug.id}`)}, { sends: { read: 1, write: 1, create: 1 } }, ({ run, assert, that }) => {`,
    ...lines,
    '});',
    '',
  ].join('\n');
}

function tablesOf({ case: { setup, dialect = 'postgres' } }: Bug): string[] {
  return setup
    .flatMap((sql) => {
      const statement = parseStatement(sql, dialect);
      return statement.type === 'create-table' ? [statement.name] : [];
    })
    .reverse();
}

/** A literal of JavaScript that holds any text. */
function text(value: string): string {
  return JSON.stringify(value).replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029');
}
