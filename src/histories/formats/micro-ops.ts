/**
 * The operations of one transaction on their way from a parser to the builder. One object is used again for every
 * transaction, so that a million of them cost no garbage; lists of small integers, which nearly all are, stand in one
 * column, each from its place to that of the next.
 *
 * A read without a value (`nil`) is passed on as a read of the initial state, or as unseen where the
 * transaction is not known to have committed; `settleReads` later turns those of list keys into list reads.
 */
import type { KvBuilder } from '../kv-builder.js';
import { IntColumn } from '../kv-column.js';
import {
  type KvHistory,
  type KvName,
  kvAppend,
  kvInitial,
  kvRead,
  kvReadList,
  kvWrite,
} from '../kv-history.js';

type MicroValue = KvName | readonly KvName[] | null;

export class MicroOps {
  length = 0;
  readonly #kinds: number[] = [];
  readonly #keys: KvName[] = [];
  readonly #values: MicroValue[] = [];
  /** Where the elements of a list of integers end; they begin at its value. */
  readonly #listEnds: number[] = [];
  /** Elements of lists of integers from 0 to below `firstNamedValue`; a parser pushes them, then calls `readIntegers`. */
  readonly integers = new IntColumn();

  clear(): void {
    this.length = 0;
    this.integers.length = 0;
  }

  dropLast(): void {
    this.length--;
  }

  append(key: KvName, value: KvName): void {
    this.#push(kvAppend, key, value);
  }

  /** `value` null: nothing was left there. */
  write(key: KvName, value: KvName | null): void {
    this.#push(kvWrite, key, value);
  }

  /** `value` null: nothing was there, or nothing is known. */
  read(key: KvName, value: MicroValue): void {
    this.#push(kvRead, key, value);
  }

  /** The list that was pushed to `integers` from there on. */
  readIntegers(key: KvName, from: number): void {
    this.#listEnds[this.length] = this.integers.length;
    this.#push(kvReadList, key, from);
  }

  /** What was asked for, without what reads returned: the same of an invocation and its completion. */
  shape(): string {
    const parts: KvName[] = [];
    for (let i = 0; i < this.length; i++) {
      const isRead = this.#kinds[i] === kvRead || this.#kinds[i] === kvReadList;
      parts.push(
        isRead ? kvRead : this.#kinds[i]!,
        this.#keys[i]!,
        isRead ? '' : (this.#values[i] as KvName),
      );
    }
    return JSON.stringify(parts);
  }

  copy(): MicroOps {
    const copy = new MicroOps();
    copy.integers.pushRange(this.integers.data, 0, this.integers.length);
    for (let i = 0; i < this.length; i++) {
      copy.#listEnds[i] = this.#listEnds[i]!;
      copy.#push(this.#kinds[i]!, this.#keys[i]!, this.#values[i]!);
    }
    return copy;
  }

  sendTo(builder: KvBuilder, committed: boolean): void {
    for (let i = 0; i < this.length; i++) {
      const key = this.#keys[i]!;
      const value = this.#values[i]!;
      const kind = this.#kinds[i]!;
      if (kind === kvAppend) builder.append(key, value as KvName);
      else if (kind === kvWrite) builder.write(key, value as KvName | null);
      else if (kind === kvReadList)
        builder.readIntegers(key, this.integers.data, value as number, this.#listEnds[i]!);
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
