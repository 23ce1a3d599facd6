/**
 * Runs a history before anything else is done with it: transaction after transaction, as the file has them, against an empty store. Where
 * every read finds what is there, that order is a proof: the history is serializable in the order of its sessions, and so at every level
 * that asks for no real time; if its times allow the order too, it is strictly serializable.
 *
 * The file need not have the very order. A transaction that finds something else than it read waits until somebody comes to that key, and
 * its session waits behind it; so does one that appends to a list while others have yet to read it as it is. So logs that clients wrote as they
 * were answered, not as they took effect, run through. The run gives up where too many wait or too much is tried again, which is
 * soon where the file has session after session: little was lost then.
 *
 * It is one pass without tables of writes. It does not matter whether a value was written to a key twice: whoever wrote it, it was there
 * when it was read. Not run are histories with transactions of unknown outcome, with keys that are registers and lists, and those
 * of which something was left out.
 */
import {
  type KvHistory,
  kvAborted,
  kvAppend,
  kvCommitted,
  kvInitial,
  kvRead,
  kvReadList,
  kvUnseen,
  kvWrite,
} from '../../histories/index.js';

export interface SerialRun {
  /** The committed transactions in the order in which they ran. */
  readonly order: Int32Array;
  readonly hasLists: boolean;
  readonly hasTimes: boolean;
  /** It has times, and no transaction stands behind one that began after its end. */
  readonly inRealTime: boolean;
}

/** Transactions that may wait at a time, and how often one may be tried again on average. */
const mostWaiting = 1000;
const mostTries = 4;

/** A serial run that explains every read; undefined if the order of the file does not lead to one. */
export function serialRun(history: KvHistory): SerialRun | undefined {
  const kinds = keyKinds(history);
  if (!isPlain(history) || kinds.includes(3)) return undefined;
  const order = new Run(history).finish();
  if (order === undefined) return undefined;
  return {
    order,
    hasLists: kinds.includes(2),
    hasTimes: history.txStart !== undefined,
    inRealTime: agreesWithTimes(history, order),
  };
}

class Run {
  readonly #history: KvHistory;
  readonly #order: Int32Array;
  #length = 0;
  /** What was written to a key last; nothing yet is the initial state. For lists how much of it is there. */
  readonly #latest: Int32Array;
  readonly #lengths: Int32Array;
  /** How many reads of the first n elements of key k are to come, at `chainOffsets[k] + k + n`. */
  readonly #unread: Int32Array;
  /** What the operations of the transaction that runs replaced, in case it cannot go on. */
  #replaced = new Int32Array(16);
  readonly #waitsForKey = new Map<number, number[]>();
  /** Sessions in which somebody waits, and who comes behind. */
  readonly #behind = new Map<number, number[]>();
  readonly #isAwaited: Uint8Array;
  #waiting = 0;
  #triesLeft: number;

  constructor(history: KvHistory) {
    this.#history = history;
    const keyCount = history.keyNames.length;
    this.#order = new Int32Array(history.txCount);
    this.#latest = new Int32Array(keyCount).fill(kvInitial);
    this.#lengths = new Int32Array(keyCount);
    this.#isAwaited = new Uint8Array(keyCount);
    this.#triesLeft = mostTries * history.txCount + mostWaiting;
    this.#unread = new Int32Array(history.chainValues.length + keyCount);
    this.#countListReads();
  }

  #countListReads(): void {
    const { txCount, txStatus, opOffsets, opKind, opKey, opValue, chainOffsets } = this.#history;
    if (this.#history.chainValues.length === 0) return;
    for (let tx = 0; tx < txCount; tx++) {
      if (txStatus[tx] === kvAborted) continue;
      for (let op = opOffsets[tx]!; op < opOffsets[tx + 1]!; op++) {
        if (opKind[op] === kvReadList && opValue[op]! >= 0)
          this.#unread[chainOffsets[opKey[op]!]! + opKey[op]! + opValue[op]!]!++;
      }
    }
  }

