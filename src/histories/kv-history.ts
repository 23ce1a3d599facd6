/**
 * Key-value histories in columns: what a Jepsen, Elle, Plume, dbcop, Cobra or AWDIT file holds, kept so that a
 * million transactions of four operations take some 60 bytes per operation and not some 600.
 *
 * - Operations of transaction `t` are `opOffsets[t] … opOffsets[t + 1] - 1`, in program order.
 * - Keys and values are small integers ("ids"). A value that is an integer below 2^30 is its own id, so that the
 *   usual histories need no table of values at all; every other value has an id from 2^30 upwards.
 * - A list read does not hold its list. Per key there are *chains*: the longest list seen, and, only if reads
 *   disagree, further ones. A read is (chain, length): the first `length` elements of that chain. Reads of
 *   transactions that are not known to be committed have chains of their own, because they prove nothing about
 *   the order of versions.
 */
import type { TransactionId } from '../ids.js';

/** A key or value as its file spells it. `1` and `'1'` are different. */
export type KvName = string | number;

/** The name of what a write of nothing (`nil`, `NULL`) left. */
export const writtenNothing = Number.NaN;

export type KvStatus = 'committed' | 'aborted' | 'unknown';

/** Kinds of operations, as `opKind` stores them. */
export const kvRead = 0;
export const kvReadList = 1;
export const kvWrite = 2;
export const kvAppend = 3;

/** Statuses, as `txStatus` stores them. */
export const kvCommitted = 0;
export const kvAborted = 1;
export const kvUnknown = 2;

/** What `opValue` holds for a read of the initial state, and for a read whose result was not recorded. */
export const kvInitial = -1;
export const kvUnseen = -2;
/** Values from here downwards mean `otherReads[kvOther - value]`: a list read that is not a prefix of its key's main chain. */
export const kvOther = -3;

/** Value ids from here upwards are positions in `names`. */
export const firstNamedValue = 2 ** 30;

/**
 * Whose definitions level names have by default. `adya`: Adya's and Elle's, where sessions count only in levels
 * that say so. `axiomatic`: those of Biswas & Enea, which dbcop, Plume, PolySI and AWDIT share.
 */
export type Definitions = 'adya' | 'axiomatic';

export interface KvHistory {
  readonly txCount: number;
  readonly opCount: number;
  readonly sessionNames: readonly KvName[];
  readonly txSession: Int32Array;
  readonly txStatus: Uint8Array;
  /** Nanoseconds; NaN where not recorded. Absent when no transaction has times. */
  readonly txStart?: Float64Array;
  readonly txEnd?: Float64Array;
  /** The transaction's number in its file (Jepsen's `:index`, Plume's id), where it has one; else NaN. */
  readonly txLabel?: Float64Array;
  readonly opOffsets: Int32Array;
  readonly opKind: Uint8Array;
  readonly opKey: Int32Array;
  readonly opValue: Int32Array;
  readonly keyNames: readonly KvName[];
  readonly valueNames: readonly KvName[];
  /** Main chain of key `k`: `chainValues[chainOffsets[k] … chainOffsets[k + 1] - 1]`. */
  readonly chainOffsets: Int32Array;
  readonly chainValues: Int32Array;
  /** Lists that are no prefix of their key's main chain. */
  readonly otherChains: readonly OtherChain[];
  readonly otherReads: readonly { readonly chain: number; readonly length: number }[];
  readonly definitions?: Definitions;
  /** A value that was written and also means the initial state: a read of it may have seen either (`initial-values.ts`). */
  readonly initialValue?: number;
  /**
   * What the file holds and this history does not: reads whose meaning is open, operations that are no transactions,
   * an end that is missing. While there is any, no level can be said to hold.
   */
  readonly omitted?: readonly string[];
}

export interface OtherChain {
  readonly key: number;
  readonly values: Int32Array;
  /** Read by a committed transaction; otherwise it says nothing about the order of versions. */
  readonly committed: boolean;
}

export function statusOf(history: KvHistory, tx: TransactionId): KvStatus {
  const status = history.txStatus[tx];
  return status === kvCommitted ? 'committed' : status === kvAborted ? 'aborted' : 'unknown';
}

/** The value behind an id. */
export function valueName(history: KvHistory, id: number): KvName {
  return id < firstNamedValue ? id : history.valueNames[id - firstNamedValue]!;
}

/** The elements a list read returned, as value ids. */
export function listOf(history: KvHistory, op: number): Int32Array {
  const value = history.opValue[op]!;
  if (value <= kvOther) {
    const read = history.otherReads[kvOther - value]!;
    return history.otherChains[read.chain]!.values.subarray(0, read.length);
  }
  const from = history.chainOffsets[history.opKey[op]!]!;
  return history.chainValues.subarray(from, from + Math.max(0, value));
}

/** How a transaction is called in reports: its number in its file if it has one, else its position from 1. */
export function txName(history: KvHistory, tx: TransactionId): string {
  const label = history.txLabel?.[tx];
  return label === undefined || Number.isNaN(label) ? `T${tx + 1}` : `T${label}`;
}

/** One operation as text: `w(x, 1)`, `r(x, 1)`, `r(x, initial)`, `append(x, 3)`, `r(x, [1 2 3])`. */
export function printKvOp(history: KvHistory, op: number): string {
  const key = printName(history.keyNames[history.opKey[op]!]!);
  const value = history.opValue[op]!;
  const kind = history.opKind[op]!;
  const name = (id: number): string => printName(valueName(history, id));
  if (kind === kvWrite) return `w(${key}, ${name(value)})`;
  if (kind === kvAppend) return `append(${key}, ${name(value)})`;
  if (value === kvUnseen) return `r(${key}, ?)`;
  if (kind === kvRead) return `r(${key}, ${value === kvInitial ? 'initial' : name(value)})`;
  return `r(${key}, [${Array.from(listOf(history, op), name).join(' ')}])`;
}

const plainName = /^[\p{L}\p{N}_.:/-]+$/u;

/** A key or value as reports print it: quoted unless it is a number or a plain word. */
export function printName(name: KvName): string {
  if (Number.isNaN(name)) return 'nothing';
  return typeof name === 'number' || plainName.test(name) ? String(name) : JSON.stringify(name);
}
