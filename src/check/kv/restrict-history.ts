/**
 * A history restricted to some of its transactions, such that whatever level the whole history keeps, the restricted
 * one keeps too: if an order explains all transactions, leave out the others, and it still explains these. So a few
 * transactions that break a level prove that the history does.
 *
 * A read whose value another transaction, left out, may have written says nothing any more: it has no result here.
 * Lists lose the elements of transactions left out. A value that nobody in the whole history wrote stays.
 */
import {
  KvBuilder,
  type KvHistory,
  kvAppend,
  kvInitial,
  kvRead,
  kvUnseen,
  kvWrite,
  listOf,
  statusOf,
} from '../../histories/index.js';

export class Restriction {
  readonly #history: KvHistory;
  /** The transactions that wrote each value that the given ones read, by key and value. */
  readonly #writers = new Map<string, Set<number>>();

  /** `most`: every transaction that a restriction will be asked for. */
  constructor(history: KvHistory, most: Iterable<number>) {
    this.#history = history;
    const { opKey, opKind, opValue, opOffsets } = history;
    const keys = new Set<number>();
    for (const tx of most) {
      for (let op = opOffsets[tx]!; op < opOffsets[tx + 1]!; op++) {
        if (opKind[op]! >= kvWrite) continue;
        keys.add(opKey[op]!);
        const values = opKind[op] === kvRead ? [opValue[op]!] : listOf(history, op);
        for (const value of values) this.#writers.set(`${opKey[op]}/${value}`, new Set());
      }
    }
    for (let tx = 0; tx < history.txCount; tx++) {
      for (let op = opOffsets[tx]!; op < opOffsets[tx + 1]!; op++) {
        if (opKind[op]! < kvWrite || !keys.has(opKey[op]!)) continue;
        this.#writers.get(`${opKey[op]}/${opValue[op]}`)?.add(tx);
      }
    }
  }

  /** Who wrote a value that one of the transactions read. */
  writersOf(key: number, value: number): ReadonlySet<number> {
    return this.#writers.get(`${key}/${value}`) ?? new Set();
  }

  /** The history of these transactions alone, in their old order. Keys, sessions and values are numbers there. */
  to(txs: readonly number[]): KvHistory {
    const history = this.#history;
    const { txStart, txEnd, txSession, opOffsets } = history;
    const kept = new Set(txs);
    const builder = new KvBuilder(history);
    for (const tx of [...kept].sort((a, b) => a - b)) {
      builder.begin(txSession[tx]!, txStart?.[tx], tx);
      for (let op = opOffsets[tx]!; op < opOffsets[tx + 1]!; op++) this.#copy(builder, op, kept);
      builder.end(statusOf(history, tx), txEnd?.[tx]);
    }
    return builder.build();
  }

  #copy(builder: KvBuilder, op: number, kept: ReadonlySet<number>): void {
    const { opKey, opKind, opValue } = this.#history;
    const key = opKey[op]!;
    const value = opValue[op]!;
    if (opKind[op] === kvWrite) builder.write(key, value);
    else if (opKind[op] === kvAppend) builder.append(key, value);
    else if (opKind[op] === kvRead) {
      const known = value !== kvUnseen && this.#outside(key, value, kept) === 0;
      builder.read(key, known ? (value === kvInitial ? null : value) : undefined);
    } else if (value === kvUnseen) builder.readList(key, undefined);
    else {
      const elements = [...listOf(this.#history, op)];
      const unclear = elements.some((element) => {
        const outside = this.#outside(key, element, kept);
        return outside > 0 && outside < this.writersOf(key, element).size;
      });
      builder.readList(
        key,
        unclear ? undefined : elements.filter((element) => this.#outside(key, element, kept) === 0),
      );
    }
  }

  #outside(key: number, value: number, kept: ReadonlySet<number>): number {
    let outside = 0;
    for (const tx of this.writersOf(key, value)) if (!kept.has(tx)) outside++;
    return outside;
  }
}
