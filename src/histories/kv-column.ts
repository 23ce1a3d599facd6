/** Columns that grow: typed arrays that double, so that a history of millions of operations is a few big blocks. */

export class IntColumn {
  data = new Int32Array(1024);
  length = 0;

  push(value: number): void {
    if (this.length === this.data.length) {
      const grown = new Int32Array(this.length * 2);
      grown.set(this.data);
      this.data = grown;
    }
    this.data[this.length++] = value;
  }

  /** Pushes `values[from]` to `values[to - 1]`. */
  pushRange(values: Int32Array, from: number, to: number): void {
    const length = this.length + to - from;
    if (length > this.data.length) {
      const grown = new Int32Array(Math.max(this.data.length * 2, length));
      grown.set(this.data);
      this.data = grown;
    }
    const { data } = this;
    for (let i = from, at = this.length; i < to; i++, at++) data[at] = values[i]!;
    this.length = length;
  }

  slice(from: number, to: number): number[] {
    return Array.from(this.data.subarray(from, to));
  }

  /** A copy of exactly what was pushed. */
  take(): Int32Array {
    return this.data.slice(0, this.length);
  }
}

export class FloatColumn {
  data = new Float64Array(1024);
  length = 0;
  /** Something other than NaN was pushed. */
  used = false;

  push(value: number): void {
    if (this.length === this.data.length) {
      const grown = new Float64Array(this.length * 2);
      grown.set(this.data);
      this.data = grown;
    }
    this.used ||= !Number.isNaN(value);
    this.data[this.length++] = value;
  }

  take(): Float64Array {
    return this.data.slice(0, this.length);
  }
}
