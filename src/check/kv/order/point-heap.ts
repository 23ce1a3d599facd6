/** A binary heap of points, smallest priority first, ties by number. */
export class PointHeap {
  readonly #priority: Float64Array;
  readonly #items: Int32Array;
  #size = 0;

  constructor(priority: Float64Array) {
    this.#priority = priority;
    this.#items = new Int32Array(priority.length);
  }

  push(item: number): void {
    const items = this.#items;
    let at = this.#size++;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!this.#less(item, items[parent]!)) break;
      items[at] = items[parent]!;
      at = parent;
    }
    items[at] = item;
  }

  /** The smallest point, or -1. */
  pop(): number {
    if (this.#size === 0) return -1;
    const items = this.#items;
    const top = items[0]!;
    const last = items[--this.#size]!;
    const size = this.#size;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= size) break;
      if (child + 1 < size && this.#less(items[child + 1]!, items[child]!)) child++;
      if (!this.#less(items[child]!, last)) break;
      items[at] = items[child]!;
      at = child;
    }
    items[at] = last;
    return top;
  }

  #less(a: number, b: number): boolean {
    const difference = this.#priority[a]! - this.#priority[b]!;
    return difference < 0 || (difference === 0 && a < b);
  }
}
