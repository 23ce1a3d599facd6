/**
 * A case as a person edits it: the statements of all sessions in one list, in the order they are sent, each of which can be switched
 * off, rewritten or moved; and the set-up likewise. Statements that a schedule sends in parallel share the number of their batch, and
 * stay parallel as long as they stand together.
 *
 * Every change gives a new case: a session of shrinking keeps all of them.
 */
import type { Case, StatementRef } from '../../cases/index.js';
import { IsoldeError } from '../../errors.js';
import { classifyStatement, normalizeSql } from '../../sql/index.js';
import type { Candidate } from '../candidate.js';

export interface EditableLine {
  readonly sql: string;
  /** Switched off: it is kept in the list, but not sent. */
  readonly off: boolean;
}

export interface EditableStatement extends EditableLine {
  readonly session: number;
  readonly batch: number;
}

export interface EditableCase {
  /** Everything but set-up and statements. */
  readonly base: Case;
  readonly setup: readonly EditableLine[];
  readonly statements: readonly EditableStatement[];
}

/** Which line: of the set-up, or of the sessions. */
export type LineRef = { readonly setup: number } | { readonly statement: number };

export function editableCase({ case: program, schedule }: Candidate): EditableCase {
  return {
    base: program,
    setup: program.setup.map((sql) => ({ sql, off: false })),
    statements: schedule.batches.flatMap((batch, number) =>
      batch.map(([session, position]) => ({
        sql: program.sessions[session]!.statements[position]!,
        off: false,
        session,
        batch: number,
      })),
    ),
  };
}

/** The case that is sent, and which line of the list each of its statements is. */
export function effectiveCase({ base, setup, statements }: EditableCase): {
  readonly candidate: Candidate;
  readonly lineOf: (ref: StatementRef) => number | undefined;
} {
  const numbers = new Map<number, number>();
  const lists = new Map<number, string[]>();
  const places = new Map<string, number>();
  const batches: StatementRef[][] = [];
  let batch = -1;
  const alive = new Set(statements.filter(({ off }) => !off).map(({ session }) => session));
  base.sessions.forEach((_, session) => {
    if (!alive.has(session)) return;
    numbers.set(session, numbers.size);
    lists.set(session, []);
  });
  statements.forEach((statement, line) => {
    if (statement.off) return;
    const list = lists.get(statement.session)!;
    const ref: StatementRef = [numbers.get(statement.session)!, list.length];
    const open = batches.at(-1);
    const together = open !== undefined && batch === statement.batch && open.every(([s]) => s !== ref[0]);
    if (together) open.push(ref);
    else batches.push([ref]);
    batch = statement.batch;
    list.push(statement.sql);
    places.set(String(ref), line);
  });
  const program: Case = {
    ...base,
    setup: setup.flatMap(({ sql, off }) => (off ? [] : [sql])),
    sessions: base.sessions.flatMap((session, s) =>
      lists.has(s) ? [{ ...session, statements: lists.get(s)! }] : [],
    ),
  };
  return { candidate: { case: program, schedule: { batches } }, lineOf: (ref) => places.get(String(ref)) };
}

/** Switches lines off, or on again. */
export function switchLines(state: EditableCase, lines: readonly LineRef[], off: boolean): EditableCase {
  return lines.reduce((now, line) => changeLine(now, line, (each) => ({ ...each, off })), state);
}

/** Rewrites a line; it is on then. */
export function editLine(state: EditableCase, line: LineRef, sql: string): EditableCase {
  const text = normalizeSql(sql, state.base.dialect);
  if (text === '') throw new IsoldeError('usage', 'a statement cannot be empty; switch it off instead');
  return changeLine(state, line, (each) => ({ ...each, sql: text, off: false }));
}

/** Moves a statement to the place of another one, alone in its batch from then on. */
export function moveLine(state: EditableCase, from: number, to: number): EditableCase {
  const { statements } = state;
  const moved = statements[from];
  if (moved === undefined || statements[to] === undefined) throw noLine();
  const rest = statements.filter((_, i) => i !== from);
  const batch = Math.max(...statements.map((each) => each.batch)) + 1;
  return { ...state, statements: rest.toSpliced(to, 0, { ...moved, batch }) };
}

/** Makes one transaction of two: the statement that ends the first is switched off, and so is the BEGIN of the next. */
export function mergeTransactions(state: EditableCase, at: number): EditableCase {
  const { statements, base } = state;
  const kindOf = ({ sql }: EditableStatement) => classifyStatement(sql, base.dialect).kind;
  const ending = statements[at];
  if (ending === undefined) throw noLine();
  if (kindOf(ending) !== 'commit' && kindOf(ending) !== 'rollback')
    throw new IsoldeError('usage', 'only a COMMIT or ROLLBACK can be taken away to merge two transactions');
  const next = statements.findIndex(
    (each, i) => i > at && !each.off && each.session === ending.session && kindOf(each) === 'begin',
  );
  if (next < 0) throw new IsoldeError('usage', 'its session begins no transaction after that');
  return switchLines(state, [{ statement: at }, { statement: next }], true);
}

function changeLine(
  state: EditableCase,
  line: LineRef,
  change: <Line extends EditableLine>(line: Line) => Line,
): EditableCase {
  if ('setup' in line) return { ...state, setup: replaceAt(state.setup, line.setup, change) };
  return { ...state, statements: replaceAt(state.statements, line.statement, change) };
}

function replaceAt<Line extends EditableLine>(
  list: readonly Line[],
  at: number,
  change: (line: Line) => Line,
): readonly Line[] {
  const line = list[at];
  if (line === undefined) throw noLine();
  return list.with(at, change(line));
}

const noLine = () => new IsoldeError('usage', 'there is no such line');
