/**
 * Builds a `KvHistory` from a stream of transactions. Importers call it once per transaction:
 *
 *     builder.begin('client 3', startNs);
 *     builder.readList('x', [1, 2]);
 *     builder.append('x', 3);
 *     builder.end('committed', endNs);
 *
 * Transactions of one session must come in session order; sessions may interleave as they like. List reads are
 * placed when the transaction ends, because a list seen by an aborted transaction must not decide the order of
 * versions.
 */

import { settleNothing } from './initial-values.js';
import { FloatColumn, IntColumn } from './kv-column.js';
import {
  type Definitions,
  firstNamedValue,
  type KvHistory,
  type KvName,
  type KvStatus,
  kvAborted,
  kvAppend,
  kvCommitted,
  kvInitial,
  kvOther,
  kvRead,
  kvReadList,
  kvUnknown,
  kvUnseen,
  kvWrite,
  type OtherChain,
  writtenNothing,
} from './kv-history.js';

/** What an importer writes to. `value` null: the initial state was read; undefined: the result is not known. */
export interface KvSink {
  begin(session: KvName, startNs?: number, label?: number): void;
  read(key: KvName, value: KvName | null | undefined): void;
  readList(key: KvName, values: readonly KvName[] | null | undefined): void;
  /** `value` null: nothing was left there. */
  write(key: KvName, value: KvName | null): void;
  append(key: KvName, value: KvName): void;
  end(status: KvStatus, endNs?: number): void;
}

/** What is known of the whole history beforehand. */
export interface KvBuilderOptions {
  readonly definitions?: Definitions | undefined;
  /** A value that was written and also means the initial state. */
  readonly initialValue?: KvName | undefined;
}

interface Chain {
  readonly key: number;
  readonly values: number[];
  readonly committed: boolean;
}

export class KvBuilder implements KvSink {
  readonly #options: KvBuilderOptions;
  readonly #sessions = new Interner();
  readonly #keys = new Interner();
  readonly #values = new Interner();
  readonly #txSession = new IntColumn();
  readonly #txStatus = new IntColumn();
  readonly #txStart = new FloatColumn();
  readonly #txEnd = new FloatColumn();
  readonly #txLabel = new FloatColumn();
  readonly #opOffsets = new IntColumn();
  readonly #opKindKey = new IntColumn();
  readonly #opValue = new IntColumn();
  /** Elements of the open transaction's list reads, and for each read its operation and where it begins. */
  readonly #listValues = new IntColumn();
  readonly #lists: number[] = [];
  readonly #mainChains: (number[] | undefined)[] = [];
  readonly #otherChains: Chain[] = [];
  readonly #otherChainsOfKey = new Map<number, number[]>();
  readonly #otherReads: { chain: number; length: number }[] = [];
  /** The id of nothing as a value, where it was written. */
  #nothing: number | undefined;
  #open = false;

  constructor(options: KvBuilderOptions = {}) {
    this.#options = options;
  }

