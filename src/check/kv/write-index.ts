/**
 * Who wrote a value. Where every value was written once in the whole history and they are numbers from a counter, as most generators have it,
 * a table by value answers; otherwise a hash table from (key, value) to the operation, in one typed array. Values are meant to be
 * unique per key. Where they are not, the table still answers if only one candidate can be meant: a value written
 * again by the same transaction, or by attempts that aborted beside one that did not. Anything else is ambiguous.
 */
import { type KvHistory, kvAborted, kvAppend, kvWrite } from '../../histories/index.js';

export const nobody = -1;
export const ambiguous = -2;

export class WriteIndex {
  readonly #history: KvHistory;
  readonly #opTx: Int32Array;
  /** The operation that wrote a value to whatever key, plus one; undefined: values are hashed. */
  readonly #ofValue: Int32Array | undefined;
  readonly #slots: Int32Array;
  readonly #mask: number;
  readonly #ambiguous = new Set<number>();
  /** Values that more than one transaction wrote, as key · 2^31 + value. */
  readonly #repeated = new Set<number>();
  /** Elements that were appended more than once, be it by one transaction, in the same form. */
  readonly repeatedElements = new Set<number>();

  constructor(history: KvHistory, opTx: Int32Array) {
    this.#history = history;
    this.#opTx = opTx;
    let writes = 0;
    for (let op = 0; op < history.opCount; op++) if (history.opKind[op]! >= kvWrite) writes++;
    this.#ofValue = tableByValue(history, writes * 4);
    let size = 16;
    while (size < writes * 3 && this.#ofValue === undefined) size *= 2;
    this.#mask = size - 1;
    this.#slots = new Int32Array(size);
    if (this.#ofValue !== undefined) return;
    for (let op = 0; op < history.opCount; op++) if (history.opKind[op]! >= kvWrite) this.#insert(op);
  }

  /** The operation that wrote `value` to `key`, `nobody`, or `ambiguous`. */
  writer(key: number, value: number): number {
    const { opKey, opValue } = this.#history;
    if (this.#ofValue !== undefined) {
      const op = value < this.#ofValue.length ? this.#ofValue[value]! - 1 : nobody;
      return op >= 0 && opKey[op] === key ? op : nobody;
    }
    for (let at = this.#hash(key, value); ; at = (at + 1) & this.#mask) {
      const op = this.#slots[at]! - 1;
      if (op < 0) return nobody;
      if (opKey[op] === key && opValue[op] === value) {
        return this.#ambiguous.size > 0 && this.#ambiguous.has(op) ? ambiguous : op;
      }
    }
  }

  /** Did more than one transaction, whatever became of them, write `value` to `key`, or did the key hold it from the start? */
  isRepeated(key: number, value: number): boolean {
    if (value === this.#history.initialValue) return true;
    return this.#repeated.size > 0 && this.#repeated.has(key * 2 ** 31 + value);
  }

  #insert(op: number): void {
    const { opKey, opKind, opValue, txStatus } = this.#history;
    const key = opKey[op]!;
    const value = opValue[op]!;
    let at = this.#hash(key, value);
    for (; this.#slots[at] !== 0; at = (at + 1) & this.#mask) {
      const other = this.#slots[at]! - 1;
      if (opKey[other] !== key || opValue[other] !== value) continue;
      const same = this.#opTx[other] === this.#opTx[op];
      if (opKind[op] === kvAppend) this.repeatedElements.add(key * 2 ** 31 + value);
      if (!same) this.#repeated.add(key * 2 ** 31 + value);
      const otherAborted = txStatus[this.#opTx[other]!] === kvAborted;
      if (same || otherAborted) {
        if (this.#ambiguous.delete(other)) this.#ambiguous.add(op);
        this.#slots[at] = op + 1;
      } else if (txStatus[this.#opTx[op]!] !== kvAborted) this.#ambiguous.add(other);
      return;
    }
    this.#slots[at] = op + 1;
  }

  /** Values of one key lie side by side: they are usually consecutive numbers, and asked for together. */
  #hash(key: number, value: number): number {
    let hash = Math.imul(key + 1, 0x9e3779b1);
    hash ^= hash >>> 15;
    return (Math.imul(hash, 0x2c1b3c6d) + value) & this.#mask;
  }
}

/** The operation of each value, plus one, if all are below `size` and none was written twice. */
function tableByValue({ opCount, opKind, opValue }: KvHistory, size: number): Int32Array | undefined {
  const table = new Int32Array(size);
  for (let op = 0; op < opCount; op++) {
    if (opKind[op]! < kvWrite) continue;
    const value = opValue[op]!;
    if (value >= size || table[value] !== 0) return undefined;
    table[value] = op + 1;
  }
  return table;
}
