/** Lists of integers that grow in place: a million operations make tens of millions of accesses and edges. */

export class Ints {
  #data: Int32Array;
  length = 0;

  constructor(capacity = 64) {
    this.#data = new Int32Array(capacity);
  }

  push(value: number): void {
    if (this.length === this.#data.length) {
      const grown = new Int32Array(this.#data.length * 2);
      grown.set(this.#data);
      this.#data = grown;
    }
    this.#data[this.length++] = value;
  }

  at(index: number): number {
    return this.#data[index]!;
  }

  /** What was pushed, without copying; valid until the next push. */
  view(): Int32Array {
    return this.#data.subarray(0, this.length);
  }
}

/** Rows of a table of integers, grouped by a key: the entries of key k stand at `first[k] … first[k + 1] - 1` of `order`. */
export interface Groups {
  readonly first: Int32Array;
  readonly order: Int32Array;
}

/** Groups entry numbers by their key, keeping their order within a key. */
export function groupBy(keys: Int32Array, keyCount: number): Groups {
  const first = new Int32Array(keyCount + 1);
  for (let i = 0; i < keys.length; i++) first[keys[i]! + 1]!++;
  for (let k = 0; k < keyCount; k++) first[k + 1]! += first[k]!;
  const next = first.slice(0, keyCount);
  const order = new Int32Array(keys.length);
  for (let i = 0; i < keys.length; i++) order[next[keys[i]!]!++] = i;
  return { first, order };
}
