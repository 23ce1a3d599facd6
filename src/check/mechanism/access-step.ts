/** What an operation met and should have met, as data (`expected-access.ts`). */
import type { Pivot } from '../../contracts/index.js';
import type { OperationId, SessionId, TransactionId } from '../../ids.js';
import type { FindingKind } from '../finding.js';
import type { Observation } from '../observation.js';

/** A version of a row, and who wrote it. */
export interface AccessVersion {
  /** Its values, or that there is no row. */
  readonly value: Observation;
  /** Absent: the initial state, or a value of no known version. */
  readonly transaction?: TransactionId;
  /** What a person calls that transaction. */
  readonly name?: string;
  /** The operation that wrote it. */
  readonly operation?: OperationId;
  /** The row’s initial state. */
  readonly initial?: true;
}

export interface RowAccess {
  /** `table/row`. */
  readonly object: string;
  /** What the answer shows of the row; absent for writes and for answers that show no single rows. */
  readonly actual?: AccessVersion;
  /** The versions the contract lets it meet; more than one where times leave it open. */
  readonly expected: readonly AccessVersion[];
  /** Whether the actual version is one of those; absent where that cannot be told. */
  readonly agrees?: boolean;
  /** The values that the operation gave the row. */
  readonly wrote?: readonly Observation[];
}

/** The state that an operation is held to. */
export type AccessState = 'snapshot' | 'statement' | 'uncommitted' | 'current';

export interface AccessStep {
  readonly operation: OperationId;
  readonly session: SessionId;
  readonly transaction: TransactionId;
  /** Absent: it met no rows, or cannot be judged. */
  readonly state?: AccessState;
  /** The operation whose moment decides what is visible: for a snapshot the one that took it, else this one. */
  readonly pivot?: OperationId;
  readonly rows: readonly RowAccess[];
  /** Of an answer that shows no single rows: what it is, and what it may be. */
  readonly answer?: {
    readonly actual: string;
    readonly expected: readonly string[];
    readonly agrees: boolean;
  };
  /** Why something about it is not judged. */
  readonly notJudged?: readonly string[];
  /** What is wrong with it. */
  readonly findings: readonly FindingKind[];
}

export interface ExpectedAccess {
  /** By id. */
  readonly contract: string;
  readonly pivot: Pivot;
  /** One for each operation, in the order of the history. */
  readonly steps: readonly AccessStep[];
}
