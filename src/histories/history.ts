/**
 * A history: what happened when a case ran, or what somebody else's tool recorded. A header, then operations
 * in the order their answers arrived (operations of one session are in program order; what was never answered
 * comes last, with `end: null`).
 *
 * Times are integers in nanoseconds since the run began, from one monotonic client clock. An interval may be
 * wider than the truth, never narrower: the operation took effect, if at all, somewhere inside it.
 */

import type { StatementRef } from '../cases/index.js';
import type { Level } from '../contracts/index.js';
import type { OperationId, SessionId, TransactionId } from '../ids.js';
import type { Dialect, Row, StatementKind, Value } from '../sql/index.js';

export interface HistoryHeader {
  /** Names of the sessions; operations refer to them by number. */
  readonly sessions: readonly string[];
  /** The node of the cluster that each session ran on, where the database is several. */
  readonly nodes?: readonly string[];
  readonly target?: TargetStamp;
  readonly level?: Level;
  /** Levels of single sessions that differ from `level`, by session number. */
  readonly sessionLevels?: Readonly<Record<string, Level>>;
  readonly dialect?: Dialect;
  /** The SQL that built the initial state. */
  readonly setup?: readonly string[];
  /** Name of the case that ran. */
  readonly case?: string;
  /** The line that runs it again. */
  readonly replay?: string;
  readonly seed?: string;
  /** What happened and is not in the history: while there is any, no level can be said to hold. */
  readonly omitted?: readonly string[];
}

/** The number of the session that a case calls so; on several nodes histories name the node behind it (`T1@node2`). −1: there is none. */
export function sessionNumber({ sessions, nodes }: HistoryHeader, name: string): number {
  return sessions.findIndex((each, number) => each === name || each === `${name}@${nodes?.[number]}`);
}

/** Which database ran it: enough to file a bug. The address carries no password. */
export interface TargetStamp {
  readonly name: string;
  readonly version: string;
  readonly url?: string;
  /** Settings that change isolation, as the server reported them. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** Statement kinds of SQL, plus the bare reads and writes of key-value histories. */
export type OperationKind = StatementKind | 'read' | 'write' | 'append';

export interface Operation {
  /** Position in the history, from 0. */
  readonly index: OperationId;
  readonly session: SessionId;
  /** Unique in the history; an autocommitted statement is a transaction of its own. */
  readonly transaction: TransactionId;
  readonly kind: OperationKind;
  /** The statement of the case it executed. */
  readonly statement?: StatementRef;
  readonly sql?: string;
  readonly start: number;
  /** null: no answer ever came. */
  readonly end: number | null;
  /** `unknown`: it may or may not have taken effect (connection lost, server crashed, time ran out). */
  readonly outcome: 'ok' | 'error' | 'unknown';
  readonly error?: OperationError;
  /** Set on the operation that ended its transaction, by whatever means: COMMIT, a deadlock, DDL, a crash. */
  readonly ends?: 'commit' | 'rollback' | 'unknown';
  /** It was seen waiting for another session before it was answered. */
  readonly blocked?: boolean;
  readonly columns?: readonly string[];
  readonly rows?: readonly Row[];
  /** Rows the statement's WHERE selected, and rows it really changed; engines differ in which they report. */
  readonly matched?: number;
  readonly changed?: number;
  /** Rows or keys it touched, where the recorder knows them (imported traces, key-value histories). */
  readonly accesses?: readonly Access[];
}

export interface OperationError {
  readonly class: ErrorClass;
  /** SQLSTATE, errno or the engine's own name for it. */
  readonly code?: string;
  readonly message: string;
}

/** What an error means for a transaction, whatever the engine calls it. */
export type ErrorClass =
  | 'deadlock'
  | 'serialization' // a conflict with a concurrent transaction; retrying may help
  | 'lock-timeout'
  | 'statement-timeout'
  | 'cancelled'
  | 'busy' // the engine fails at once instead of waiting (SQLITE_BUSY, NOWAIT)
  | 'duplicate-key'
  | 'constraint' // any other constraint
  | 'transaction-aborted' // statement refused because the transaction had failed before
  | 'syntax'
  | 'unsupported'
  | 'data' // division by zero, out of range, bad cast, more rows than one
  | 'out-of-memory'
  | 'connection-lost'
  | 'crash' // the server died, or reports that it is recovering
  | 'other';

export interface Access {
  readonly mode: 'read' | 'write' | 'append' | 'delete';
  /** The row or key: `table/row` for rows. */
  readonly object: string;
  /** What was read or written: one value, a list (list-append), or a row by column. Absent: not known. */
  readonly value?: Value | readonly Value[] | Readonly<Record<string, Value>>;
}

/** A whole history in memory, for those small enough. */
export interface History {
  readonly header: HistoryHeader;
  readonly operations: readonly Operation[];
}
