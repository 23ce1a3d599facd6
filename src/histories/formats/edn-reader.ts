/**
 * Reads EDN, the data notation of Clojure: maps, vectors, lists, sets, keywords, symbols, strings, numbers, nil,
 * true and false. Comments and `#_` are passed over, tags (`#jepsen.history.Op{…}`) and `^metadata` dropped.
 *
 * The same reader reads JSON when exactness matters: JSON is EDN with `:` between a name and its value and with
 * `null` for `nil`. Integers that a double does not hold come out as atoms with all their digits.
 */
import { isUtf8 } from 'node:buffer';
import type { KvName } from '../kv-history.js';
import { notUtf8 } from '../lossy-text.js';

export type Edn = null | boolean | number | string | EdnAtom | EdnMap | EdnSet | readonly Edn[];

/** A keyword (with its colon), a symbol, or a number no double holds. */
export class EdnAtom {
  constructor(readonly text: string) {}
}

export class EdnMap {
  constructor(readonly entries: readonly (readonly [Edn, Edn])[]) {}
}

export class EdnSet {
  constructor(readonly items: readonly Edn[]) {}
}

/** Thrown when the bytes end inside a form. */
export class EdnEnd extends Error {}

/** Thrown for text that is not EDN; `offset` is where. */
export class EdnProblem extends Error {
  constructor(
    readonly offset: number,
    message: string,
  ) {
    super(message);
  }
}

const maxDepth = 100;
const space = new Uint8Array(256);
for (const char of ' \t\r\n\f\v,') space[char.charCodeAt(0)] = 1;
/** What ends a token. */
const delimiter = Uint8Array.from(space);
for (const char of '()[]{}";') delimiter[char.charCodeAt(0)] = 1;

const closers: Readonly<Record<number, number>> = { 40: 41, 91: 93, 123: 125 };
const escapes: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  b: '\b',
  f: '\f',
  '"': '"',
  '\\': '\\',
  '/': '/',
};
const characters: Readonly<Record<string, string>> = {
  newline: '\n',
  space: ' ',
  tab: '\t',
  return: '\r',
  backspace: '\b',
  formfeed: '\f',
};

export class EdnReader {
  constructor(
    readonly bytes: Buffer,
    public at: number,
    readonly end: number,
    readonly json = false,
  ) {}

  /** Passes over white space, comments and discarded forms; the next byte, or -1 at the end. */
  skip(): number {
    for (;;) {
      while (this.at < this.end && space[this.bytes[this.at]!] === 1) this.at++;
      if (this.at >= this.end) return -1;
      const byte = this.bytes[this.at]!;
      if (byte === 59 && !this.json) {
        const lineEnd = this.bytes.indexOf(10, this.at);
        if (lineEnd < 0 || lineEnd >= this.end) {
          this.at = this.end;
          return -1;
        }
        this.at = lineEnd + 1;
      } else if (byte === 35 && this.bytes[this.at + 1] === 95 && this.at + 1 < this.end) {
        this.at += 2;
        this.read(0);
      } else return byte;
    }
  }

  read(depth = 0): Edn {
    if (depth > maxDepth) throw new EdnProblem(this.at, 'it is nested too deeply');
    const byte = this.skip();
    switch (byte) {
      case -1:
        throw new EdnEnd();
      case 123: // {
        return this.#map(depth);
      case 91: // [
      case 40: // (
        return this.#items(closers[byte]!, depth);
      case 34: // "
        return this.#string();
      case 35: // #
        return this.#dispatch(depth);
      case 94: // ^
        this.at++;
        this.read(depth + 1);
        return this.read(depth + 1);
      case 92: // backslash
        return this.#character();
      case 93:
      case 41:
      case 125:
        throw new EdnProblem(this.at, `expected a value, found "${String.fromCharCode(byte)}"`);
      default:
        return this.#token();
    }
  }

