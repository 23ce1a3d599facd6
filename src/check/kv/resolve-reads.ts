/**
 * First half of checking a key-value history: which write each read saw, which transactions count, and what single
 * reads already prove.
 *
 * 1. Every write is indexed by (key, value); `finalWrite` marks a transaction's last write of each key.
 * 2. A transaction of unknown outcome counts as committed if a transaction that counts saw one of its writes.
 *    Leaving the others out changes no verdict: nobody depends on them.
 * 3. Every read of a transaction that counts is compared with the transaction's own writes and earlier reads
 *    (internal consistency), then traced to its write: nobody's (garbage read), an aborted transaction's (G1a),
 *    one that was overwritten before commit (G1b), or its own later one (future read).
 *
 * Reads of aborted transactions prove nothing: no definition promises anything to them.
 */
import {
  type KvHistory,
  kvAborted,
  kvAppend,
  kvCommitted,
  kvInitial,
  kvOther,
  kvRead,
  kvReadList,
  kvUnseen,
  kvWrite,
  listOf,
  printName,
} from '../../histories/index.js';
import { counted } from '../../words.js';
import type { ReadAnomaly } from '../finding.js';
import { countTransactions } from './count-transactions.js';
import { repeatedElements } from './repeated-elements.js';
import { initialState, noSource, type OpenRead, type ReadProblem, type ResolvedKv } from './resolved-kv.js';
import { ambiguous, nobody, WriteIndex } from './write-index.js';

const problemLimit = 50;

export function resolveReads(history: KvHistory): ResolvedKv {
  const resolver = new Resolver(history);
  resolver.checkChains();
  resolver.checkProgramOrder();
  resolver.checkReads();
  resolver.checkRepeatedReads();
  return resolver.result();
}

class Resolver {
  readonly #h: KvHistory;
  readonly #opTx: Int32Array;
  readonly #index: WriteIndex;
  readonly #counts: Uint8Array;
  readonly #finalWrite: Uint8Array;
  readonly #readsFrom: Int32Array;
  readonly #placed: Int32Array;
  readonly #seenLength: Int32Array;
  readonly #chainWriters: Int32Array;
  readonly #agreedLength: Int32Array;
  /** Per key the first element of the main chain that nobody wrote, or that an aborted transaction wrote. */
  readonly #firstGarbage: Int32Array;
  readonly #firstAborted: Int32Array;
  readonly #hasLists: boolean;
  readonly #mixedKeys: Uint8Array;
  readonly #strayReads: number[] = [];
  readonly #repeatedReads: number[] = [];
  readonly #openReads: OpenRead[] = [];
  readonly #problems: ReadProblem[] = [];
  readonly #problemCounts = new Map<ReadAnomaly, number>();
  readonly #mainReaders = new Map<number, number>();

