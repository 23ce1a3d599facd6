/**
 * From a history back to a program: the statements each session sent, as steps that can be put in order and sent
 * again, and what is known of each from the raw run.
 *
 * Sessions and set-up come from the header, statements from the operations' SQL. Three things are not sent again as
 * they were, because their outcome depends on timing that no order of statements decides; each is noted:
 *
 * - A statement that fell to a deadlock or a time-out is left out. If that ended its transaction, a ROLLBACK stands
 *   in its place (on demand the statement before it, to be cancelled there: `resent`); if it doomed it, the transaction's COMMIT becomes the ROLLBACK it really was. The same holds for failures that
 *   replays have shown not to come back by themselves (`spared`).
 * - The ROLLBACK an executor sends after a failed COMMIT is left out: the replay sends its own.
 * - Where the database ended a transaction by itself and the session went on without BEGIN, a ROLLBACK is put in;
 *   executors leave the rest of a failed transaction's text out, and this is where that text ends.
 */
import type { Case, StatementRef } from '../cases/index.js';
import { IsoldeError } from '../errors.js';
import { type ErrorClass, endedWaits, type History, type Operation } from '../histories/index.js';
import { type CommitSpans, opensAnother } from '../rows/index.js';
import { chainsOn } from '../sql/index.js';

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
  /** Both, as `rows/` asks for them. */
  readonly spans: CommitSpans<number>;
  readonly transactionCount: number;
  /** The step that ended each transaction, whatever was sent for it later; −1: none did. */
  readonly endOf: Int32Array;
  /** For each session its first step; the session's steps follow each other. */
  readonly firstOf: Int32Array;
  /** A step that is sent as ROLLBACK though the raw run sent something else. */
  readonly replaced: Uint8Array;
  /** A deadlock's victim that is sent again, to be cancelled where the next step of its session stands, a ROLLBACK. */
  readonly cancelled: Uint8Array;
  /** Operations of the raw history that are not sent again, or to another end. */
  readonly leftOut: readonly LeftOut[];
}

export interface LeftOut {
  /** Place in the history's operations. */
  readonly operation: number;
  readonly why: string;
}

/** Outcomes that timing decides: whom the detector picks, when the clock strikes. */
const byTiming: ReadonlySet<ErrorClass> = new Set<ErrorClass>(['deadlock', ...endedWaits]);

export interface StepOptions {
  /** Statements that fell to deadlocks and time-outs are sent again. */
  readonly keepTimed?: boolean | undefined;
  /** Failed operations, by their place in the history, that take their recorded outcome instead of being sent again. */
  readonly spared?: ReadonlySet<number> | undefined;
  /** Victims of deadlocks are sent again where they ended their transaction, and cancelled where they did. */
  readonly resent?: boolean | undefined;
  /** Nothing in the contract makes a statement fail for what others have committed: one that did fell to a deadlock, by another name. */
  readonly conflictsAreTimed?: boolean | undefined;
  /** The contract's clause: a failure ends its transaction, whatever is sent afterwards. */
  readonly failureRollsBack?: boolean | undefined;
}

