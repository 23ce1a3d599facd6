/**
 * A stored bug as a micro-property (D4 §3.1): its statements in their order, each in its session, and the assertion that what was wrong does
 * not come back. What that is follows from the finding:
 *
 * | the finding is about | asserted is that |
 * |---|---|
 * | the rows of a read | it does not return just these rows |
 * | a conflict that was missed | the write, or what its session sends after it, fails; a write that waits runs into the lock time-out, and that is a failure |
 * | the rows a write matched | it does not match so many |
 * | a write that was accepted and is gone | the closing read does not return just these rows |
 *
 * The rest cannot be told from an answer (cycles of dependencies without a closing read, orders, invariants of workloads, servers that die):
 * such bugs are for `bugs rerun`, which has the oracle.
 */
import { describeKind } from '../contracts/index.js';
import { IsoldeError } from '../errors.js';
import type { Operation } from '../histories/index.js';
import { type Bug, witnessOperations } from '../report/index.js';
import { parseStatement } from '../sql/index.js';
import { oneLine } from '../visible.js';

interface Assertion {
  /** The statements it looks at: at most one, or all of a session from one on. */
  readonly judged: Operation;
  readonly toTheEnd: boolean;
  /** As code, with the names of their answers. */
  readonly check: (names: readonly string[]) => string;
}

/** The text of a module that exports the property; rejects a bug that cannot be told from an answer. */
export function exportProperty(bug: Bug): string {
  const assertion = assertionOf(bug);
  const { case: program, schedule } = bug;
  const lines = program.setup.map((sql) => `  run(${text(sql)});`);
  const names: string[] = [];
  for (const [session, position] of schedule.batches.flat()) {
    const call = `(${text(program.sessions[session]!.statements[position]!)}, ${session});`;
    if (isJudged(assertion, session, position)) {
      const name = `judged${names.length === 0 ? '' : names.length + 1}`;
      names.push(name);
      lines.push(`  const ${name} = ${assertion.toTheEnd ? 'attempt' : 'run'}${call}`);
    } else lines.push(`  run${call}`);
  }
  lines.push(`  assert(${assertion.check(names)}, ${text(oneLine(bug.title))});`);
  if (assertion.toTheEnd)
    lines.push(...program.sessions.map((_, session) => `  attempt('ROLLBACK', ${session});`));
  for (const name of tablesOf(bug)) lines.push(`  run(${text(`DROP TABLE ${name}`)});`);
  return [
    `// Made by Isolde from the stored bug ${bug.id}, which was found at the level ${bug.level} (--level).`,
    "import { property } from 'isolde-db';",
    '',
    'const options = { sends: { read: 1, write: 1, create: 1 }, anyState: true };',
    `export default property(${text(`regression ${bug.id}`)}, options, ({ run, ${assertion.toTheEnd ? 'attempt, ' : ''}assert, that }) => {`,
    ...lines,
    '});',
    '',
  ].join('\n');
}

function isJudged({ judged, toTheEnd }: Assertion, session: number, position: number): boolean {
  const [ofSession, at] = judged.statement ?? [-1, -1];
  return ofSession === session && (at === position || (toTheEnd && position > at));
}

function assertionOf(bug: Bug): Assertion {
  const { finding, history } = bug;
  const judged = history.operations.find(({ index }) => index === finding.operations[0]?.index);
  const { shape, writeConflict } = describeKind(finding.kind);
  const about = (operation: Operation, check: (name: string) => string): Assertion => ({
    judged: operation,
    toTheEnd: false,
    check: ([name]) => check(name!),
  });
  const rowsOf = (operation: Operation) =>
    about(operation, (name) => `that.differs(${name}, ${JSON.stringify(operation.rows)})`);
  if (judged?.statement !== undefined) {
    if (shape === 'read' && judged.rows !== undefined) return rowsOf(judged);
    if (writeConflict === 'names')
      return { judged, toTheEnd: true, check: (names) => `that.oneFails(${names.join(', ')})` };
    const count = judged.matched ?? judged.changed;
    if (describeKind(finding.kind).wrongCount === true && count !== undefined)
      return about(judged, (name) => `that.otherCount(${name}, ${count})`);
  }
  const closing = witnessOperations(bug).find(
    ({ kind, rows, statement, index }) =>
      kind === 'select' &&
      rows !== undefined &&
      statement !== undefined &&
      !finding.operations.some((named) => named.index === index),
  );
  if (closing !== undefined) return rowsOf(closing);
  throw new IsoldeError(
    'usage',
    `${bug.id} cannot become a property: its finding (${finding.kind}) is not about the rows of a read, a missed conflict, or the rows a write matched, and no closing read shows it; "bugs rerun" replays it with its oracle`,
  );
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
