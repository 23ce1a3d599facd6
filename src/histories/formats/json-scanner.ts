/**
 * Reads JSON of a shape that is known in advance straight from its bytes, without building anything: the fast way of the
 * formats that are JSON. Strict: what it accepts is JSON, and is read as `JSON.parse` would read it. Whatever else
 * stands there (escapes, fractions, huge numbers, text beyond ASCII, other members) it refuses, and the general reader
 * takes over, so this never has to judge what is an error.
 */
import type { KvName } from '../kv-history.js';

const word = (text: string): readonly number[] => Array.from(text, (char) => char.charCodeAt(0));
const trueWord = word('true');
const falseWord = word('false');
const nullWord = word('null');

export class JsonScanner {
  bytes: Buffer = Buffer.alloc(0);
  at = 0;
  end = 0;
  /** What `name` or `literal` found. */
  found: KvName | boolean | null = null;

  set(bytes: Buffer, at: number, end: number): void {
    this.bytes = bytes;
    this.at = at;
    this.end = end;
  }

  /** The next byte that is no white space, or -1. */
  peek(): number {
    const { bytes, end } = this;
    let { at } = this;
    for (; at < end; at++) {
      const byte = bytes[at]!;
      if (byte !== 32 && byte !== 10 && byte !== 13 && byte !== 9) break;
    }
    this.at = at;
    return at < end ? bytes[at]! : -1;
  }

  take(byte: number): boolean {
    if (this.bytes[this.at] !== byte && this.peek() !== byte) return false;
    if (this.at >= this.end) return false;
    this.at++;
    return true;
  }

  /** A string with exactly these letters. */
  text(letters: readonly number[]): boolean {
    if (this.peek() !== 34) return false;
    const from = this.at++;
    if (this.#matches(letters) && this.at < this.end && this.bytes[this.at++] === 34) return true;
    this.at = from;
    return false;
  }

  /** The string's name of a member and its colon. */
  member(letters: readonly number[]): boolean {
    return this.text(letters) && this.take(58);
  }

  /** `true`, `false` or `null` into `found`. */
  literal(): boolean {
    const byte = this.peek();
    if (byte === 116 && this.#matches(trueWord)) this.found = true;
    else if (byte === 102 && this.#matches(falseWord)) this.found = false;
    else if (byte === 110 && this.#matches(nullWord)) this.found = null;
    else return false;
    return true;
  }

  /** An integer or a plain string into `found`. */
  name(): boolean {
    return this.peek() === 34 ? this.#string() : this.integer();
  }

  /** An integer of at most 15 digits, as JSON spells it. */
  integer(): boolean {
    const { bytes, end } = this;
    let at = this.at;
    if (bytes[at] === 32) {
      this.peek();
      at = this.at;
    }
    const negative = bytes[at] === 45;
    if (negative) at++;
    const from = at;
    let number = 0;
    for (let digit = bytes[at]! - 48; digit >= 0 && digit <= 9 && at < end; digit = bytes[++at]! - 48) {
      number = number * 10 + digit;
    }
    const length = at - from;
    if (length === 0 || length > 15 || (bytes[from] === 48 && length > 1) || at >= end) return false;
    const after = bytes[at]!;
    if (after !== 44 && after !== 93 && after !== 125 && after !== 32 && after !== 10 && after !== 13)
      return false;
    this.found = negative && number !== 0 ? -number : number;
    this.at = at;
    return true;
  }

  #string(): boolean {
    const { bytes, end } = this;
    const from = this.at + 1;
    let to = from;
    for (; to < end && bytes[to] !== 34; to++)
      if (bytes[to]! < 32 || bytes[to]! > 126 || bytes[to] === 92) return false;
    if (to >= end) return false;
    this.found = bytes.toString('latin1', from, to);
    this.at = to + 1;
    return true;
  }

  #matches(letters: readonly number[]): boolean {
    const { bytes, at } = this;
    if (at + letters.length > this.end) return false;
    for (let i = 0; i < letters.length; i++) if (bytes[at + i] !== letters[i]) return false;
    this.at = at + letters.length;
    return true;
  }
}

/** The letters of a name, for `text` and `member`. */
export const letters = word;
