/**
 * Values that also mean "nothing was there yet": 0 in formats that mark the initial state by it, and nothing (`nil`, `NULL`)
 * where somebody wrote nothing. A read of such a value is
 *
 * 1. of the transaction's own write, where it wrote the key before;
 * 2. of the initial state, where no other transaction that may have committed wrote the value to the key;
 * 3. else of that write or of the initial state: the history says so (`initialValue`), and whoever checks it tries both.
 *
 * In two cases 3 is the write alone: where a format says that what is written is not initial (`explicit`), and where a
 * history writes its initial state itself. It does where the first transactions of a session write 0 and nothing else, and either
 * to every key, or to several keys while nobody else writes 0 to any.
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

/** Are the first transactions of some session writes of 0 and nothing else, to every key, or to several and the only ones? */
function writesZeros(history: KvHistory): boolean {
  const { txCount, txSession, txStatus, opOffsets, opKind, opKey, opValue, keyNames } = history;
  /** Per session the keys that it began with. */
  const begun = new Map<number, Set<number>>();
  const over = new Set<number>();
  let zerosElsewhere = 0;
  for (let tx = 0; tx < txCount; tx++) {
    if (txStatus[tx] === kvAborted) continue;
    const session = txSession[tx]!;
    const zeros: number[] = [];
    for (let op = opOffsets[tx]!; op < opOffsets[tx + 1]!; op++) {
      if (opKind[op] === kvWrite && opValue[op] === 0) zeros.push(opKey[op]!);
    }
    const others = opOffsets[tx + 1]! - opOffsets[tx]! - zeros.length;
    if (others > 0 || txStatus[tx] !== kvCommitted) over.add(session);
    if (over.has(session)) zerosElsewhere += zeros.length;
    else {
      const keys = begun.get(session) ?? new Set();
      for (const key of zeros) keys.add(key);
      begun.set(session, keys);
    }
  }
  const sizes = [...begun.values()].map(({ size }) => size);
  return sizes.includes(keyNames.length) || (zerosElsewhere === 0 && sizes.length === 1 && sizes[0]! > 1);
}
