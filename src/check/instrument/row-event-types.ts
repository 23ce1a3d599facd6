/** What a history of an instrumented run says about rows, as data; `row-events.ts` reads it. */

import type { StatementRef } from '../../cases/index.js';
import type { Operation } from '../../histories/index.js';
import type { OperationId, SessionId, TransactionId } from '../../ids.js';
import type { Dialect, Value } from '../../sql/index.js';
import type { StatementPlan } from './instrumented.js';

export type TransactionStatus = 'committed' | 'aborted' | 'unknown';

export interface TransactionInfo {
  readonly id: TransactionId;
  readonly session: SessionId;
  readonly operations: readonly Operation[];
  readonly status: TransactionStatus;
  /** It undid a part of itself (ROLLBACK TO). */
  readonly partial: boolean;
}

/** A row in a result. */
export interface RowRead {
  readonly rid: string;
  /** As the database returned it. */
  readonly list: Value;
  /** Index of the operation in the history given. */
  readonly operation: OperationId;
  readonly transaction: TransactionId;
  readonly what: 'read' | 'written' | 'deleted';
  readonly locking: boolean;
}

/** A write statement as it ran. */
export interface WriteRun {
  readonly operation: OperationId;
  readonly transaction: TransactionId;
  readonly plan: StatementPlan & { readonly write: NonNullable<StatementPlan['write']> };
  /** `undone`: it failed, was rolled back to a savepoint, or never ended well. */
  readonly effect: 'done' | 'undone' | 'unknown';
  readonly count?: number;
}

/** A search that returned all rows that matched. */
export interface ScanRun {
  readonly scan: number;
  readonly operation: OperationId;
  readonly transaction: TransactionId;
  readonly locking: boolean;
  readonly found: ReadonlySet<string>;
  /** The write whose search for rows to write this is: what it found are the rows that hold its mark. */
  readonly write?: string;
}

export interface ObservedState {
  /** By table, each row's id and list; tables whose query failed are missing. */
  readonly tables: ReadonlyMap<string, ReadonlyMap<string, Value>>;
  /** By scan, the rows that match. */
  readonly scans: ReadonlyMap<number, ReadonlySet<string>>;
}

export interface RowEvents {
  readonly dialect: Dialect;
  /** The node of each session, where the database is several. */
  readonly nodes?: readonly string[];
  readonly transactions: ReadonlyMap<number, TransactionInfo>;
  readonly reads: readonly RowRead[];
  readonly writes: ReadonlyMap<string, WriteRun>;
  readonly scans: readonly ScanRun[];
  readonly before?: ObservedState;
  readonly after?: ObservedState;
  /** How a person knows a row: `t[id=1]`. */
  readonly labels: ReadonlyMap<string, string>;
  /** Results the database cut off. */
  readonly cut: number;
  /** Writes that ran, read other rows and wrote none, so that nothing shows what they read. */
  readonly silent: number;
  /** What stood right before a write and found the rows it must take. */
  readonly expected: readonly ExpectedRows[];
}

/** The rows that satisfied the condition of a write right before it, in the same snapshot. */
export interface ExpectedRows {
  readonly rows: ReadonlySet<string>;
  readonly operation: OperationId;
  /** The statement of the original case. */
  readonly original: StatementRef;
}