/** Rebuilds the program of a history. */
export function stepsOf(history: History, options: StepOptions = {}): Steps {
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
  const builder = new Builder(history, options);
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

interface NewStep {
  readonly session: number;
  readonly source: number;
  readonly start: number;
  readonly end: number;
  /** The session's, to which it is added. */
  readonly statements: string[];
  readonly instead: string | undefined;
}

class Builder {
  readonly #session: Int32Array;
  readonly #position: Int32Array;
  readonly #source: Int32Array;
  readonly #transaction: Int32Array;
  readonly #start: Float64Array;
  readonly #end: Float64Array;
  readonly #replaced: Uint8Array;
  readonly #cancelled: Uint8Array;
  readonly #detectionNs: number;
  #count = 0;
  readonly #endOf: number[] = [];
  readonly #firstOf: number[] = [];
  readonly #leftOut: LeftOut[] = [];

  constructor(
    private readonly history: History,
    private readonly options: StepOptions,
  ) {
    // Each operation makes one step; a failed one may need a ROLLBACK behind it.
    const { operations } = history;
    let most = operations.length;
    for (const op of operations) if (op.error !== undefined) most++;
    this.#session = new Int32Array(most);
    this.#position = new Int32Array(most);
    this.#source = new Int32Array(most);
    this.#transaction = new Int32Array(most);
    this.#start = new Float64Array(most);
    this.#end = new Float64Array(most);
    this.#replaced = new Uint8Array(most);
    this.#cancelled = new Uint8Array(most);
    this.#detectionNs = detectionNs(history);
  }

  /** Adds the steps of a session and returns its statements. */
  session(number: number, list: readonly number[]): string[] {
    const { operations } = this.history;
    const statements: string[] = [];
    this.#firstOf.push(this.#count);
    let last = -1;
    let explicit = false;
    let doomed = false;
    let over = false;
    let before: Operation | undefined;
    for (let i = 0; i < list.length; i++) {
      const at = list[i]!;
      const op = operations[at]!;
      const { kind, ends } = op;
      if (op.transaction !== last) {
        last = op.transaction;
        this.#endOf.push(-1);
        explicit = kind === 'begin' || (before !== undefined && opensAnother(before));
        doomed = false;
        over = false;
      } else explicit = true;
      const previous = before;
      before = op;
      if (over) {
        this.#leftOut.push({ operation: at, why: 'its transaction had been rolled back' });
        continue;
      }
      if (kind === 'rollback' && op.statement === undefined && isFailedCommit(previous, op)) {
        this.#leftOut.push({ operation: at, why: 'the executor rolled back after a COMMIT that failed' });
        continue;
      }
      const ended = ends !== undefined || (explicit && op.error !== undefined && this.#rollsBack(list, i));
      const why = this.#whyNotSent(op, at);
      if (why !== undefined) {
        doomed = true;
        this.#leftOut.push({ operation: at, why });
        if (ended && explicit) {
          if (this.#isResent(op)) {
            this.#cancelled[this.#count] = 1;
            const { start } = op;
            this.#put({ session: number, source: at, start, end: start, statements, instead: undefined }, op);
          }
          this.#add(op, { session: number, source: at, statements, ended: true, instead: 'ROLLBACK' });
          over = ends === undefined;
        }
        continue;
      }
      const becomesRollback = doomed && kind === 'commit' && ends === 'rollback';
      const rollback = chainsOn(op.sql ?? '') ? 'ROLLBACK AND CHAIN' : 'ROLLBACK';
      const instead = becomesRollback ? rollback : undefined;
      this.#add(op, { session: number, source: at, statements, ended, instead });
      if (ends !== 'rollback' || kind === 'rollback' || kind === 'commit' || !explicit) continue;
      const next = list[i + 1] === undefined ? undefined : operations[list[i + 1]!]!;
      if (next !== undefined && next.kind !== 'begin') {
        const since = op.end ?? op.start;
        this.#put({ session: number, source: -1, start: since, end: since, statements, instead: 'ROLLBACK' });
      }
    }
    return statements;
  }

  /** Why an operation is not sent again, if it is not. */
  #whyNotSent({ error }: Operation, at: number): string | undefined {
    if (error === undefined) return undefined;
    const timed =
      byTiming.has(error.class) ||
      (this.options.conflictsAreTimed === true && error.class === 'serialization');
    if (timed && this.options.keepTimed !== true) return `it ended by timing (${error.class})`;
    return this.options.spared?.has(at) === true
      ? `its failure is taken as recorded (${error.class})`
      : undefined;
  }

  #isResent({ error, sql }: Operation): boolean {
    return this.options.resent === true && error?.class === 'deadlock' && sql !== undefined;
  }

  /** When a failed operation can have failed at the earliest: who looks for deadlocks waits a while first, where that is known. */
  #earliestFailure({ error, start, end }: Operation): number {
    if (error?.class !== 'deadlock' || end === null) return start;
    return Math.min(end, start + this.#detectionNs);
  }

  /** Whether a failure ended its transaction though the database did not say so: it does unless a savepoint saved it. */
  #rollsBack(list: readonly number[], failed: number): boolean {
    if (this.options.failureRollsBack !== true) return false;
    const { operations } = this.history;
    const { transaction } = operations[list[failed]!]!;
    for (let i = failed + 1; operations[list[i]!]?.transaction === transaction; i++)
      if (operations[list[i]!]!.kind === 'rollback-to') return false;
    return true;
  }

  /** Fields are named one by one: rest and spread cost more here than all the rest of inference. */
  #add(
    op: Operation,
    {
      session,
      source,
      statements,
      instead,
      ended,
    }: Omit<NewStep, 'start' | 'end'> & { readonly ended: boolean },
  ): void {
    if (ended && this.#endOf.at(-1) === -1) this.#endOf[this.#endOf.length - 1] = this.#count;
    const end = op.end ?? Number.POSITIVE_INFINITY;
    const start = instead === undefined ? op.start : this.#earliestFailure(op);
    this.#put({ session, source, start, end, statements, instead }, op);
  }

  /** A statement is put in, or `instead` of one of the raw run. */
  #put({ session, source, start, end, statements, instead }: NewStep, op?: Operation): void {
    const step = this.#count++;
    this.#session[step] = session;
    this.#position[step] = statements.length;
    this.#source[step] = source;
    this.#transaction[step] = this.#endOf.length - 1;
    this.#start[step] = start;
    this.#end[step] = end;
    this.#replaced[step] = instead === undefined ? 0 : 1;
    statements.push(instead ?? sqlOf(op!));
  }

  finish(program: Case): Steps {
    const count = this.#count;
    const start = this.#start.subarray(0, count);
    const end = this.#end.subarray(0, count);
    return {
      case: program,
      count,
      session: this.#session.subarray(0, count),
      position: this.#position.subarray(0, count),
      source: this.#source.subarray(0, count),
      transaction: this.#transaction.subarray(0, count),
      start,
      end,
      spans: { earliest: (step) => start[step]!, latest: (step) => end[step]! },
      transactionCount: this.#endOf.length,
      endOf: Int32Array.from(this.#endOf),
      firstOf: Int32Array.from([...this.#firstOf, count]),
      replaced: this.#replaced.subarray(0, count),
      cancelled: this.#cancelled.subarray(0, count),
      leftOut: this.#leftOut,
    };
  }
}

/** How long a statement waits before the database looks for a deadlock (PostgreSQL's `deadlock_timeout`); 0: not known. */
function detectionNs({ header }: History): number {
  const [, count, unit] =
    /^(\d+)\s*(ms|s)?$/.exec(String(header.target?.settings?.deadlock_timeout ?? '')) ?? [];
  return count === undefined ? 0 : Number(count) * (unit === 's' ? 1e9 : 1e6);
}

function isFailedCommit(before: Operation | undefined, op: Operation): boolean {
  return before?.kind === 'commit' && before.ends === undefined && before.transaction === op.transaction;
}

function sqlOf(op: Operation): string {
  if (op.sql !== undefined) return withoutEnd(op.sql);
  if (op.kind === 'begin') return 'BEGIN';
  if (op.kind === 'commit') return 'COMMIT';
  if (op.kind === 'rollback') return 'ROLLBACK';
  throw new IsoldeError(
    'usage',
    `operation ${op.index} (${op.kind}) has no SQL, so this history cannot be sent to a database again`,
  );
}

/** Without semicolon and blanks at the end. */
function withoutEnd(sql: string): string {
  let end = sql.length;
  while (end > 0 && (sql.charCodeAt(end - 1) <= 32 || sql.charCodeAt(end - 1) === 59)) end--;
  return end === sql.length ? sql : sql.slice(0, end);
}

/** All steps by a time that grows within every session (`start` or `end`): a merge of the sessions. */
export function stepsByTime({ count, firstOf }: Steps, time: Float64Array): Int32Array {
  const sessionCount = firstOf.length - 1;
  const order = new Int32Array(count);
  const next = firstOf.slice(0, sessionCount);
  /** The time of each session's next step; what is over comes last. */
  const times = new Float64Array(sessionCount);
  const look = (session: number) => {
    const step = next[session]!;
    times[session] = step < firstOf[session + 1]! ? time[step]! : Number.NaN;
  };
  for (let session = 0; session < sessionCount; session++) look(session);
  for (let i = 0; i < count; i++) {
    let best = -1;
    for (let session = 0; session < sessionCount; session++) {
      const at = times[session]!;
      if (!Number.isNaN(at) && (best < 0 || at < times[best]!)) best = session;
    }
    order[i] = next[best]!++;
    look(best);
  }
  return order;
}

/** A step as the case and its schedule name it. */
export function refOf(steps: Steps, step: number): StatementRef {
  return [steps.session[step]!, steps.position[step]!];
}
