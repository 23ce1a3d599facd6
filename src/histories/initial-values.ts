/**
 * Values that also mean "nothing was there yet": 0 in formats that mark the initial state by it, and nothing (`nil`, `NULL`)
 * where somebody wrote nothing. A read of such a value is
 *
 * 1. of the transaction's own write, where it wrote the key before;
 * 2. of the initial state, where no other transaction that may have committed wrote the value to the key;
 * 3. else of that write or of the initial state: the history says so (`initialValue`), and whoever checks it tries both.
 *
 * In two cases 3 is the write alone: where a format says that what is written is not initial (`explicit`), and where a
 * history begins by writing 0 to every key, so that it says itself what its initial state is.
 */
import { type KvHistory, kvAborted, kvCommitted, kvInitial, kvRead, kvWrite } from './kv-history.js';

/** Reads of 0 have the value 0 so far; reads of nothing at all are of the initial state. */
export function settleZeros(history: KvHistory, meaning: 'explicit' | 'either'): KvHistory {
  const open = settle(history, 0, 0);
  return !open || meaning === 'explicit' || writesZeros(history) ? history : { ...history, initialValue: 0 };
}

/** `nothing` is the id of what was written where nothing was; reads of nothing are taken for the initial state so far. */
export function settleNothing(history: KvHistory, nothing: number): KvHistory {
  return settle(history, nothing, kvInitial) ? { ...history, initialValue: nothing } : history;
}

/** Gives reads that have the value `read` the value `written` or `kvInitial`; true if some of them may be either. */
function settle(history: KvHistory, written: number, read: number): boolean {
  const { txCount, txStatus, opOffsets, opKind, opKey, opValue } = history;
  const writers = new Writers(history.keyNames.length);
  for (let tx = 0; tx < txCount; tx++) {
    if (txStatus[tx] === kvAborted) continue;
    for (let op = opOffsets[tx]!; op < opOffsets[tx + 1]!; op++) {
      if (opKind[op] === kvWrite && opValue[op] === written) writers.add(opKey[op]!, tx);
    }
  }
  const own = new Int32Array(history.keyNames.length).fill(-1);
  let open = false;
  for (let tx = 0; tx < txCount; tx++) {
    for (let op = opOffsets[tx]!; op < opOffsets[tx + 1]!; op++) {
      const key = opKey[op]!;
      if (opKind[op] === kvWrite) own[key] = tx;
      else if (opKind[op] === kvRead && opValue[op] === read) {
        const other = own[key] !== tx && writers.hasOther(key, tx);
        if (other) open = true;
        opValue[op] = other || own[key] === tx ? written : kvInitial;
      }
    }
  }
  return open;
}

/** Per key, who wrote the value to it: the first and the last, which differ where there are several. */
class Writers {
  readonly #first: Int32Array;
  readonly #last: Int32Array;

  constructor(keyCount: number) {
    this.#first = new Int32Array(keyCount).fill(-1);
    this.#last = new Int32Array(keyCount).fill(-1);
  }

  add(key: number, tx: number): void {
    if (this.#first[key]! < 0) this.#first[key] = tx;
    this.#last[key] = tx;
  }

  /** Did another transaction than this one write it? */
  hasOther(key: number, tx: number): boolean {
    return (this.#first[key]! >= 0 && this.#first[key] !== tx) || this.#last[key]! > tx;
  }
}

/** Are the first transactions of some session writes of 0 and nothing else, and to every key? */
function writesZeros({ txCount, txSession, txStatus, opOffsets, keyNames, ...ops }: KvHistory): boolean {
  const begun = new Map<number, Set<number>>();
  const over = new Set<number>();
  for (let tx = 0; tx < txCount; tx++) {
    const session = txSession[tx]!;
    if (over.has(session)) continue;
    const keys = begun.get(session) ?? new Set();
    begun.set(session, keys);
    let initial = txStatus[tx] === kvCommitted;
    for (let op = opOffsets[tx]!; op < opOffsets[tx + 1]! && initial; op++) {
      initial = ops.opKind[op] === kvWrite && ops.opValue[op] === 0;
      if (initial) keys.add(ops.opKey[op]!);
    }
    if (!initial) over.add(session);
    else if (keys.size === keyNames.length) return true;
  }
  return false;
}
