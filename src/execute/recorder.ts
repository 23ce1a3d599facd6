/**
 * Turns answers into operations and follows each session's transactions.
 *
 * Which transaction an operation belongs to, and which operation ended it, is decided here once for all
 * executors, from what the database answered (`Answer.transaction`), not from what the statement's text says:
 * a COMMIT may roll back, DDL may commit, a deadlock ends the transaction of whoever it hits.
 */

import type { Operation } from '../histories/index.js';
import type { SessionId, TransactionId } from '../ids.js';
import type { Dialect } from '../sql/index.js';
import type { Answer } from '../targets/index.js';
import type { PreparedStatement } from './prepare.js';

/** Where operations go as they are recorded. A rejected write ends the run. */
export interface OperationSink {
  write(operation: Operation): void | Promise<void>;
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };

/** A session's transaction as the recorder knows it. */
export interface TransactionState {
  /** Number of the open transaction, or −1. */
  transaction: TransactionId;
  /** Whether it is doomed. */
  failed: boolean;
}

export class Recorder {
  readonly operations: Operation[] = [];
  /** How many statements have ended a transaction that may have changed something. */
  commits = 0;
  #count = 0;
  #transactions = 0;

  constructor(
    private readonly dialect: Dialect,
    private readonly sink?: OperationSink,
  ) {}

  /** Number of operations recorded. */
  get count(): number {
    return this.#count;
  }

  /** Records one answer and moves the session's transaction on; returns the operation and the sink's promise. */
  record(entry: {
    readonly session: SessionId;
    readonly state: TransactionState;
    readonly statement: PreparedStatement;
    readonly start: number;
    /** null with an answer of `lost`: we gave up waiting. */
    readonly end: number | null;
    readonly answer: Answer;
    readonly blocked: boolean;
  }): { readonly operation: Operation; readonly written: void | Promise<void> } {
    const { session, state, statement, start, end, answer } = entry;
    const wasOpen = state.transaction >= 0;
    const transaction = wasOpen ? state.transaction : this.#transactions++;
    const ends = this.#ending(wasOpen, statement, answer);
    const lost = answer.transaction === 'lost';
    // Fields are added only where there is something to say, and without spreads, which cost more than all the rest.
    const operation: Writable<Operation> = {
      index: this.#count++,
      session,
      transaction,
      kind: statement.kind,
      sql: statement.sql,
      start,
      end,
      outcome: lost ? 'unknown' : answer.error === undefined ? 'ok' : 'error',
    };
    if (statement.ref !== undefined) operation.statement = statement.ref;
    if (answer.error !== undefined) operation.error = answer.error;
    if (ends !== undefined) {
      operation.ends = ends;
      if (ends !== 'rollback' && statement.kind !== 'select') this.commits++;
    }
    if (entry.blocked) operation.blocked = true;
    if (answer.columns !== undefined) operation.columns = answer.columns;
    if (answer.rows !== undefined) operation.rows = answer.rows;
    if (answer.matched !== undefined) operation.matched = answer.matched;
    if (answer.changed !== undefined) operation.changed = answer.changed;
    const another = answer.transaction === 'open' || answer.transaction === 'failed';
    if (ends === undefined) state.transaction = transaction;
    else state.transaction = another ? this.#transactions++ : -1;
    state.failed = ends === undefined && answer.transaction === 'failed';
    if (this.sink === undefined) {
      this.operations.push(operation);
      return { operation, written: undefined };
    }
    return { operation, written: this.sink.write(operation) };
  }

  /** How the transaction ended with this answer, or undefined if it goes on. */
  #ending(wasOpen: boolean, statement: PreparedStatement, answer: Answer): Operation['ends'] {
    const { kind } = statement;
    if (answer.transaction === 'lost') {
      // The server rolls back what was not committed. A commit in flight, or a statement that commits by
      // itself, may have taken effect before the connection went.
      const mayCommit = kind === 'commit' || !wasOpen || kind === 'ddl' || kind === 'other';
      return mayCommit && kind !== 'begin' && kind !== 'rollback' ? 'unknown' : 'rollback';
    }
    // Another one may be open already: AND CHAIN.
    if (answer.ended !== undefined) return answer.ended;
    if (answer.transaction === 'none') {
      return answer.error !== undefined || kind === 'rollback' ? 'rollback' : 'commit';
    }
    // MySQL's family commits the open transaction when another one begins.
    const beginsAnother = wasOpen && kind === 'begin' && answer.error === undefined;
    return beginsAnother && this.dialect === 'mysql' ? 'commit' : undefined;
  }
}
