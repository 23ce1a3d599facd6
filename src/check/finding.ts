/**
 * A finding: one violation, as data. Every oracle speaks in findings; prose, pictures and reports are made from
 * them and add nothing. A finding is JSON-safe and stands alone: it carries the text of every operation it names.
 */
import type { FindingKind, KnownOracle } from '../contracts/index.js';
import type { OperationId, TransactionId } from '../ids.js';
import type { Phrase, Step } from './explanation.js';
import type { CheckLevel } from './levels.js';
import type { Observation } from './observation.js';

export type {
  CycleAnomaly,
  FindingKind,
  GraphAnomaly,
  ReadAnomaly,
} from '../contracts/index.js';

/** Who found it; others can be registered (`registry.ts`). `server`: no oracle of isolation; the server itself failed. */
export type OracleName = KnownOracle | (string & {});

/**
 * `proved`: follows from the history alone. `proved-by-search`: every alternative was tried and refuted.
 * `probable`: rests on something the history does not show; `assumes` says on what.
 */
export type Certainty = 'proved' | 'proved-by-search' | 'probable';

export interface Finding {
  /** A row of the closed table of kinds (`contracts/finding-kinds.ts`). */
  readonly kind: FindingKind;
  readonly oracle: OracleName;
  readonly certainty: Certainty;
  readonly assumes?: readonly string[];
  /** The weakest levels that this alone rules out, and with them all stronger ones. */
  readonly rulesOut: readonly CheckLevel[];
  /** The contract clause broken, where a contract was checked: `postgres:repeatable-read`, `forbids G-single`. */
  readonly contract?: string;
  readonly clause?: string;
  readonly transactions: readonly FindingTransaction[];
  readonly operations: readonly FindingOperation[];
  /** What an operation saw, and what it may have seen. */
  readonly versions?: readonly VersionSeen[];
  /** Each edge starts where the one before ends; the last returns to the first. */
  readonly cycle?: readonly CycleEdge[];
  /** The argument, step by step; `explain` makes text of it. */
  readonly explanation: readonly Step[];
}

export interface FindingTransaction {
  /** Its number in the history. */
  readonly id: TransactionId;
  readonly name: string;
  readonly session: string;
  readonly status: 'committed' | 'aborted' | 'unknown';
}

export interface FindingOperation {
  /** Its number in the history. */
  readonly index: OperationId;
  readonly transaction: TransactionId;
  readonly text: string;
}

export interface VersionSeen {
  readonly operation: OperationId;
  /** The key, or `table/row`. */
  readonly object: string;
  readonly seen: Observation;
  readonly allowed: readonly Observation[];
}

export type EdgeName = 'ww' | 'wr' | 'rw' | 'predicate-rw' | 'session' | 'real-time';

export interface CycleEdge {
  readonly from: TransactionId;
  readonly to: TransactionId;
  readonly kind: EdgeName;
  /** The key or row the dependency goes through. */
  readonly object?: string;
  readonly fromOperation?: OperationId;
  readonly toOperation?: OperationId;
  /** Completes "from < to, because …". */
  readonly because: Phrase;
}
