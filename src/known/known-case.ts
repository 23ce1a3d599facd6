/**
 * A case that shows a known bug: a script whose head also says what is wrong when the bug shows, and which root cause it has.
 *
 *     -- bug: innodb-no-op-update
 *     -- wrong: T1.4 rows (10, 0) (1, 1)
 *     -- wrong: T2.2 at once
 *
 * `T1.4` is the fourth statement of session T1. What may be wrong with it: `rows` (as a bag; `rows none`), `count` of rows it
 * matched, `error` (of a class, or any), `ok` (it worked), `waits` (it was seen waiting), `at once` (it neither waited nor failed
 * for a conflict). The bug shows when all of that holds.
 */
import { parseScript, type ScheduledCase, type StatementRef, serialOrder } from '../cases/index.js';
import { FileError } from '../errors.js';
import type { ErrorClass, History, Operation } from '../histories/index.js';

export type Wrong =
  | { readonly at: StatementRef; readonly what: 'rows'; readonly rows: readonly string[] }
  | { readonly at: StatementRef; readonly what: 'count'; readonly count: number }
  | { readonly at: StatementRef; readonly what: 'error'; readonly class?: string }
  | { readonly at: StatementRef; readonly what: 'ok' | 'waits' | 'at-once' };

export interface KnownCase extends Required<ScheduledCase> {
  readonly wrong: readonly Wrong[];
  readonly bug?: string;
}

export function parseKnownCase(text: string, file: string): KnownCase {
  const { case: program, schedule = serialOrder(program) } = parseScript(text, { file });
  const wrong: Wrong[] = [];
  let bug: string | undefined;
  for (const [i, line] of text.split('\n').entries()) {
    if (!line.startsWith('--') && line.trim() !== '') break;
    const match = /^-- (wrong|bug): (.*)$/.exec(line.trim());
    if (match?.[1] === 'bug') bug = match[2]!.trim();
    else if (match !== null)
      wrong.push(readWrong(match[2]!, program.sessions, { file, line: i + 1, field: 'wrong' }));
  }
  return { case: program, schedule, wrong, ...(bug !== undefined && { bug }) };
}

function readWrong(
  text: string,
  sessions: ScheduledCase['case']['sessions'],
  place: { readonly file: string; readonly line: number; readonly field: string },
): Wrong {
  const fail = (problem: string): never => {
    throw new FileError(place, problem);
  };
  const match = /^(\S+)\.(\d{1,4}) (rows|count|error|ok|waits|at once)\b ?(.*)$/.exec(text.trim());
  if (match === null) return fail('expected a statement (T1.4) and rows, count, error, ok, waits or at once');
  const session = sessions.findIndex(({ name }) => name === match[1]);
  const position = Number(match[2]) - 1;
  if (sessions[session]?.statements[position] === undefined)
    return fail(`there is no statement ${match[1]}.${match[2]}`);
  const at: StatementRef = [session, position];
  const rest = match[4]!.trim();
  switch (match[3]) {
    case 'rows':
      return {
        at,
        what: 'rows',
        rows: readRows(rest) ?? fail("expected rows such as (1, NULL) (2, 'x'), or none"),
      };
    case 'count':
      return /^\d{1,9}$/.test(rest)
        ? { at, what: 'count', count: Number(rest) }
        : fail('expected a number of rows');
    case 'error':
      return rest === '' ? { at, what: 'error' } : { at, what: 'error', class: rest };
    case 'ok':
      return { at, what: 'ok' };
    case 'waits':
      return { at, what: 'waits' };
    default:
      return { at, what: 'at-once' };
  }
}

/** `(1, 'a')` as `1,a`: values are compared as people read them. */
function readRows(text: string): string[] | undefined {
  if (text === 'none') return [];
  if (!/^(\([^()]*\)\s*)+$/.test(text)) return undefined;
  return [...text.matchAll(/\(([^()]*)\)/g)].map(([, row]) =>
    row!
      .split(',')
      .map((value) => value.trim().replace(/^'(.*)'$/, '$1'))
      .join(','),
  );
}

