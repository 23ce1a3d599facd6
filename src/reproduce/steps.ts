/**
 * From a history back to a program: the statements each session sent, as steps that can be put in order and sent
 * again, and what is known of each from the raw run.
 *
 * Sessions and set-up come from the header, statements from the operations' SQL. Three things are not sent again as
 * they were, because their outcome hangs on timing that no order of statements decides; each is noted:
 *
 * - A statement that fell to a deadlock or a time-out is left out. If that ended its transaction, a ROLLBACK stands
 *   in its place; if it doomed it, the transaction's COMMIT becomes the ROLLBACK it really was.
 * - The ROLLBACK an executor sends after a failed COMMIT is left out: the replay sends its own.
 * - Where the database ended a transaction by itself and the session went on without BEGIN, a ROLLBACK is put in;
 *   executors leave the rest of a failed transaction's text out, and this is where that text ends.
 */
import type { Case, StatementRef } from '../cases/index.js';
import { IsoldeError } from '../errors.js';
import type { ErrorClass, History, Operation } from '../histories/index.js';

export interface Steps {
  readonly case: Case;
  readonly count: number;
  readonly session: Int32Array;
  /** Position in its session's statements. */
  readonly position: Int32Array;
  /** The operation of the raw history, by its place in `operations`; −1: put in by us. */
  readonly source: Int32Array;
  /** Transactions are numbered anew, from 0. */
  readonly transaction: Int32Array;
  readonly start: Float64Array;
  /** Infinity: never answered. */
  readonly end: Float64Array;
  readonly transactionCount: number;
  /** The step that ended each transaction; −1: none did. */
  readonly endOf: Int32Array;
  /** For each session its first step; the session's steps follow each other. */
  readonly firstOf: Int32Array;
  /** A step that is sent as ROLLBACK though the raw run sent something else. */
  readonly replaced: Uint8Array;
  /** Operations of the raw history that are not sent again. */
  readonly leftOut: readonly LeftOut[];
}

export interface LeftOut {
  /** Place in the history's operations. */
  readonly operation: number;
  readonly why: string;
}

/** Outcomes that timing decides: whom the detector picks, when the clock strikes. */
const byTiming: ReadonlySet<ErrorClass> = new Set([
  'deadlock',
  'lock-timeout',
  'statement-timeout',
  'cancelled',
]);

/** Rebuilds the program of a history. `keepTimed`: statements that fell to deadlocks and time-outs are sent again. */
export function stepsOf(history: History, keepTimed = false): Steps {
  const { header, operations } = history;
  const bySession: number[][] = header.sessions.map(() => []);
  operations.forEach((op, at) => {
    const list = bySession[op.session];
    if (list === undefined)
      throw new IsoldeError(
        'usage',
        `operation ${op.index} names session ${op.session}; the history has ${bySession.length}`,
      );
    list.push(at);
  });
  const builder = new Builder(history, keepTimed);
  const sessions = bySession.map((list, number) => ({
    name: header.sessions[number]!,
    ...levelOf(history, number),
    statements: builder.session(number, inProgramOrder(list, operations)),
  }));
  const program: Case = {
    name: header.case ?? 'history',
    ...(header.dialect === undefined ? undefined : { dialect: header.dialect }),
    ...(header.level === undefined ? undefined : { level: header.level }),
    setup: header.setup ?? [],
    sessions,
  };
  return builder.finish(program);
}

function levelOf({ header }: History, session: number) {
  const level = header.sessionLevels?.[String(session)];
  return level === undefined ? undefined : { level };
}

/** By start: a session sends one statement at a time. */
function inProgramOrder(list: readonly number[], operations: readonly Operation[]): readonly number[] {
  for (let i = 1; i < list.length; i++) {
    if (operations[list[i]!]!.start < operations[list[i - 1]!]!.start)
      return list.toSorted((a, b) => operations[a]!.start - operations[b]!.start);
  }
  return list;
}

class Builder {
  readonly #session: number[] = [];
  readonly #position: number[] = [];
  readonly #source: number[] = [];
  readonly #transaction: number[] = [];
  readonly #start: number[] = [];
  readonly #end: number[] = [];
  readonly #replaced: number[] = [];
  readonly #endOf: number[] = [];
  readonly #firstOf: number[] = [];
  readonly #leftOut: LeftOut[] = [];

