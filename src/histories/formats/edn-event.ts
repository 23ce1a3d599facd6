/**
 * The fast way through a Jepsen file: recognises, byte by byte and without building anything, the one shape nearly
 * every line has, `{:type :ok, :f :txn, :value [[:append 3 1] [:r 4 [1 2]]], :process 2, :time 123, :index 4}` in
 * any order of its fields. Whatever else stands in a line (strings with escapes, tags, comments, other fields, huge
 * numbers) is left to the general reader, so this never has to judge what is an error.
 */
import { firstNamedValue, type KvName } from '../kv-history.js';
import { MicroOps } from './micro-ops.js';

export const eventTypes = ['invoke', 'ok', 'fail', 'info'] as const;
export type EventType = (typeof eventTypes)[number];

/** The fields of a line that was scanned. */
export interface ScannedEvent {
  type: EventType | undefined;
  process: number;
  time: number;
  index: number;
  /** Where `:value` stands; -1 when it is absent or nil. */
  valueFrom: number;
  valueTo: number;
}

const word = (text: string): readonly number[] => Array.from(text, (char) => char.charCodeAt(0));
const typeWords = eventTypes.map(word);
const txnWord = word('txn');
const nilWord = word('nil');
const appendWord = word('append');

export class EventScanner {
  #bytes: Buffer = Buffer.alloc(0);
  #at = 0;
  #end = 0;
  #name: KvName = 0;
  #integerOk = false;
  #ops = new MicroOps();
  readonly event: ScannedEvent = {
    type: undefined,
    process: Number.NaN,
    time: Number.NaN,
    index: Number.NaN,
    valueFrom: -1,
    valueTo: -1,
  };

