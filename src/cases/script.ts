/**
 * The script form: a case as a person writes it, and as people paste it into bug reports.
 *
 * `parseScript` decides which notation a text uses and hands it to that notation's reader; each is a file of its
 * own behind one registry line. Isolde's own form is exact: nothing is skipped, and `printScript` is its inverse.
 * The form for bug reports is forgiving: it looks for labelled statements among prose, prompts and result tables.
 */
import { FileError } from '../errors.js';
import { type Dialect, normalizeSql, tokenize } from '../sql/index.js';
import type { CaseSession } from './case.js';
import type { Notation, NotationContext } from './notations/draft.js';
import { commentsLine, isClosed, isolde, labelAt } from './notations/isolde.js';
import { mtr } from './notations/mtr.js';
import { report } from './notations/report.js';
import { isProse, isProseLabel, looksPasted, startsStatement } from './notations/report-noise.js';
import { isSessionName } from './notations/session-label.js';
import { type Permutation, readPermutations, spec } from './notations/spec.js';
import { sqllogictest } from './notations/sqllogictest.js';
import { troc } from './notations/troc.js';
import { type ScheduledCase, serialOrder } from './schedule.js';
import { hasHead, printHead, printName } from './script-head.js';

export interface ScriptOptions {
  /** Named in errors; without its folders and ending it names a case that has no name. */
  readonly file: string;
  /** How the SQL is spelt if the text does not say. */
  readonly dialect?: Dialect | undefined;
}

/** Asked in this order; the report reader takes what no other claims. */
const notations: readonly Notation[] = [isolde, spec, mtr, sqllogictest, troc];

/** Reads a case from a script in any of the notations Isolde knows. */
export function parseScript(text: string, options: ScriptOptions): ScheduledCase {
  const clean = text.replace(/^\ufeff/, '');
  const context = contextOf(options);
  const notation =
    notations.find((each) => each.recognise(clean)) ?? (isOwn(clean, context) ? isolde : report);
  const scheduled = notation.read(clean, context);
  if (scheduled.case.sessions.length === 0 && !isolde.recognise(clean)) {
    throw new FileError({ file: options.file }, noSession);
  }
  return scheduled;
}

/** Every order of a spec of isolationtester; undefined: the text is none, and `parseScript` reads it. */
export function parsePermutations(text: string, options: ScriptOptions): readonly Permutation[] | undefined {
  const clean = text.replace(/^\ufeff/, '');
  if (isolde.recognise(clean) || !spec.recognise(clean)) return undefined;
  return readPermutations(clean, contextOf(options));
}

function contextOf({ file, dialect }: ScriptOptions): NotationContext {
  return { file, name: file.replace(/^.*[\\/]/, '').replace(/(?!^)\.[^.]*$/, ''), dialect };
}

const accepted = [isolde, report, mtr, spec, sqllogictest, troc];
const noSession = `no session found; statements need a label that says which session sends them. Accepted are ${accepted
  .map((each) => `${each.name} (${each.example})`)
  .join('; ')}`;

/** Whether a text without Isolde's first line is nevertheless a clean script: labels, and no sign of pasting. */
function isOwn(text: string, context: NotationContext): boolean {
  if (looksPasted(text)) return false;
  const labels = text.split('\n').flatMap((line) => labelAt(line.trim(), 0)?.name ?? []);
  if (labels.length === 0 || labels.some(isProseLabel)) return false;
  if (hasHead(text)) return true;
  try {
    const { case: program } = isolde.read(text, context);
    const sent = program.sessions.flatMap((session) => session.statements);
    return program.setup.every(startsStatement) && !sent.some(isProse);
  } catch (thrown) {
    if (!(thrown instanceof FileError)) throw thrown;
    // An open quote: an apostrophe of a report's prose, or a typing error in a script.
    return !labels.some(isSessionName);
  }
}

/**
 * The script of a case: `parseScript` gives the same case and order back. Not kept: a schedule's reasons, and batches
 * without statements.
 */
export function printScript(
  { case: program, schedule }: ScheduledCase,
  /** Labels as comments, so that any client of SQL reads the text. */
  { inComments = false }: { readonly inComments?: boolean } = {},
): string {
  const order = (schedule ?? serialOrder(program)).batches.flat().map(([session]) => session);
  const appearance = [...new Set(order)];
  const named = program.sessions.length === 0 || program.sessions.some((_, s) => appearance[s] !== s);
  let script = printHead(program, schedule !== undefined, named, inComments ? commentsLine : undefined);
  if (program.setup.length > 0) script += '\n';
  for (const sql of program.setup) {
    const hidden = /^\s*delimiter\b/i.test(sql) || labelAt(sql, 0, inComments) !== undefined;
    script += printStatement('', hidden ? `/**/ ${sql}` : sql, program.dialect);
  }
  if (order.length > 0) script += '\n';
  for (const batch of (schedule ?? serialOrder(program)).batches) {
    batch.forEach(([s, position], i) => {
      const session = program.sessions[s] as CaseSession;
      const name = `${i === 0 ? '' : '| '}${printName(session.name)}`;
      // A name with the end of a comment in it stands in quotes, where a slash may be escaped.
      const label = inComments ? `/* ${name.replaceAll('*/', '*\\/')} */ ` : `${name}: `;
      script += printStatement(label, session.statements[position]!, program.dialect);
    });
  }
  return script;
}

function printStatement(label: string, sql: string, dialect: Dialect | undefined): string {
  const tokens = tokenize(sql, dialect);
  const last = tokens.at(-1);
  const plain =
    !tokens.some((token) => token.kind === 'symbol' && token.text === ';') &&
    (last === undefined || isClosed(last, dialect)) &&
    normalizeSql(sql, dialect) === normalizeSql(`${sql};`, dialect);
  if (plain) return `${label}${sql};\n`;
  // Semicolons inside (a trigger's body) or an open quote: the end of the statement must be marked otherwise.
  let delimiter = '//';
  for (let n = 0; `${sql}${delimiter}`.indexOf(delimiter) < sql.length; n++) delimiter = `//${n}`;
  return `DELIMITER ${delimiter}\n${label}${sql}${delimiter}\nDELIMITER ;\n`;
}