  #items(closer: number, depth: number): Edn[] {
    const opened = this.at++;
    const items: Edn[] = [];
    for (;;) {
      const byte = this.skip();
      if (byte === -1) throw new EdnEnd();
      if (byte === closer) {
        this.at++;
        return items;
      }
      if (byte === 93 || byte === 41 || byte === 125) {
        const [open, found, wanted] = [this.bytes[opened]!, byte, closer].map((each) =>
          String.fromCharCode(each),
        );
        throw new EdnProblem(this.at, `expected "${wanted}" to close "${open}", found "${found}"`);
      }
      items.push(this.read(depth + 1));
    }
  }

  #map(depth: number): EdnMap {
    const start = this.at;
    const items = this.json ? this.#members(depth) : this.#items(125, depth);
    if (items.length % 2 === 1) throw new EdnProblem(start, 'a map has a key without a value');
    const entries: [Edn, Edn][] = [];
    for (let i = 0; i < items.length; i += 2) entries.push([items[i]!, items[i + 1]!]);
    return new EdnMap(entries);
  }

  /** The members of a JSON object: names and values in turn. */
  #members(depth: number): Edn[] {
    this.at++;
    const items: Edn[] = [];
    for (;;) {
      const byte = this.skip();
      if (byte === 125) {
        this.at++;
        return items;
      }
      if (byte === 58) this.at++;
      else items.push(this.read(depth + 1));
    }
  }

  #dispatch(depth: number): Edn {
    const next = this.bytes[this.at + 1];
    if (this.at + 1 >= this.end) throw new EdnEnd();
    this.at++;
    if (next === 123) return new EdnSet(this.#items(125, depth));
    if (next === 34) return this.#string();
    if (next === 35) {
      this.at++;
      const name = this.#text();
      const known: Readonly<Record<string, number>> = {
        Inf: Number.POSITIVE_INFINITY,
        '-Inf': Number.NEGATIVE_INFINITY,
        NaN: Number.NaN,
      };
      return Object.hasOwn(known, name) ? known[name]! : new EdnAtom(`##${name}`);
    }
    if (this.#text() === '') throw new EdnProblem(this.at, 'expected a tag after "#"');
    return this.read(depth + 1);
  }

  #string(): string {
    const from = this.at + 1;
    let to = from;
    let escaped = false;
    while (to < this.end && this.bytes[to] !== 34) {
      if (this.bytes[to] === 92) {
        escaped = true;
        to++;
      }
      to++;
    }
    if (to >= this.end) throw new EdnEnd();
    this.at = to + 1;
    const text = this.#utf8(from, to);
    if (!escaped) return text;
    return text.replaceAll(/\\(u[0-9a-fA-F]{4}|[0-7]{1,3}|.)/gsu, (_, code: string) => {
      if (/^u./.test(code)) return String.fromCharCode(Number.parseInt(code.slice(1), 16));
      if (/^[0-7]/.test(code)) return String.fromCharCode(Number.parseInt(code, 8));
      return escapes[code] ?? code;
    });
  }

  #character(): string {
    this.at++;
    if (this.at >= this.end) throw new EdnEnd();
    const from = this.at++;
    while (this.at < this.end && delimiter[this.bytes[this.at]!] === 0) this.at++;
    if (this.at >= this.end) throw new EdnEnd();
    const name = this.#utf8(from, this.at);
    if (/^u[0-9a-fA-F]{4}$/.test(name)) return String.fromCharCode(Number.parseInt(name.slice(1), 16));
    return Object.hasOwn(characters, name) ? characters[name]! : name;
  }

  /** The bytes up to the next delimiter. A token may go on past the window, so its end must be seen. */
  #text(): string {
    const from = this.at;
    while (this.at < this.end && delimiter[this.bytes[this.at]!] === 0) {
      if (this.json && this.bytes[this.at] === 58) break;
      this.at++;
    }
    if (this.at >= this.end) throw new EdnEnd();
    return this.#utf8(from, this.at);
  }

  #utf8(from: number, to: number): string {
    if (!isUtf8(this.bytes.subarray(from, to))) throw new EdnProblem(from, notUtf8);
    return this.bytes.toString('utf8', from, to);
  }

  #token(): Edn {
    const start = this.at;
    const text = this.#text();
    switch (text) {
      case '':
        throw new EdnProblem(
          start,
          `expected a value, found ${JSON.stringify(String.fromCharCode(this.bytes[start]!))}`,
        );
      case 'nil':
        return this.json ? new EdnAtom(text) : null;
      case 'null':
        return this.json ? null : new EdnAtom(text);
      case 'true':
        return true;
      case 'false':
        return false;
    }
    return numberOf(text) ?? new EdnAtom(text);
  }
}

function numberOf(text: string): number | EdnAtom | undefined {
  if (/^[+-]?\d+N?$/.test(text)) {
    const digits = text.replace(/N$/, '').replace(/^\+/, '');
    const number = Number(digits);
    if (Number.isSafeInteger(number)) return number === 0 ? 0 : number;
    // BigInt of a megabyte of digits takes minutes; such a number keeps its spelling.
    return new EdnAtom(digits.length > 1000 ? digits : BigInt(digits).toString());
  }
  if (/^[+-]?\d+(\.\d*)?([eE][+-]?\d+)?M?$/.test(text)) {
    const exact = text.endsWith('M') && text.length > 16;
    const number = Number(text.replace(/M$/, ''));
    return exact || !Number.isFinite(number) ? new EdnAtom(text) : number === 0 ? 0 : number;
  }
  return undefined;
}

/** How a key or value of a file is called: numbers and strings are themselves, all else is its text. */
export function nameOf(value: Edn): KvName {
  if (typeof value === 'number') return Number.isNaN(value) ? 'NaN' : value;
  return typeof value === 'string' ? value : printEdn(value);
}

/** A value as EDN text. */
export function printEdn(value: Edn): string {
  if (value === null) return 'nil';
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value !== 'object') return String(value);
  if (value instanceof EdnAtom) return value.text;
  if (value instanceof EdnSet) return `#{${value.items.map(printEdn).sort().join(' ')}}`;
  if (value instanceof EdnMap) {
    const entries = value.entries.map(([key, item]) => `${printEdn(key)} ${printEdn(item)}`);
    return `{${entries.sort().join(', ')}}`;
  }
  return `[${value.map(printEdn).join(' ')}]`;
}