  constructor(history: KvHistory) {
    this.#h = history;
    const { txCount, opCount, opOffsets, opKind, opKey } = history;
    this.#opTx = new Int32Array(opCount);
    for (let tx = 0; tx < txCount; tx++) this.#opTx.fill(tx, opOffsets[tx]!, opOffsets[tx + 1]!);
    this.#index = new WriteIndex(history, this.#opTx);
    this.#finalWrite = new Uint8Array(opCount);
    this.#readsFrom = new Int32Array(opCount).fill(noSource);
    this.#placed = new Int32Array(opCount);
    const keyCount = history.keyNames.length;
    const lastTx = new Int32Array(keyCount).fill(-1);
    const kindsOfKey = new Uint8Array(keyCount);
    for (let op = opCount - 1; op >= 0; op--) {
      const key = opKey[op]!;
      const kind = opKind[op]!;
      if (history.opValue[op] !== kvUnseen) {
        kindsOfKey[key] = kindsOfKey[key]! | (kind === kvRead || kind === kvWrite ? 1 : 2);
      }
      if (kind < kvWrite || lastTx[key] === this.#opTx[op]) continue;
      lastTx[key] = this.#opTx[op]!;
      this.#finalWrite[op] = 1;
    }
    this.#mixedKeys = kindsOfKey.map((kinds) => (kinds === 3 ? 1 : 0));
    this.#hasLists = kindsOfKey.some((kinds) => kinds > 1);
    this.#seenLength = this.#hasLists ? new Int32Array(opCount).fill(-1) : new Int32Array(0);
    this.#chainWriters = new Int32Array(history.chainValues.length);
    this.#agreedLength = new Int32Array(keyCount);
    this.#firstGarbage = new Int32Array(keyCount).fill(-1);
    this.#firstAborted = new Int32Array(keyCount).fill(-1);
    for (let key = 0; key < keyCount; key++) {
      const from = history.chainOffsets[key]!;
      const to = history.chainOffsets[key + 1]!;
      this.#agreedLength[key] = to - from;
      for (let i = from; i < to; i++) {
        const writer = this.#index.writer(key, history.chainValues[i]!);
        this.#chainWriters[i] = writer;
        if (writer === nobody) {
          if (this.#firstGarbage[key]! < 0) this.#firstGarbage[key] = i - from;
        } else if (
          writer !== ambiguous &&
          history.txStatus[this.#opTx[writer]!] === kvAborted &&
          this.#firstAborted[key]! < 0
        ) {
          this.#firstAborted[key] = i - from;
        }
      }
    }
    this.#counts = countTransactions(history, this.#opTx, this.#index, this.#chainWriters);
  }

  /** What the chains themselves show: elements twice, and lists no append-only order explains. */
  checkChains(): void {
    const { chainOffsets, chainValues, otherChains, keyNames } = this.#h;
    for (const chain of otherChains) {
      if (!chain.committed) continue;
      const from = chainOffsets[chain.key]!;
      const length = Math.min(chain.values.length, chainOffsets[chain.key + 1]! - from);
      let common = 0;
      while (common < length && chain.values[common] === chainValues[from + common]) common++;
      if (common < this.#agreedLength[chain.key]!) this.#agreedLength[chain.key] = common;
    }
    for (let key = 0; key < keyNames.length; key++) {
      const from = chainOffsets[key]!;
      const to = chainOffsets[key + 1]!;
      // Distinct writers mean distinct elements, which is all but always the case and costs no table.
      let suspicious = false;
      for (let i = from; i < to; i++) {
        const writer = this.#chainWriters[i]!;
        if (writer < 0 || this.#placed[writer] !== 0) suspicious = true;
        else this.#placed[writer] = i - from + 1;
      }
      if (!suspicious) continue;
      const values = new Set<number>();
      for (let i = from; i < to; i++) {
        const value = chainValues[i]!;
        if (values.has(value)) {
          if (this.#chainWriters[i] !== ambiguous) this.#duplicate(key, i - from, value);
          this.#agreedLength[key] = Math.min(this.#agreedLength[key]!, i - from);
          break;
        }
        values.add(value);
      }
    }
  }

  /** A transaction's appends to one key must be in its lists in the order it made them, none left out in between. */
  checkProgramOrder(): void {
    const { opCount, opKey, opKind, opOffsets } = this.#h;
    for (let op = 0; op < opCount; op++) {
      if (opKind[op] !== kvAppend || this.#finalWrite[op] === 1) continue;
      const tx = this.#opTx[op]!;
      if (this.#counts[tx] === 0) continue;
      let next = op + 1;
      while (next < opOffsets[tx + 1]! && (opKind[next] !== kvAppend || opKey[next] !== opKey[op])) next++;
      const later = this.#placed[next]!;
      if (later === 0 || (this.#placed[op] !== 0 && this.#placed[op]! < later)) continue;
      const read = this.#mainReader(opKey[op]!);
      if (read >= 0) this.#problem({ kind: 'incompatible-order', op: read, other: op, how: 'program-order' });
    }
  }

  checkReads(): void {
    const { txCount, opOffsets, opKind, opKey, opValue, keyNames } = this.#h;
    const stamp = new Int32Array(keyNames.length).fill(-1);
    const ownWrite = new Int32Array(keyNames.length);
    const earlierRead = new Int32Array(keyNames.length);
    /** The longest list that the transaction has read of a key, and where. */
    const longest = new Int32Array(keyNames.length);
    const longestRead = new Int32Array(keyNames.length);
    for (let tx = 0; tx < txCount; tx++) {
      if (this.#counts[tx] === 0) continue;
      for (let op = opOffsets[tx]!; op < opOffsets[tx + 1]!; op++) {
        const key = opKey[op]!;
        if (this.#mixedKeys[key] === 1) continue;
        if (stamp[key] !== tx) {
          stamp[key] = tx;
          ownWrite[key] = -1;
          earlierRead[key] = -1;
          longest[key] = 0;
        }
        const kind = opKind[op]!;
        if (kind >= kvWrite) {
          ownWrite[key] = op;
          const place = this.#placed[op]!;
          if (place !== 0 && place <= longest[key]!)
            this.#problem({ kind: 'future-read', op: longestRead[key]!, other: op });
        } else if (opValue[op] !== kvUnseen) {
          const external =
            kind === kvRead
              ? this.#registerRead(tx, op, ownWrite[key]!, earlierRead[key]!)
              : this.#listRead(tx, op, ownWrite[key]!, earlierRead[key]!);
          if (external) earlierRead[key] = op;
          if (kind === kvReadList && opValue[op]! > longest[key]!) {
            longest[key] = opValue[op]!;
            longestRead[key] = op;
          }
        }
      }
    }
  }

  #registerRead(tx: number, op: number, ownWrite: number, earlierRead: number): boolean {
    const { opKey, opValue } = this.#h;
    const value = opValue[op]!;
    const key = opKey[op]!;
    if (ownWrite >= 0) {
      if (value !== opValue[ownWrite])
        this.#problem({ kind: 'internal', op, other: ownWrite, how: 'own-write' });
      return false;
    }
    if (
      earlierRead >= 0 &&
      opValue[earlierRead] !== value &&
      !this.#maySeeSame(opValue[earlierRead]!, value)
    ) {
      this.#problem({ kind: 'internal', op, other: earlierRead, how: 'repeat' });
    }
    if (value === kvInitial) {
      this.#readsFrom[op] = initialState;
      return true;
    }
    if (this.#index.isRepeated(key, value)) {
      this.#repeatedReads.push(op);
      return true;
    }
    const writer = this.#index.writer(key, value);
    if (writer === nobody) {
      this.#problem({ kind: 'garbage-read', op, other: -1 });
      this.#strayReads.push(op);
    } else if (this.#opTx[writer] === tx) this.#problem({ kind: 'future-read', op, other: writer });
    else if (this.#h.txStatus[this.#opTx[writer]!] === kvAborted) {
      this.#problem({ kind: 'G1a', op, other: writer });
      this.#strayReads.push(op);
    } else {
      this.#readsFrom[op] = writer;
      if (this.#finalWrite[writer] === 0) this.#problem({ kind: 'G1b', op, other: writer });
    }
    return true;
  }

  /** Both may be the initial state. */
  #maySeeSame(a: number, b: number): boolean {
    return Math.max(a, b) === this.#h.initialValue && Math.min(a, b) === kvInitial;
  }

  /** Reads of registers whose value several transactions wrote. */
  checkRepeatedReads(): void {
    if (this.#repeatedReads.length === 0) return;
    const { opCount, opKey, opKind, opValue } = this.#h;
    const id = (op: number): number => opKey[op]! * 2 ** 31 + opValue[op]!;
    const writes = new Map<number, number[]>(this.#repeatedReads.map((op) => [id(op), []]));
    for (let op = 0; op < opCount; op++) if (opKind[op]! >= kvWrite) writes.get(id(op))?.push(op);
    for (const op of this.#repeatedReads) this.#repeatedRead(op, writes.get(id(op))!);
  }

  #repeatedRead(op: number, writes: readonly number[]): void {
    const isAborted = (write: number): boolean => this.#h.txStatus[this.#opTx[write]!] === kvAborted;
    const foreign = writes.filter((write) => this.#opTx[write] !== this.#opTx[op]);
    const alive = foreign.filter((write) => !isAborted(write));
    const candidates = alive.filter((write) => this.#finalWrite[write] === 1);
    if (this.#h.opValue[op] === this.#h.initialValue) candidates.push(initialState);
    const [only] = candidates;
    if (only !== undefined) {
      const decided =
        candidates.length === 1 && (only === initialState || this.#counts[this.#opTx[only]!] === 1);
      if (decided) this.#readsFrom[op] = only;
      else this.#openReads.push({ op, candidates });
    } else if (alive.length > 0) this.#problem({ kind: 'G1b', op, other: alive[0]! });
    else if (foreign.length > 0) {
      this.#problem({ kind: 'G1a', op, other: foreign[0]! });
      this.#strayReads.push(op);
    } else this.#problem({ kind: 'future-read', op, other: writes[0]! });
  }

  #listRead(tx: number, op: number, ownWrite: number, earlierRead: number): boolean {
    const { opKey, opValue, chainOffsets, chainValues, otherReads, otherChains } = this.#h;
    const key = opKey[op]!;
    const stored = opValue[op]!;
    const onMain = stored > kvOther;
    const other = onMain ? undefined : otherChains[otherReads[kvOther - stored]!.chain]!;
    const length = onMain ? stored : otherReads[kvOther - stored]!.length;
    const from = chainOffsets[key]!;
    const valueAt = (i: number): number => (other === undefined ? chainValues[from + i]! : other.values[i]!);
    const writerAt = (i: number): number =>
      other === undefined ? this.#chainWriters[from + i]! : this.#index.writer(key, other.values[i]!);

    let seen = length;
    let own = ownWrite;
    // The transaction's own appends come last, latest first as we walk back.
    while (own >= 0 && seen > 0 && valueAt(seen - 1) === opValue[own]) {
      seen--;
      own = this.#ownAppendBefore(own);
    }
    if (own >= 0 && !this.#contains(valueAt, seen, own)) {
      this.#problem({ kind: 'internal', op, other: own, how: 'own-write' });
    }
    for (; seen > 0; seen--) {
      const writer = writerAt(seen - 1);
      if (writer < 0 || this.#opTx[writer] !== tx) break;
    }
    if (onMain) {
      this.#seenLength[op] = seen;
      this.#elementProblems(op, key, length);
    } else {
      this.#otherElementProblems(op, key, other!.values, length);
    }
    if (earlierRead >= 0 && !this.#sameList(earlierRead, op, seen)) {
      this.#problem({ kind: 'internal', op, other: earlierRead, how: 'repeat' });
    }
    if (seen === 0) {
      this.#readsFrom[op] = initialState;
      return true;
    }
    const writer = writerAt(seen - 1);
    if (writer < 0 || this.#h.txStatus[this.#opTx[writer]!] === kvAborted) return true;
    this.#readsFrom[op] = writer;
    if (this.#finalWrite[writer] === 0) this.#problem({ kind: 'G1b', op, other: writer });
    return true;
  }

  #ownAppendBefore(op: number): number {
    const { opKey, opKind, opOffsets } = this.#h;
    const first = opOffsets[this.#opTx[op]!]!;
    for (let i = op - 1; i >= first; i--) if (opKind[i] === kvAppend && opKey[i] === opKey[op]) return i;
    return -1;
  }

  /** Are this append and the transaction's earlier ones of its key all somewhere in the first `length` elements, in order? */
  #contains(valueAt: (i: number) => number, length: number, append: number): boolean {
    let own = append;
    for (let i = length - 1; i >= 0 && own >= 0; i--) {
      if (valueAt(i) === this.#h.opValue[own]) own = this.#ownAppendBefore(own);
    }
    return own < 0;
  }

  /** Did an earlier read of the same key see the same elements, the transaction's own aside? */
  #sameList(earlier: number, op: number, seen: number): boolean {
    const earlierStored = this.#h.opValue[earlier]!;
    if (earlierStored > kvOther && this.#h.opValue[op]! > kvOther) return this.#seenLength[earlier] === seen;
    const tx = this.#opTx[op]!;
    const key = this.#h.opKey[op]!;
    const foreign = (list: Int32Array): Int32Array =>
      list.filter((value) => {
        const writer = this.#index.writer(key, value);
        return writer < 0 || this.#opTx[writer] !== tx;
      });
    const before = foreign(listOf(this.#h, earlier));
    const now = foreign(listOf(this.#h, op));
    return before.length === now.length && before.every((value, i) => value === now[i]);
  }

  #elementProblems(op: number, key: number, length: number): void {
    const from = this.#h.chainOffsets[key]!;
    const garbage = this.#firstGarbage[key]!;
    if (garbage >= 0 && garbage < length) {
      this.#problem({ kind: 'garbage-read', op, other: -1, value: this.#h.chainValues[from + garbage]! });
    }
    const aborted = this.#firstAborted[key]!;
    if (aborted >= 0 && aborted < length) {
      this.#problem({ kind: 'G1a', op, other: this.#chainWriters[from + aborted]! });
    }
  }

  #otherElementProblems(op: number, key: number, values: Int32Array, length: number): void {
    const seen = new Set<number>();
    for (let i = 0; i < length; i++) {
      const value = values[i]!;
      const writer = this.#index.writer(key, value);
      if (writer === nobody) this.#problem({ kind: 'garbage-read', op, other: -1, value });
      else if (writer !== ambiguous && this.#h.txStatus[this.#opTx[writer]!] === kvAborted) {
        this.#problem({ kind: 'G1a', op, other: writer });
      } else if (writer > op && this.#opTx[writer] === this.#opTx[op])
        this.#problem({ kind: 'future-read', op, other: writer });
      if (seen.has(value) && writer !== ambiguous)
        this.#problem({ kind: 'duplicate-write', op, other: writer, value });
      seen.add(value);
    }
    // A transaction of unknown outcome may have read further than anyone else; that contradicts nobody.
    const from = this.#h.chainOffsets[key]!;
    const common = Math.min(length, this.#h.chainOffsets[key + 1]! - from);
    for (let i = 0; i < common; i++) {
      if (values[i] === this.#h.chainValues[from + i]) continue;
      const main = this.#h.chainValues.subarray(from, this.#h.chainOffsets[key + 1]!);
      const other = this.#mainReader(key);
      if (this.#agreeOnCommitted(key, values.subarray(0, length), main))
        this.#problem({ kind: 'incompatible-order', op, other });
      else this.#problem({ kind: 'incompatible-order', op, other, how: 'committed' });
      return;
    }
  }

  /** Does one of two lists begin with the other once elements are left out that may not have been committed? */
  #agreeOnCommitted(key: number, a: Int32Array, b: Int32Array): boolean {
    const committed = (list: Int32Array): Int32Array =>
      list.filter((value) => {
        const writer = this.#index.writer(key, value);
        return writer >= 0 && this.#h.txStatus[this.#opTx[writer]!] === kvCommitted;
      });
    const [left, right] = [committed(a), committed(b)];
    return left.subarray(0, right.length).every((value, i) => value === right[i]);
  }

  /** A committed read that shows the most of a key's main chain. */
  #mainReader(key: number): number {
    const { opCount, opKey, opKind, opValue } = this.#h;
    let best = this.#mainReaders.get(key) ?? -1;
    if (best >= 0) return best;
    for (let op = 0; op < opCount; op++) {
      if (opKey[op] !== key || opKind[op] !== kvReadList || opValue[op]! < 0) continue;
      if (this.#counts[this.#opTx[op]!] === 1 && (best < 0 || opValue[op]! > opValue[best]!)) best = op;
    }
    this.#mainReaders.set(key, best);
    return best;
  }

  #duplicate(key: number, position: number, value: number): void {
    const { opCount, opKey, opKind, opValue } = this.#h;
    for (let op = 0; op < opCount; op++) {
      if (opKey[op] !== key || opKind[op] !== kvReadList || opValue[op]! <= position) continue;
      if (this.#counts[this.#opTx[op]!] === 0) continue;
      this.#problem({ kind: 'duplicate-write', op, other: this.#index.writer(key, value), value });
      return;
    }
  }

  #problem(problem: ReadProblem): void {
    // Whoever wrote it may be in the part that is missing.
    if (problem.kind === 'garbage-read' && (this.#h.omitted ?? []).length > 0) return;
    const count = (this.#problemCounts.get(problem.kind) ?? 0) + 1;
    this.#problemCounts.set(problem.kind, count);
    if (count <= problemLimit) this.#problems.push(problem);
  }

  /** What keeps any level from being said to hold: nothing to judge, or something that cannot be judged. */
  #unjudged(): string[] {
    const { txCount, txStatus, opCount, opKind, opValue, omitted = [] } = this.#h;
    if (txCount === 0) return [...omitted, 'the history holds no transactions, so there is nothing to judge'];
    let unseen = 0;
    for (let op = 0; op < opCount; op++) {
      if (opKind[op]! >= kvWrite || opValue[op] !== kvUnseen) continue;
      if (txStatus[this.#opTx[op]!] === kvCommitted) unseen++;
    }
    if (unseen === 0 || omitted.length > 0) return [...omitted];
    return [`${counted(unseen, 'read')} of committed transactions without a recorded result`];
  }

  result(): ResolvedKv {
    const mixed = this.#mixedKeys.indexOf(1);
    return {
      history: this.#h,
      counts: this.#counts,
      opTx: this.#opTx,
      finalWrite: this.#finalWrite,
      readsFrom: this.#readsFrom,
      strayReads: this.#strayReads,
      openReads: this.#openReads,
      repeatedElements: repeatedElements(this.#h, this.#index.repeatedElements),
      seenLength: this.#seenLength,
      chainWriters: this.#chainWriters,
      placed: this.#placed,
      agreedLength: this.#agreedLength,
      hasLists: this.#hasLists,
      problems: this.#problems,
      problemCounts: this.#problemCounts,
      unknownReasons: [
        ...this.#unjudged(),
        ...(mixed < 0
          ? []
          : [`${printName(this.#h.keyNames[mixed]!)} is used both as a register and as a list`]),
      ],
    };
  }
}
