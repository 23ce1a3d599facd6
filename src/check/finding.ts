/**
 * A finding: one violation, as data. Every oracle speaks in findings; prose, pictures and reports are made from
 * them and add nothing. A finding is JSON-safe and stands alone: it carries the text of every operation it names.
 */
import type { CheckLevel } from './levels.js';

/** Anomalies that are cycles of dependencies, by their published names. */
export type CycleAnomaly =
  | 'G0'
  | 'G1c'
  | 'lost-update'
  | 'read-skew'
  | 'read-write-skew'
  | 'write-skew'
  | 'G-single'
  | 'G-nonadjacent'
  | 'G2-item'
  | 'G2';

/** Anomalies that single reads or versions show. */
export type ReadAnomaly =
  | 'G1a'
  | 'G1b'
  | 'internal'
  | 'future-read'
  | 'garbage-read'
  | 'incompatible-order'
  | 'duplicate-write';

/** A cycle that needs session order or real-time order has a name of its own. */
export type GraphAnomaly =
  | ReadAnomaly
  | CycleAnomaly
  | `${CycleAnomaly}-session`
  | `${CycleAnomaly}-realtime`
  | 'no-order'; // every order of the versions was refuted; no single cycle says it all

/** Who found it; others can be registered (`registry.ts`). `server`: no oracle of isolation; the server itself failed. */
export type OracleName = 'dependency-graph' | 'mechanism' | 'key-value' | 'server' | (string & {});

/**
 * `proved`: follows from the history alone. `proved-by-search`: every alternative was tried and refuted.
 * `probable`: rests on something the history does not show; `assumes` says on what.
 */
export type Certainty = 'proved' | 'proved-by-search' | 'probable';

export interface Finding {
  /** An anomaly; other oracles add kinds of their own. */
  readonly kind: GraphAnomaly | (string & {});
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
  /** The argument, step by step. */
  readonly explanation: string;
}

export interface FindingTransaction {
  /** Its number in the history. */
  readonly id: number;
  readonly name: string;
  readonly session: string;
  readonly status: 'committed' | 'aborted' | 'unknown';
}

export interface FindingOperation {
  /** Its number in the history. */
  readonly index: number;
  readonly transaction: number;
  readonly text: string;
}

export interface VersionSeen {
  readonly operation: number;
  /** The key, or `table/row`. */
  readonly object: string;
  readonly seen: string;
  readonly allowed: readonly string[];
}

export type EdgeName = 'ww' | 'wr' | 'rw' | 'predicate-rw' | 'session' | 'real-time';

export interface CycleEdge {
  readonly from: number;
  readonly to: number;
  readonly kind: EdgeName;
  /** The key or row the dependency goes through. */
  readonly object?: string;
  readonly fromOperation?: number;
  readonly toOperation?: number;
  /** A clause that completes "from < to, because …". */
  readonly because: string;
}
