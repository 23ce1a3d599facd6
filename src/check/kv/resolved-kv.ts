/** A key-value history with every read traced to its write: what all checks of such histories start from. */
import type { KvHistory } from '../../histories/index.js';
import type { ReadAnomaly } from '../finding.js';
import type { RepeatedElement } from './repeated-elements.js';

/** `readsFrom` of operations that are no external read with a known writer. */
export const noSource = -2;
/** `readsFrom` of a read that saw the initial state. */
export const initialState = -1;

export interface ReadProblem {
  readonly kind: ReadAnomaly;
  /** The read that shows it. */
  readonly op: number;
  /** The write or read it is at odds with, or -1. */
  readonly other: number;
  /** The value in question, where it is an element of a list. */
  readonly value?: number;
  /**
   * For `internal`: the transaction missed its own write, or read the same key twice with different results. For
   * `incompatible-order`: the list contradicts not another list but the order in which one transaction appended; or it does
   * contradict another list, even if what may not have been committed is left out.
   */
  readonly how?: 'own-write' | 'repeat' | 'program-order' | 'committed';
}

/** A read of a register whose value several transactions wrote: the last writes of the key that it may have seen. */
export interface OpenRead {
  readonly op: number;
  /**
   * Writes, or `initialState`. At least one; if only one, its transaction is of unknown outcome, and nothing else says
   * that it committed.
   */
  readonly candidates: readonly number[];
}

export interface ResolvedKv {
  readonly history: KvHistory;
  /** 1 for transactions that count as committed. */
  readonly counts: Uint8Array;
  readonly opTx: Int32Array;
  /** 1 for the last write of a key in its transaction. */
  readonly finalWrite: Uint8Array;
  /** For an external read the operation that wrote what it saw, or `initialState`, or `noSource`. */
  readonly readsFrom: Int32Array;
  /** Register reads of a value that no transaction that counts wrote: garbage, or an aborted write. */
  readonly strayReads: readonly number[];
  /** For list reads on the main chain: how many elements it saw up to the last that is not the transaction's own; else -1. */
  readonly seenLength: Int32Array;
  /** The writer of each element of the main chains, or `nobody`/`ambiguous`. */
  readonly chainWriters: Int32Array;
  /** How much of each main chain every committed read agrees with. */
  readonly agreedLength: Int32Array;
  /** For appends whose element is in a main chain, where it is there, from 1; else 0. */
  readonly placed: Int32Array;
  readonly hasLists: boolean;
  /** Reads with more than one possible source; they have `noSource` until one is chosen. */
  readonly openReads: readonly OpenRead[];
  /** Elements in lists that were appended more than once: what is known of lists holds only when they are told apart. */
  readonly repeatedElements: readonly RepeatedElement[];
  readonly problems: readonly ReadProblem[];
  /** Problems found, also those beyond the first `problemLimit` of a kind. */
  readonly problemCounts: ReadonlyMap<ReadAnomaly, number>;
  readonly unknownReasons: readonly string[];
}
