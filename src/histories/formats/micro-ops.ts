/**
 * The operations of one transaction on their way from a parser to the builder. One object is used again for every
 * transaction, so that a million of them cost no garbage but their lists.
 *
 * A read without a value (`nil`) is passed on as a read of the initial state, or as unseen where the
 * transaction is not known to have committed; `settleReads` later turns those of list keys into list reads.
 */
import { counted } from '../../words.js';
import type { KvBuilder } from '../kv-builder.js';
import {
  type KvHistory,
  type KvName,
  kvAborted,
  kvAppend,
  kvCommitted,
  kvInitial,
  kvRead,
  kvReadList,
  kvUnseen,
  kvWrite,
  printName,
} from '../kv-history.js';

type MicroValue = KvName | readonly KvName[] | null;

export class MicroOps {
  length = 0;
  readonly #kinds: number[] = [];
  readonly #keys: KvName[] = [];
  readonly #values: MicroValue[] = [];

  clear(): void {
    this.length = 0;
  }

  append(key: KvName, value: KvName): void {
    this.#push(kvAppend, key, value);
  }

  write(key: KvName, value: KvName): void {
    this.#push(kvWrite, key, value);
  }

  /** `value` null: nothing was there, or nothing is known. */
  read(key: KvName, value: MicroValue): void {
    this.#push(kvRead, key, value);
  }

  /** What was asked for, without what reads returned: the same of an invocation and its completion. */
  shape(): string {
    const parts: KvName[] = [];
    for (let i = 0; i < this.length; i++) {
      const isRead = this.#kinds[i] === kvRead;
      parts.push(this.#kinds[i]!, this.#keys[i]!, isRead ? '' : (this.#values[i] as KvName));
    }
    return JSON.stringify(parts);
  }

  copy(): MicroOps {
    const copy = new MicroOps();
    for (let i = 0; i < this.length; i++) copy.#push(this.#kinds[i]!, this.#keys[i]!, this.#values[i]!);
    return copy;
  }

  sendTo(builder: KvBuilder, committed: boolean): void {
    for (let i = 0; i < this.length; i++) {
      const key = this.#keys[i]!;
      const value = this.#values[i]!;
      const kind = this.#kinds[i]!;
      if (kind === kvAppend) builder.append(key, value as KvName);
      else if (kind === kvWrite) builder.write(key, value as KvName);
      else if (typeof value === 'object' && value !== null) builder.readList(key, value);
      else builder.read(key, value ?? (committed ? null : undefined));
    }
  }

  #push(kind: number, key: KvName, value: MicroValue): void {
    this.#kinds[this.length] = kind;
    this.#keys[this.length] = key;
    this.#values[this.length] = value;
    this.length++;
  }
}

/**
 * Gives reads of nothing their kind: where a key holds a list, `nil` is the empty list. Keys that are only ever
 * read as nothing follow the rest of the file.
 */
export function settleReads(history: KvHistory): KvHistory {
  const { opCount, opKind, opKey, opValue } = history;
  const lists = new Uint8Array(history.keyNames.length);
  let listSeen = false;
  const registers = new Uint8Array(history.keyNames.length);
  for (let op = 0; op < opCount; op++) {
    const kind = opKind[op]!;
    if (kind === kvAppend || kind === kvReadList) {
      lists[opKey[op]!] = 1;
      listSeen = true;
    } else if (kind === kvWrite || opValue[op]! >= 0) registers[opKey[op]!] = 1;
  }
  if (!listSeen) return history;
  for (let op = 0; op < opCount; op++) {
    if (opKind[op] !== kvRead || opValue[op]! >= 0) continue;
    const key = opKey[op]!;
    if (lists[key] === 0 && registers[key] === 1) continue;
    opKind[op] = kvReadList;
    if (opValue[op] === kvInitial) opValue[op] = 0;
  }
  return history;
}

/**
 * For formats whose marker of the initial state is also a value (0). Reading 0 means
 * 1. the transaction's own write, where its last write of the key before the read was 0;
 * 2. a write of 0 to the key by another transaction that committed: an explicit write is the writer;
 * 3. the initial state where no transaction that may have committed wrote 0 to the key, the reader itself aside.
 *
 * What is left, a write of 0 whose outcome nobody knows, may or may not be what was read. Such a read is unseen, and
 * the history says that it was left out.
 */
export function settleMarkers(history: KvHistory): KvHistory {
  const { opCount, opKind, opKey, opValue } = history;
  const zeros = new ZeroWriters(history.keyNames.length);
  for (let tx = 0; tx < history.txCount; tx++) {
    for (let op = history.opOffsets[tx]!; op < history.opOffsets[tx + 1]!; op++) {
      if (opKind[op] === kvWrite && opValue[op] === 0) zeros.add(opKey[op]!, tx, history.txStatus[tx]!);
    }
  }
  if (!zeros.any || opCount === 0) return history;
  const ownLast = new Int32Array(history.keyNames.length);
  const ownTx = new Int32Array(history.keyNames.length).fill(-1);
  let open = 0;
  let firstOpen = -1;
  for (let tx = 0; tx < history.txCount; tx++) {
    for (let op = history.opOffsets[tx]!; op < history.opOffsets[tx + 1]!; op++) {
      const key = opKey[op]!;
      if (opKind[op] === kvWrite) {
        ownTx[key] = tx;
        ownLast[key] = opValue[op]!;
      } else if (opKind[op] === kvRead && opValue[op] === kvInitial) {
        const meaning = ownTx[key] === tx && ownLast[key] === 0 ? 0 : zeros.meaningFor(key, tx);
        opValue[op] = meaning;
        if (meaning !== kvUnseen || history.txStatus[tx] !== kvCommitted) continue;
        if (firstOpen < 0) firstOpen = op;
        open++;
      }
    }
  }
  if (open === 0) return history;
  const key = printName(history.keyNames[opKey[firstOpen]!]!);
  const reason =
    `${counted(open, 'read')} of 0 left out, of ${key} first: a transaction whose outcome is not known wrote 0 ` +
    'there, so 0 may be its write or the initial state';
  return { ...history, omitted: [...(history.omitted ?? []), reason] };
}

/** Per key, who wrote 0 to it. */
class ZeroWriters {
  any = false;
  /** The first committed writer and the last, -1 if none: different where there are several. */
  readonly #first: Int32Array;
  readonly #last: Int32Array;
  /** A writer of unknown outcome, -1 if none, -2 if several. */
  readonly #unknown: Int32Array;

  constructor(keyCount: number) {
    this.#first = new Int32Array(keyCount).fill(-1);
    this.#last = new Int32Array(keyCount).fill(-1);
    this.#unknown = new Int32Array(keyCount).fill(-1);
  }

  add(key: number, tx: number, status: number): void {
    if (status === kvAborted) return;
    this.any = true;
    if (status === kvCommitted) {
      if (this.#first[key]! < 0) this.#first[key] = tx;
      this.#last[key] = tx;
    } else this.#unknown[key] = this.#unknown[key] === -1 || this.#unknown[key] === tx ? tx : -2;
  }

  /** What a read of 0 by this transaction saw: the value 0, the initial state, or nobody can say. */
  meaningFor(key: number, tx: number): number {
    const others = (this.#first[key]! >= 0 && this.#first[key] !== tx) || this.#last[key]! > tx;
    if (others) return 0;
    return this.#unknown[key] === -1 || this.#unknown[key] === tx ? kvInitial : kvUnseen;
  }
}