  /**
   * Scans the map that begins at `at` into `event`, and its operations into `ops`; the place after it, or -1 if the
   * general reader is needed.
   */
  scan(bytes: Buffer, at: number, end: number, ops: MicroOps): number {
    this.#bytes = bytes;
    this.#ops = ops;
    this.#at = at;
    this.#end = end;
    const { event } = this;
    event.type = undefined;
    event.process = event.time = event.index = Number.NaN;
    event.valueFrom = event.valueTo = -1;
    if (bytes[this.#at++] !== 123) return -1;
    for (;;) {
      const byte = this.#space();
      if (byte === 125) return this.#at + 1;
      if (byte !== 58 || !this.#field()) return -1;
    }
  }

  /** Reads micro-operations `[[:append 3 1] …]` that were scanned before. */
  readOps(bytes: Buffer, ops: MicroOps): void {
    this.#bytes = bytes;
    this.#at = 0;
    this.#end = bytes.length;
    this.#ops = ops;
    this.#opsHere();
  }

  #field(): boolean {
    const bytes = this.#bytes;
    const from = this.#at + 1;
    let to = from;
    while (to < this.#end && bytes[to]! > 32 && bytes[to] !== 44) to++;
    this.#at = to;
    const { event } = this;
    // Names of the fields we know differ in their first two letters or their length.
    switch ((bytes[from]! << 8) | (to - from)) {
      case (116 << 8) | 4: // type, time
        if (bytes[from + 1] === 121) return this.#type();
        event.time = this.#integer();
        break;
      case (105 << 8) | 5: // index
        event.index = this.#integer();
        break;
      case (112 << 8) | 7: // process
        event.process = this.#integer();
        break;
      case (102 << 8) | 1: // f
        return this.#space() === 58 && this.#matches(txnWord, this.#at + 1);
      case (118 << 8) | 5: // value
        return this.#value();
      default:
        return false;
    }
    return this.#integerOk;
  }

  #type(): boolean {
    if (this.#space() !== 58) return false;
    // They differ in their first letter, or in their third.
    const bytes = this.#bytes;
    const first = bytes[this.#at + 1];
    const at = first === 111 ? 1 : first === 102 ? 2 : bytes[this.#at + 3] === 118 ? 0 : 3;
    if (!this.#matches(typeWords[at]!, this.#at + 1)) return false;
    this.event.type = eventTypes[at]!;
    return true;
  }

  #value(): boolean {
    if (this.#space() === 110) return this.#matches(nilWord, this.#at);
    this.event.valueFrom = this.#at;
    if (!this.#opsHere()) return false;
    this.event.valueTo = this.#at;
    return true;
  }

  #opsHere(): boolean {
    const ops = this.#ops;
    const bytes = this.#bytes;
    ops.clear();
    if (bytes[this.#at] !== 91) return false;
    for (let at = this.#at + 1; ; ) {
      while (at < this.#end && isSpace(bytes[at]!)) at++;
      if (at >= this.#end || bytes[at] !== 91) {
        this.#at = at + 1;
        return bytes[at] === 93;
      }
      const next = this.#plainOp(at);
      if (next >= 0) {
        at = next;
        continue;
      }
      this.#at = at + 1;
      if (!this.#microOp(ops)) return false;
      at = this.#at;
    }
  }

  /**
   * The operation at `at` as Jepsen prints it, with one space between its parts and small integers for keys and values; the place
   * after it, or -1 if it is written in another way. Here the parser spends its time.
   */
  #plainOp(at: number): number {
    const bytes = this.#bytes;
    const end = this.#end;
    const letter = bytes[at + 2];
    let to = at + 4;
    if (letter === 97) {
      for (let i = 1; i < appendWord.length; i++) if (bytes[at + 2 + i] !== appendWord[i]) return -1;
      to = at + 9;
    } else if (letter !== 114 && letter !== 119) return -1;
    if (bytes[at + 1] !== 58 || bytes[to - 1] !== 32) return -1;
    let key = 0;
    let from = to;
    for (let digit = bytes[to]! - 48; digit >= 0 && digit <= 9; digit = bytes[++to]! - 48)
      key = key * 10 + digit;
    if (to === from || key >= firstNamedValue || to >= end || bytes[to] !== 32) return -1;
    from = ++to;
    if (letter === 114 && bytes[to] === 91) {
      this.#at = to;
      if (!this.#integers(key)) return -1;
      if (this.#at < end && bytes[this.#at] === 93) return this.#at + 1;
      this.#ops.dropLast();
      return -1;
    }
    if (letter === 114 && bytes[to] === 110) {
      if (to + 3 >= end || bytes[to + 1] !== 105 || bytes[to + 2] !== 108 || bytes[to + 3] !== 93) return -1;
      this.#ops.read(key, null);
      return to + 4;
    }
    let value = 0;
    for (let digit = bytes[to]! - 48; digit >= 0 && digit <= 9; digit = bytes[++to]! - 48)
      value = value * 10 + digit;
    if (to === from || value >= firstNamedValue || to >= end || bytes[to] !== 93) return -1;
    if (letter === 97) this.#ops.append(key, value);
    else if (letter === 119) this.#ops.write(key, value);
    else this.#ops.read(key, value);
    return to + 1;
  }

  #microOp(ops: MicroOps): boolean {
    const bytes = this.#bytes;
    if (this.#space() !== 58) return false;
    const letter = bytes[this.#at + 1];
    const isAppend = letter === 97;
    if (isAppend ? !this.#matches(appendWord, this.#at + 1) : !this.#singleLetter()) return false;
    if (!this.#nameHere()) return false;
    const key = this.#name;
    const byte = this.#space();
    if (letter === 114) {
      if (byte === 91) {
        if (!this.#list(key)) return false;
      } else if (byte === 110) {
        if (!this.#matches(nilWord, this.#at)) return false;
        ops.read(key, null);
      } else if (this.#nameHere()) ops.read(key, this.#name);
      else return false;
    } else {
      if (!this.#nameHere()) return false;
      if (isAppend) ops.append(key, this.#name);
      else ops.write(key, this.#name);
    }
    return this.#space() === 93 && this.#at++ >= 0;
  }

  /** `:r` or `:w`. */
  #singleLetter(): boolean {
    const letter = this.#bytes[this.#at + 1];
    if ((letter !== 114 && letter !== 119) || !isSpace(this.#bytes[this.#at + 2]!)) return false;
    this.#at += 2;
    return true;
  }

  #list(key: KvName): boolean {
    const start = this.#at;
    if (this.#integers(key)) return true;
    this.#at = start + 1;
    const list: KvName[] = [];
    for (;;) {
      if (this.#space() === 93) {
        this.#at++;
        this.#ops.read(key, list);
        return true;
      }
      if (!this.#nameHere()) return false;
      list.push(this.#name);
    }
  }

  /** Most bytes of a file stand in lists of small integers, so those are read on the spot; false if this is none. */
  #integers(key: KvName): boolean {
    const bytes = this.#bytes;
    const end = this.#end;
    const { integers } = this.#ops;
    const from = integers.length;
    let at = this.#at + 1;
    while (at < end) {
      let digit = bytes[at]! - 48;
      if (digit >= 0 && digit <= 9) {
        let number = digit;
        for (digit = bytes[++at]! - 48; digit >= 0 && digit <= 9; digit = bytes[++at]! - 48)
          number = number * 10 + digit;
        if (number >= firstNamedValue || at >= end) break;
        integers.push(number);
      }
      // Nearly always one space, or the end of the list.
      const byte = bytes[at]!;
      if (byte === 93) {
        this.#at = at + 1;
        this.#ops.readIntegers(key, from);
        return true;
      }
      if (!isSpace(byte)) break;
      at++;
    }
    integers.length = from;
    return false;
  }

  /** Reads an integer, keyword or plain string into `#name`. */
  #nameHere(): boolean {
    const bytes = this.#bytes;
    const byte = this.#space();
    if (byte === 34) {
      let to = this.#at + 1;
      for (; to < this.#end && bytes[to] !== 34; to++) if (bytes[to]! > 126 || bytes[to] === 92) return false;
      if (to >= this.#end) return false;
      this.#name = bytes.toString('latin1', this.#at + 1, to);
      this.#at = to + 1;
      return true;
    }
    if (byte === 58) {
      let to = this.#at + 1;
      while (to < this.#end && isNameByte(bytes[to]!)) to++;
      if (to >= this.#end || !isEnd(bytes[to]!)) return false;
      this.#name = bytes.toString('latin1', this.#at, to);
      this.#at = to;
      return true;
    }
    this.#name = this.#integer();
    return this.#integerOk;
  }

  /** A decimal integer of at most 15 digits; otherwise NaN, and `#integerOk` is false. */
  #integer(): number {
    const bytes = this.#bytes;
    this.#integerOk = false;
    let at = this.#at;
    while (at < this.#end && isSpace(bytes[at]!)) at++;
    const negative = bytes[at] === 45;
    if (negative) at++;
    const from = at;
    let number = 0;
    for (; at < this.#end; at++) {
      const digit = bytes[at]! - 48;
      if (digit < 0 || digit > 9) break;
      number = number * 10 + digit;
    }
    if (at === from || at - from > 15 || at >= this.#end || !isEnd(bytes[at]!)) return Number.NaN;
    this.#at = at;
    this.#integerOk = true;
    return negative && number !== 0 ? -number : number;
  }

  /** Whether the letters stand at `from` and end there; moves past them. */
  #matches(letters: readonly number[], from: number): boolean {
    const bytes = this.#bytes;
    const to = from + letters.length;
    if (to >= this.#end) return false;
    for (let i = 0; i < letters.length; i++) if (bytes[from + i] !== letters[i]) return false;
    if (!isEnd(bytes[to]!)) return false;
    this.#at = to;
    return true;
  }

  #space(): number {
    const bytes = this.#bytes;
    while (this.#at < this.#end && isSpace(bytes[this.#at]!)) this.#at++;
    return this.#at < this.#end ? bytes[this.#at]! : -1;
  }
}

const isSpace = (byte: number): boolean =>
  byte === 32 || byte === 44 || byte === 10 || byte === 13 || byte === 9;

const isEnd = (byte: number): boolean => isSpace(byte) || byte === 93 || byte === 125;

/** Letters, digits and `-_.`: the keywords that need no further thought. */
const isNameByte = (byte: number): boolean =>
  (byte >= 97 && byte <= 122) ||
  (byte >= 65 && byte <= 90) ||
  (byte >= 48 && byte <= 57) ||
  byte === 45 ||
  byte === 95 ||
  byte === 46;