  constructor(
    private readonly history: History,
    private readonly keepTimed: boolean,
  ) {}

  /** Adds the steps of a session and returns its statements. */
  session(number: number, list: readonly number[]): string[] {
    const { operations } = this.history;
    const statements: string[] = [];
    this.#firstOf.push(this.#source.length);
    let last = -1;
    let transaction = -1;
    let explicit = false;
    let doomed = false;
    const add = (
      op: Pick<Operation, 'start' | 'end' | 'ends'>,
      source: number,
      sql: string,
      replaced: boolean,
    ) => {
      this.#session.push(number);
      this.#position.push(statements.length);
      this.#source.push(source);
      this.#transaction.push(transaction);
      this.#start.push(op.start);
      this.#end.push(op.end ?? Number.POSITIVE_INFINITY);
      this.#replaced.push(replaced ? 1 : 0);
      if (op.ends !== undefined) this.#endOf[transaction] = this.#source.length - 1;
      statements.push(sql);
    };
    list.forEach((at, i) => {
      const op = operations[at]!;
      const before = i === 0 ? undefined : operations[list[i - 1]!]!;
      if (op.transaction !== last) {
        last = op.transaction;
        transaction = this.#endOf.length;
        this.#endOf.push(-1);
        explicit = op.kind === 'begin';
        doomed = false;
      } else explicit = true;
      if (op.statement === undefined && op.kind === 'rollback' && isFailedCommit(before, op)) {
        this.#leftOut.push({ operation: at, why: 'the executor rolled back after a COMMIT that failed' });
        return;
      }
      const timed = op.error !== undefined && byTiming.has(op.error.class) && !this.keepTimed;
      if (timed) {
        doomed = true;
        this.#leftOut.push({ operation: at, why: `it ended by timing (${op.error.class})` });
        if (op.ends !== undefined && explicit) add(op, at, 'ROLLBACK', true);
        return;
      }
      const becomesRollback = doomed && op.kind === 'commit' && op.ends === 'rollback';
      add(op, at, becomesRollback ? 'ROLLBACK' : sqlOf(op), becomesRollback);
      const endedByItself = op.ends === 'rollback' && op.kind !== 'rollback' && op.kind !== 'commit';
      const next = list[i + 1] === undefined ? undefined : operations[list[i + 1]!]!;
      if (endedByItself && explicit && next !== undefined && next.kind !== 'begin') {
        add({ start: op.end ?? op.start, end: op.end }, -1, 'ROLLBACK', true);
      }
    });
    return statements;
  }

  finish(program: Case): Steps {
    const count = this.#source.length;
    return {
      case: program,
      count,
      session: Int32Array.from(this.#session),
      position: Int32Array.from(this.#position),
      source: Int32Array.from(this.#source),
      transaction: Int32Array.from(this.#transaction),
      start: Float64Array.from(this.#start),
      end: Float64Array.from(this.#end),
      transactionCount: this.#endOf.length,
      endOf: Int32Array.from(this.#endOf),
      firstOf: Int32Array.from([...this.#firstOf, count]),
      replaced: Uint8Array.from(this.#replaced),
      leftOut: this.#leftOut,
    };
  }
}

function isFailedCommit(before: Operation | undefined, op: Operation): boolean {
  return before?.kind === 'commit' && before.ends === undefined && before.transaction === op.transaction;
}

function sqlOf(op: Operation): string {
  if (op.sql !== undefined) return op.sql.replace(/\s*;\s*$/, '');
  if (op.kind === 'begin') return 'BEGIN';
  if (op.kind === 'commit') return 'COMMIT';
  if (op.kind === 'rollback') return 'ROLLBACK';
  throw new IsoldeError(
    'usage',
    `operation ${op.index} (${op.kind}) has no SQL, so this history cannot be sent to a database again`,
  );
}

/** A step as the case and its schedule name it. */
export function refOf(steps: Steps, step: number): StatementRef {
  return [steps.session[step]!, steps.position[step]!];
}