const conflicts: ReadonlySet<ErrorClass> = new Set([
  'deadlock',
  'serialization',
  'lock-timeout',
  'busy',
  'transaction-aborted',
]);
/** Errors that say the engine does not speak this SQL, or went away: then nothing is shown either way. */
const unfit: ReadonlySet<ErrorClass> = new Set(['syntax', 'unsupported', 'connection-lost', 'crash']);

export type Shows =
  | { readonly shows: boolean }
  /** Not decided: the engine does not run this case. */
  | { readonly shows: 'unknown'; readonly why: string };

/** Whether a run gave the wrong results that the case names. */
export function showsBug({ wrong }: Pick<KnownCase, 'wrong'>, history: History): Shows {
  const bad = history.operations.find(({ error }) => error !== undefined && unfit.has(error.class));
  if (bad !== undefined)
    return { shows: 'unknown', why: `${bad.sql ?? bad.kind}: ${bad.error!.message.split('\n')[0]}` };
  if (wrong.length === 0) return { shows: 'unknown', why: 'the case does not say which result is wrong' };
  return { shows: wrong.every((each) => holds(each, history)) };
}

function holds(wrong: Wrong, { operations }: History): boolean {
  const operation = operations.find(
    ({ statement }) => statement?.[0] === wrong.at[0] && statement[1] === wrong.at[1],
  );
  if (operation === undefined) return false;
  switch (wrong.what) {
    case 'rows':
      return operation.rows !== undefined && bag(operation) === [...wrong.rows].sort().join('\n');
    case 'count':
      return operation.outcome === 'ok' && (operation.matched ?? operation.changed) === wrong.count;
    case 'error':
      return (
        operation.error !== undefined && (wrong.class === undefined || operation.error.class === wrong.class)
      );
    case 'ok':
      return operation.outcome === 'ok' && operation.ends !== 'rollback';
    case 'waits':
      return operation.blocked === true;
    case 'at-once':
      return (
        operation.blocked !== true && !(operation.error !== undefined && conflicts.has(operation.error.class))
      );
    default:
      return wrong satisfies never;
  }
}

function bag({ rows = [] }: Operation): string {
  return rows
    .map((row) => row.map((value) => (value === null ? 'NULL' : String(value))).join(','))
    .sort()
    .join('\n');
}

/** The lines of the head that say what is wrong: those of a known case, or the answers of a run's witnesses. */
export function wrongLines(
  shown:
    | Pick<KnownCase, 'case' | 'wrong'>
    | { readonly case: KnownCase['case']; readonly witnesses: readonly Operation[] },
): string[] {
  const name = ([session, position]: StatementRef) => `${shown.case.sessions[session]!.name}.${position + 1}`;
  if ('wrong' in shown) return shown.wrong.map((wrong) => `${name(wrong.at)} ${printWrong(wrong)}`);
  return shown.witnesses.flatMap((operation) => {
    const { statement: at, rows, error, kind, matched } = operation;
    if (at === undefined || /[\s.]/.test(shown.case.sessions[at[0]]?.name ?? ' ')) return [];
    if (error !== undefined) return [`${name(at)} ${printWrong({ at, what: 'error', class: error.class })}`];
    if (rows !== undefined && kind === 'select') {
      const wrong: Wrong = {
        at,
        what: 'rows',
        rows: bag(operation)
          .split('\n')
          .filter((row) => row !== ''),
      };
      // Values with parentheses or line breaks do not fit the line.
      return wrong.rows.some((row) => /[()\r\n]/.test(row)) ? [] : [`${name(at)} ${printWrong(wrong)}`];
    }
    return matched === undefined ? [] : [`${name(at)} ${printWrong({ at, what: 'count', count: matched })}`];
  });
}

function printWrong(wrong: Wrong): string {
  switch (wrong.what) {
    case 'rows':
      return wrong.rows.length === 0
        ? 'rows none'
        : `rows ${wrong.rows.map((row) => `(${row.replaceAll(',', ', ')})`).join(' ')}`;
    case 'count':
      return `count ${wrong.count}`;
    case 'error':
      return `error ${wrong.class ?? ''}`.trim();
    case 'at-once':
      return 'at once';
    case 'ok':
    case 'waits':
      return wrong.what;
    default:
      return wrong satisfies never;
  }
}