  finish(): Int32Array | undefined {
    const { txCount, txStatus, txSession } = this.#history;
    for (let tx = 0; tx < txCount; tx++) {
      if (txStatus[tx] === kvAborted) continue;
      const queue = this.#behind.size === 0 ? undefined : this.#behind.get(txSession[tx]!);
      if (queue !== undefined) {
        queue.push(tx);
        this.#waiting++;
      } else this.#attempt([tx]);
      if (this.#waiting > mostWaiting || this.#triesLeft < 0) return undefined;
    }
    return this.#waiting === 0 ? this.#order.subarray(0, this.#length) : undefined;
  }

  /** Lets transactions run, whose sessions nobody else waits in, and whoever waited for what they write. */
  #attempt(ready: number[]): void {
    const { txSession } = this.#history;
    for (let tx = ready.pop(); tx !== undefined; tx = ready.pop()) {
      const session = txSession[tx]!;
      const key = this.#run(tx);
      if (key >= 0) {
        this.#isAwaited[key] = 1;
        this.#waitsForKey.set(key, [...(this.#waitsForKey.get(key) ?? []), tx]);
        if (!this.#behind.has(session)) this.#behind.set(session, []);
        this.#waiting++;
        continue;
      }
      this.#order[this.#length++] = tx;
      if (this.#behind.size === 0) continue;
      const next = this.#behind.get(session)?.shift();
      if (next === undefined) this.#behind.delete(session);
      else {
        this.#waiting--;
        ready.push(next);
      }
      this.#wake(tx, ready);
    }
  }

  #wake(tx: number, ready: number[]): void {
    const { opOffsets, opKey, opKind } = this.#history;
    for (let op = opOffsets[tx]!; op < opOffsets[tx + 1]!; op++) {
      const key = opKey[op]!;
      if (opKind[op] === kvRead || this.#isAwaited[key] === 0) continue;
      this.#isAwaited[key] = 0;
      const woken = this.#waitsForKey.get(key)!;
      this.#waitsForKey.delete(key);
      this.#waiting -= woken.length;
      this.#triesLeft -= woken.length;
      ready.push(...woken);
    }
  }

  /** Runs a transaction; the first key that is not as it must be, and then nothing was done; else -1. */
  #run(tx: number): number {
    const { opOffsets, opKey, opKind, opValue } = this.#history;
    const first = opOffsets[tx]!;
    const end = opOffsets[tx + 1]!;
    if (end - first > this.#replaced.length) this.#replaced = new Int32Array(2 * (end - first));
    for (let op = first; op < end; op++) {
      const key = opKey[op]!;
      this.#replaced[op - first] = this.#latest[key]!;
      if (opKind[op] === kvWrite) this.#latest[key] = opValue[op]!;
      else if (this.#fits(op)) {
        if (opKind[op] === kvAppend) this.#lengths[key]!++;
        else if (opKind[op] === kvReadList) this.#unread[this.#slot(key)]!--;
      } else {
        this.#undo(first, op);
        return key;
      }
    }
    return -1;
  }

  /** Does a read see what it saw; may an element be appended now? */
  #fits(op: number): boolean {
    const { opKey, opKind, opValue, initialValue, chainOffsets, chainValues } = this.#history;
    const key = opKey[op]!;
    const value = opValue[op]!;
    if (opKind[op] === kvRead) {
      const latest = this.#latest[key]!;
      return value === latest || (latest === kvInitial && value === initialValue);
    }
    if (opKind[op] === kvReadList) return value === this.#lengths[key];
    // Nobody read further, or the element is in its place and everybody has read what was in front of it.
    const place = chainOffsets[key]! + this.#lengths[key]!;
    if (place > chainOffsets[key + 1]!) return true;
    return (
      (place === chainOffsets[key + 1]! || chainValues[place] === value) && this.#unread[place + key] === 0
    );
  }

  #slot(key: number): number {
    return this.#history.chainOffsets[key]! + key + this.#lengths[key]!;
  }

  #undo(first: number, end: number): void {
    const { opKey, opKind } = this.#history;
    for (let op = end - 1; op >= first; op--) {
      if (opKind[op] === kvWrite) this.#latest[opKey[op]!] = this.#replaced[op - first]!;
      else if (opKind[op] === kvAppend) this.#lengths[opKey[op]!]!--;
      else if (opKind[op] === kvReadList) this.#unread[this.#slot(opKey[op]!)]!++;
    }
  }
}

/** Where a value may be the initial one: the transaction that each read of it saw, if that wrote it. */
export function writersOfInitialValue(history: KvHistory, order: Int32Array): Record<string, number> {
  const { initialValue, opOffsets, opKind, opKey, opValue } = history;
  const reads: Record<string, number> = {};
  if (initialValue === undefined) return reads;
  const writers = new Int32Array(history.keyNames.length).fill(-1);
  for (const tx of order) {
    for (let op = opOffsets[tx]!; op < opOffsets[tx + 1]!; op++) {
      const writer = writers[opKey[op]!]!;
      if (opKind[op]! >= kvWrite) writers[opKey[op]!] = tx;
      else if (opValue[op] === initialValue && writer >= 0 && writer !== tx) reads[op] = writer;
    }
  }
  return reads;
}

function isPlain({ txCount, txStatus, omitted = [] }: KvHistory): boolean {
  if (txCount === 0 || omitted.length > 0) return false;
  return txStatus.every((status) => status === kvCommitted || status === kvAborted);
}

/** Has the history times, none of which says that a transaction of the order ended before one in front of it began? */
function agreesWithTimes({ txStart, txEnd }: KvHistory, order: Int32Array): boolean {
  if (txStart === undefined || txEnd === undefined) return false;
  let latestStart = Number.NEGATIVE_INFINITY;
  for (const tx of order) {
    // Times of a transaction that ends before it starts cannot be used.
    if (txEnd[tx]! < txStart[tx]!) continue;
    if (txEnd[tx]! < latestStart) return false;
    if (txStart[tx]! > latestStart) latestStart = txStart[tx]!;
  }
  return true;
}

/** Per key 1 for a register, 2 for a list, 3 for both. What aborted did is looked at, too. */
function keyKinds({ keyNames, opCount, opKind, opKey, opValue }: KvHistory): Uint8Array {
  const kinds = new Uint8Array(keyNames.length);
  for (let op = 0; op < opCount; op++) {
    if (opValue[op] === kvUnseen) continue;
    const kind = opKind[op]!;
    const key = opKey[op]!;
    kinds[key] = kinds[key]! | (kind === kvRead || kind === kvWrite ? 1 : 2);
  }
  return kinds;
}
