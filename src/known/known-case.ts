/**
 * A case that shows a known bug: a script whose head also says what is wrong when the bug shows, and which root cause it has.
 *
 *     -- bug: innodb-no-op-update
 *     -- source: facts
 *     -- wrong: T1.4 rows (10, 0) (1, 1)
 *     -- wrong: T2.2 at once
 *
 * `T1.4` is the fourth statement of session T1. What may be wrong with it: `rows` (as a bag; `rows none`), `count` of rows it
 * matched, `error` (of a class, or any), `ok` (it worked), `waits` (it was seen waiting), `at once` (it neither waited nor failed
 * for a conflict). The bug shows when all of that holds. `source` says what the case was written from.
 */
import { parseScript, type ScheduledCase, type StatementRef, serialOrder } from '../cases/index.js';
import { FileError } from '../errors.js';
import {
  conflictErrors,
  type ErrorClass,
  goneErrors,
  type History,
  type Operation,
} from '../histories/index.js';

export type Wrong =
  | { readonly at: StatementRef; readonly what: 'rows'; readonly rows: readonly string[] }
  | { readonly at: StatementRef; readonly what: 'count'; readonly count: number }
  | { readonly at: StatementRef; readonly what: 'error'; readonly class?: string }
  | { readonly at: StatementRef; readonly what: 'ok' | 'waits' | 'at-once' };

/** What a case was written from, the surest first, in words for people. */
export const caseSources = {
  hunt: 'a bug that a hunt found',
  facts: 'the statements of the report',
  text: 'what the report says; its statements are not known',
  title: 'the title of the report; nothing else of it is known',
} as const;
export type CaseSource = keyof typeof caseSources;

export interface KnownCase extends Required<ScheduledCase> {
  readonly wrong: readonly Wrong[];
  readonly bug?: string;
  /** Absent: nobody wrote it down. */
  readonly source?: CaseSource;
  /** The script it was read from. */
  readonly text?: string;
}

export function parseKnownCase(text: string, file: string): KnownCase {
  const { case: program, schedule = serialOrder(program) } = parseScript(text, { file });
  const wrong: Wrong[] = [];
  let bug: string | undefined;
  let source: CaseSource | undefined;
  for (const [i, line] of text.split('\n').entries()) {
    if (!line.startsWith('--') && line.trim() !== '') break;
    const match = /^-- (wrong|bug|source): (.*)$/.exec(line.trim());
    if (match?.[1] === 'bug') bug = match[2]!.trim();
    else if (match?.[1] === 'source') source = readSource(match[2]!.trim(), { file, line: i + 1 });
    else if (match !== null)
      wrong.push(readWrong(match[2]!, program.sessions, { file, line: i + 1, field: 'wrong' }));
  }
  return {
    ...{ case: program, schedule, wrong, text },
    ...(bug !== undefined && { bug }),
    ...(source !== undefined && { source }),
  };
}

function readSource(text: string, place: { readonly file: string; readonly line: number }): CaseSource {
  if (Object.hasOwn(caseSources, text)) return text as CaseSource;
  throw new FileError({ ...place, field: 'source' }, `expected ${Object.keys(caseSources).join(', ')}`);
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

const conflicts: ReadonlySet<ErrorClass> = new Set<ErrorClass>([...conflictErrors, 'transaction-aborted']);
/** Errors that say the engine does not speak this SQL, or went away: then nothing is shown either way, unless the case names the error. */
const unfit: ReadonlySet<ErrorClass> = new Set<ErrorClass>(['syntax', 'unsupported', ...goneErrors]);

export type Shows =
  | { readonly shows: boolean }
  /** Not decided: the engine does not run this case. */
  | { readonly shows: 'unknown'; readonly why: string };

/** Whether an error of this class is what is wrong. */
export function isNamed({ wrong }: Pick<KnownCase, 'wrong'>, errorClass: ErrorClass): boolean {
  return wrong.some((each) => each.what === 'error' && each.class === errorClass);
}

/** Whether a run gave the wrong results that the case names. */
export function showsBug({ wrong }: Pick<KnownCase, 'wrong'>, history: History): Shows {
  const bad = history.operations.find(
    ({ error }) => error !== undefined && unfit.has(error.class) && !isNamed({ wrong }, error.class),
  );
  if (bad !== undefined)
    return { shows: 'unknown', why: `${bad.sql ?? bad.kind}: ${bad.error!.message.split('\n')[0]}` };
  if (wrong.length === 0) return { shows: 'unknown', why: 'the case does not say which result is wrong' };
  const held = wrong.map((each) => holds(each, history));
  if (held.includes(false)) return { shows: false };
  return held.includes(undefined)
    ? { shows: 'unknown', why: 'the driver does not tell how many rows a statement wrote' }
    : { shows: true };
}

/** Undefined: the run does not tell. */
function holds(wrong: Wrong, { operations }: History): boolean | undefined {
  const operation = operations.find(
    ({ statement }) => statement?.[0] === wrong.at[0] && statement[1] === wrong.at[1],
  );
  if (operation === undefined) return false;
  switch (wrong.what) {
    case 'rows':
      return operation.rows !== undefined && bag(operation) === [...wrong.rows].sort().join('\n');
    case 'count':
      if (operation.outcome !== 'ok') return false;
      if (operation.matched === undefined && operation.changed === undefined) return undefined;
      return (operation.matched ?? operation.changed) === wrong.count;
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
  const wrong = 'wrong' in shown ? shown.wrong : wrongOf(shown.case, shown.witnesses);
  return wrong.map((each) => `${name(each.at)} ${printWrong(each)}`);
}

/** What a run's witnesses answered, as far as a line can say it. */
export function wrongOf({ sessions }: KnownCase['case'], witnesses: readonly Operation[]): Wrong[] {
  return witnesses.flatMap((operation): Wrong[] => {
    const { statement: at, rows, error, kind, matched, outcome, ends } = operation;
    if (at === undefined || /[\s.]/.test(sessions[at[0]]?.name ?? ' ')) return [];
    if (error !== undefined) return [{ at, what: 'error', class: error.class }];
    if (rows !== undefined && kind === 'select') {
      const list = bag(operation)
        .split('\n')
        .filter((row) => row !== '');
      // Values with parentheses or line breaks do not fit the line.
      return list.some((row) => /[()\r\n]/.test(row)) ? [] : [{ at, what: 'rows', rows: list }];
    }
    // That a transaction could commit may be all that is wrong.
    if (kind === 'commit' && outcome === 'ok' && ends !== 'rollback') return [{ at, what: 'ok' }];
    return matched === undefined ? [] : [{ at, what: 'count', count: matched }];
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
