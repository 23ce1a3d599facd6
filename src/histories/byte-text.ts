/**
 * A growing text of bytes: what a history line is built in.
 *
 * Joining a quarter of a kilobyte out of twenty small strings and then encoding it as UTF-8 costs several times
 * more than copying the characters one by one into a buffer, which is what this does. Only text that
 * needs escapes or is not ASCII takes the slow way.
 */
export class ByteText {
  private bytes: Buffer;
  private at = 0;

  constructor(capacity: number) {
    this.bytes = Buffer.allocUnsafe(capacity);
  }

  get length(): number {
    return this.at;
  }

  /** The bytes so far, as a copy; the text is empty afterwards. */
  take(): Buffer {
    const taken = Buffer.from(this.bytes.subarray(0, this.at));
    this.at = 0;
    return taken;
  }

  /** Characters known to be ASCII. */
  ascii(text: string): void {
    const end = this.at + text.length;
    if (end > this.bytes.length) this.grow(text.length);
    const { bytes } = this;
    for (let i = 0, to = this.at; to < end; i++, to++) bytes[to] = text.charCodeAt(i);
    this.at = end;
  }

  /** A number as JSON writes it. */
  number(number: number): void {
    if (!(number >= 0 && number <= Number.MAX_SAFE_INTEGER && Number.isInteger(number))) {
      this.ascii(String(number));
    } else if (number < 1e9) this.digits(number, 1);
    else {
      // Remainders of integers below 2^31 are fast; two halves keep every step there.
      const high = Math.floor(number / 1e9);
      this.number(high);
      this.digits(number - high * 1e9, 9);
    }
  }

  /** A text as JSON writes it, in its quotes. */
  quoted(text: string): void {
    if (this.at + text.length + 2 > this.bytes.length) this.grow(text.length + 2);
    const { bytes } = this;
    let to = this.at;
    bytes[to++] = 34;
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i);
      if (code < 32 || code > 126 || code === 34 || code === 92) {
        this.json(text);
        return;
      }
      bytes[to++] = code;
    }
    bytes[to++] = 34;
    this.at = to;
  }

  /** Anything else as JSON writes it. */
  json(value: unknown): void {
    const text = JSON.stringify(value);
    if (this.at + text.length * 3 > this.bytes.length) this.grow(text.length * 3);
    this.at += this.bytes.write(text, this.at, 'utf8');
  }

  private digits(number: number, least: number): void {
    let count = least;
    for (let limit = 10 ** least; number >= limit; limit *= 10) count++;
    if (this.at + count > this.bytes.length) this.grow(count);
    const { bytes } = this;
    let rest = number | 0;
    for (let to = this.at + count - 1; to >= this.at; to--) {
      const next = (rest / 10) | 0;
      bytes[to] = 48 + rest - next * 10;
      rest = next;
    }
    this.at += count;
  }

  private grow(more: number): void {
    const bigger = Buffer.allocUnsafe(Math.max(this.bytes.length * 2, this.at + more));
    this.bytes.copy(bigger, 0, 0, this.at);
    this.bytes = bigger;
  }
}
