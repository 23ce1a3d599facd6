/**
 * What an open transaction has written, step by step: its own version of each row, and the way back. ROLLBACK TO undoes the log to
 * the mark of its savepoint, ROLLBACK to its beginning, newest first; COMMIT publishes the last version of each row.
 *
 * Most transactions write few rows and there are millions of them: lists beside each other, indexed only when they get long, and
 * cleared to be used again.
 */
const longList = 32;

export class WriteLog<Row, Image> {
  readonly #rows: Row[] = [];
  readonly #before: Image[] = [];
  readonly #after: Image[] = [];
  /** Where each row was written last, in a log that is long. */
  #last: Map<Row, number> | undefined;

  /** `before`: what the row held until now. */
  write(row: Row, before: Image, after: Image): void {
    this.#last?.set(row, this.#rows.length);
    this.#rows.push(row);
    this.#before.push(before);
    this.#after.push(after);
  }

  wrote(row: Row): boolean {
    return this.#lastOf(row) >= 0;
  }

  /** The transaction's own version of a row; undefined: it has none. */
  own(row: Row): Image | undefined {
    return this.#after[this.#lastOf(row)];
  }

  /** Every row it wrote, once. */
  get rows(): readonly Row[] {
    return this.#rows.length < 2
      ? this.#rows.slice()
      : this.#rows.filter((row, i) => this.#lastOf(row) === i);
  }

  /** A point to which `undo` can return. */
  mark(): number {
    return this.#rows.length;
  }

  /** Takes back what was written since a mark, newest first. */
  undo(mark: number, putBack: (row: Row, before: Image) => void): void {
    this.#last = undefined;
    while (this.#rows.length > mark) {
      this.#after.pop();
      putBack(this.#rows.pop()!, this.#before.pop()!);
    }
  }

  clear(): void {
    this.#rows.length = 0;
    this.#before.length = 0;
    this.#after.length = 0;
    this.#last = undefined;
  }

  #lastOf(row: Row): number {
    if (this.#rows.length < longList) return this.#rows.lastIndexOf(row);
    this.#last ??= new Map(this.#rows.map((each, i) => [each, i]));
    return this.#last.get(row) ?? -1;
  }
}
