/** Columns that grow, and texts kept as bytes: a million short strings as objects would take ten times their size. */

/** Numbers appended one after another; `take` gives them as one array. */
export class NumberColumn<T extends Int32Array | Float64Array | Uint8Array> {
  #values: T;
  #count = 0;

  constructor(private readonly make: (length: number) => T) {
    this.#values = make(1024);
  }

  push(value: number): void {
    if (this.#count === this.#values.length) {
      const larger = this.make(this.#count * 2);
      larger.set(this.#values as never);
      this.#values = larger;
    }
    this.#values[this.#count++] = value;
  }

  get count(): number {
    return this.#count;
  }

  take(): T {
    return this.#values.slice(0, this.#count) as T;
  }
}

const chunkBytes = 4 * 1024 * 1024;

/** Texts by number. Beyond a budget of bytes texts are kept no longer, and `isWhole` says so. */
export class TextColumn {
  readonly #chunks: Buffer[] = [];
  /** Where a text begins, counted over all chunks; it ends where the next one begins. */
  readonly #starts = new NumberColumn((length) => new Float64Array(length));
  readonly #lengths = new NumberColumn((length) => new Int32Array(length));
  #used = chunkBytes;
  #bytes = 0;
  isWhole = true;

  constructor(private readonly budget = 300 * 1024 * 1024) {}

  push(text: string): void {
    // Three bytes are the most that one unit of UTF-16 takes.
    const most = text.length * 3;
    if (text === '' || most > chunkBytes || this.#bytes > this.budget) {
      if (text !== '') this.isWhole = false;
      this.#starts.push(0);
      this.#lengths.push(0);
      return;
    }
    if (this.#used + most > chunkBytes) {
      this.#chunks.push(Buffer.allocUnsafe(chunkBytes));
      this.#used = 0;
    }
    const written = this.#chunks.at(-1)!.write(text, this.#used, 'utf8');
    this.#starts.push((this.#chunks.length - 1) * chunkBytes + this.#used);
    this.#lengths.push(written);
    this.#used += written;
    this.#bytes += written;
  }

  /** Ends appending; the texts by number. */
  take(): (index: number) => string {
    const [starts, lengths, chunks] = [this.#starts.take(), this.#lengths.take(), this.#chunks];
    return (index) => {
      const length = lengths[index] ?? 0;
      if (length === 0) return '';
      const start = starts[index]!;
      const at = start % chunkBytes;
      return chunks[Math.floor(start / chunkBytes)]!.toString('utf8', at, at + length);
    };
  }
}