  begin(session: KvName, startNs = Number.NaN, label = Number.NaN): void {
    if (this.#open) throw new Error('begin() was called before the last transaction had its end()');
    this.#open = true;
    this.#opOffsets.push(this.#opValue.length);
    this.#txSession.push(this.#sessions.id(session));
    this.#txStart.push(startNs);
    this.#txLabel.push(label);
  }

  read(key: KvName, value: KvName | null | undefined): void {
    this.#op(kvRead, key, value === null ? kvInitial : value === undefined ? kvUnseen : this.#value(value));
  }

  readList(key: KvName, values: readonly KvName[] | null | undefined): void {
    if (values === undefined) {
      this.#op(kvReadList, key, kvUnseen);
      return;
    }
    this.#lists.push(this.#opValue.length, this.#listValues.length);
    if (values !== null) for (const value of values) this.#listValues.push(this.#value(value));
    this.#op(kvReadList, key, 0);
  }

  /** The same for a list of integers from 0 to below `firstNamedValue`: `values[from]` to `values[to - 1]`. */
  readIntegers(key: KvName, values: Int32Array, from: number, to: number): void {
    this.#lists.push(this.#opValue.length, this.#listValues.length);
    this.#listValues.pushRange(values, from, to);
    this.#op(kvReadList, key, 0);
  }

  write(key: KvName, value: KvName | null): void {
    const id = this.#value(value ?? writtenNothing);
    if (value === null) this.#nothing = id;
    this.#op(kvWrite, key, id);
  }

  append(key: KvName, value: KvName): void {
    this.#op(kvAppend, key, this.#value(value));
  }

  end(status: KvStatus, endNs = Number.NaN): void {
    if (!this.#open) throw new Error('end() was called without begin()');
    this.#open = false;
    this.#txStatus.push(status === 'committed' ? kvCommitted : status === 'aborted' ? kvAborted : kvUnknown);
    this.#txEnd.push(endNs);
    for (let i = 0; i < this.#lists.length; i += 2) {
      const to = this.#lists[i + 3] ?? this.#listValues.length;
      this.#placeList(this.#lists[i]!, this.#lists[i + 1]!, to, status === 'committed');
    }
    this.#lists.length = 0;
    this.#listValues.length = 0;
  }

  /** The history so far. The builder can go on afterwards. */
  build(): KvHistory {
    if (this.#open) throw new Error('build() was called before the last transaction had its end()');
    const opCount = this.#opValue.length;
    const keyCount = this.#keys.names.length;
    const opKind = new Uint8Array(opCount);
    const opKey = new Int32Array(opCount);
    const packed = this.#opKindKey.data;
    for (let op = 0; op < opCount; op++) {
      opKind[op] = packed[op]! & 3;
      opKey[op] = packed[op]! >> 2;
    }
    const opOffsets = new Int32Array(this.#txSession.length + 1);
    opOffsets.set(this.#opOffsets.data.subarray(0, this.#txSession.length));
    opOffsets[this.#txSession.length] = opCount;
    const chainOffsets = new Int32Array(keyCount + 1);
    for (let key = 0; key < keyCount; key++) {
      chainOffsets[key + 1] = chainOffsets[key]! + (this.#mainChains[key]?.length ?? 0);
    }
    const chainValues = new Int32Array(chainOffsets[keyCount]!);
    for (let key = 0; key < keyCount; key++) {
      const chain = this.#mainChains[key];
      if (chain !== undefined) chainValues.set(chain, chainOffsets[key]!);
    }
    const otherChains = this.#otherChains.map(
      (chain): OtherChain => ({
        key: chain.key,
        values: Int32Array.from(chain.values),
        committed: chain.committed,
      }),
    );
    const history: KvHistory = {
      txCount: this.#txSession.length,
      opCount,
      sessionNames: [...this.#sessions.names],
      txSession: this.#txSession.take(),
      txStatus: Uint8Array.from(this.#txStatus.take()),
      ...(this.#txStart.used || this.#txEnd.used
        ? { txStart: this.#txStart.take(), txEnd: this.#txEnd.take() }
        : {}),
      ...(this.#txLabel.used ? { txLabel: this.#txLabel.take() } : {}),
      opOffsets,
      opKind,
      opKey,
      opValue: this.#opValue.take(),
      keyNames: [...this.#keys.names],
      valueNames: [...this.#values.names],
      chainOffsets,
      chainValues,
      otherChains,
      otherReads: [...this.#otherReads],
      ...(this.#options.definitions === undefined ? {} : { definitions: this.#options.definitions }),
    };
    const { initialValue } = this.#options;
    if (initialValue !== undefined) return { ...history, initialValue: this.#value(initialValue) };
    return this.#nothing === undefined ? history : settleNothing(history, this.#nothing);
  }

  #op(kind: number, key: KvName, value: number): void {
    if (!this.#open) throw new Error('an operation was added outside begin() … end()');
    this.#opKindKey.push((this.#keys.id(key) << 2) | kind);
    this.#opValue.push(value);
  }

  #value(value: KvName): number {
    if (typeof value === 'number' && value >= 0 && value < firstNamedValue && Number.isInteger(value)) {
      return Object.is(value, -0) ? 0 : value;
    }
    return firstNamedValue + this.#values.id(value);
  }

  #placeList(op: number, from: number, to: number, committed: boolean): void {
    const key = this.#opKindKey.data[op]! >> 2;
    const length = to - from;
    const main = this.#mainChains[key];
    if (committed && main === undefined) {
      this.#mainChains[key] = this.#listValues.slice(from, to);
      this.#opValue.data[op] = length;
      return;
    }
    if (length === 0 || (main !== undefined && this.#fits(main, from, to, committed))) {
      this.#opValue.data[op] = length;
      return;
    }
    const ofKey = this.#otherChainsOfKey.get(key) ?? [];
    this.#otherChainsOfKey.set(key, ofKey);
    let chain = ofKey.find((id) => {
      const other = this.#otherChains[id]!;
      return other.committed === committed && this.#fits(other.values, from, to, true);
    });
    if (chain === undefined) {
      chain = this.#otherChains.length;
      ofKey.push(chain);
      this.#otherChains.push({ key, values: this.#listValues.slice(from, to), committed });
    }
    this.#opValue.data[op] = kvOther - this.#otherReads.length;
    this.#otherReads.push({ chain, length });
  }

  /** Is the list a prefix of the chain, or, where the chain may grow, the chain a prefix of the list? */
  #fits(chain: number[], from: number, to: number, mayGrow: boolean): boolean {
    const list = this.#listValues.data;
    const length = to - from;
    if (length > chain.length && !mayGrow) return false;
    const common = Math.min(length, chain.length);
    for (let i = common - 1; i >= 0; i--) if (chain[i] !== list[from + i]) return false;
    for (let i = common; i < length; i++) chain.push(list[from + i]!);
    return true;
  }
}

const mostSmall = 1 << 22;

/** Gives names dense numbers in order of first appearance. */
class Interner {
  readonly names: KvName[] = [];
  readonly #ids = new Map<KvName, number>();
  /** Ids of small integers, plus one: the usual keys need no hashing. */
  #small = new Int32Array(1024);

  id(name: KvName): number {
    if (typeof name === 'number' && name >= 0 && name < mostSmall && Number.isInteger(name)) {
      return this.#smallId(name);
    }
    let id = this.#ids.get(name);
    if (id === undefined) {
      id = this.names.length;
      this.names.push(name);
      this.#ids.set(name, id);
    }
    return id;
  }

  #smallId(name: number): number {
    if (name >= this.#small.length) {
      const grown = new Int32Array(Math.min(mostSmall, Math.max(this.#small.length * 2, name + 1)));
      grown.set(this.#small);
      this.#small = grown;
    }
    const known = this.#small[name]!;
    if (known !== 0) return known - 1;
    this.names.push(Object.is(name, -0) ? 0 : name);
    this.#small[name] = this.names.length;
    return this.names.length - 1;
  }
}
