/**
 * The fast way through Elle's JSON: recognises, byte by byte, the one shape nearly every event has,
 * `{"type":"ok","f":"txn","value":[["append",3,1],["r",4,[1,2]]],"process":2,"time":123,"index":4}` with its members in any
 * order. Everything else is left to the general reader.
 */
import type { KvName } from '../kv-history.js';
import { type EventType, eventTypes } from './edn-event.js';
import type { EventHead } from './event-head.js';
import { JsonScanner, letters } from './json-scanner.js';
import type { MicroOps } from './micro-ops.js';

const typeName = letters('type');
const fName = letters('f');
const valueName = letters('value');
const numberNames = ['process', 'time', 'index'].map(
  (name) => [name as 'process' | 'time' | 'index', letters(name)] as const,
);
const typeWords = eventTypes.map((type) => [type, letters(type)] as const);
const txn = letters('txn');
const append = letters('append');
const read = letters('r');
const write = letters('w');

export class JsonEventScanner {
  readonly #scanner = new JsonScanner();
  #type: EventType | undefined;
  readonly #numbers = { process: Number.NaN, time: Number.NaN, index: Number.NaN };
  /** Where the operations stand; -1 where there are none. */
  valueFrom = -1;
  valueTo = -1;

  /** Scans the event that begins at `at` and its operations into `ops`; the place after it, or -1. */
  scan(bytes: Buffer, at: number, end: number, ops: MicroOps): number {
    const scanner = this.#scanner;
    scanner.set(bytes, at, end);
    this.#type = undefined;
    this.#numbers.process = this.#numbers.time = this.#numbers.index = Number.NaN;
    this.valueFrom = -1;
    if (!scanner.take(123)) return -1;
    do {
      if (!this.#member(ops)) return -1;
    } while (scanner.take(44));
    if (!scanner.take(125) || this.#type === undefined || this.valueFrom < 0) return -1;
    return this.#numbers.process >= 0 ? scanner.at : -1;
  }

  head(): EventHead {
    return { type: this.#type!, ...this.#numbers };
  }

  /** Reads operations that were scanned before. */
  readOps(bytes: Buffer, ops: MicroOps): void {
    this.#scanner.set(bytes, 0, bytes.length);
    this.#ops(ops);
  }

  #member(ops: MicroOps): boolean {
    const scanner = this.#scanner;
    if (scanner.text(typeName)) {
      if (!scanner.take(58)) return false;
      this.#type = typeWords.find(([, word]) => scanner.text(word))?.[0];
      return this.#type !== undefined;
    }
    if (scanner.text(valueName)) {
      if (!scanner.take(58) || scanner.peek() !== 91) return false;
      this.valueFrom = scanner.at;
      const isRead = this.#ops(ops);
      this.valueTo = scanner.at;
      return isRead;
    }
    for (const [name, word] of numberNames) {
      if (!scanner.text(word)) continue;
      if (!scanner.take(58) || !scanner.integer()) return false;
      this.#numbers[name] = scanner.found as number;
      return true;
    }
    return scanner.member(fName) && scanner.text(txn);
  }

  #ops(ops: MicroOps): boolean {
    const scanner = this.#scanner;
    ops.clear();
    if (!scanner.take(91)) return false;
    if (scanner.take(93)) return true;
    do {
      if (!scanner.take(91) || !this.#op(ops) || !scanner.take(93)) return false;
    } while (scanner.take(44));
    return scanner.take(93);
  }

  #op(ops: MicroOps): boolean {
    const scanner = this.#scanner;
    const kind = scanner.text(append)
      ? append
      : scanner.text(read)
        ? read
        : scanner.text(write)
          ? write
          : undefined;
    if (kind === undefined || !scanner.take(44) || !scanner.name()) return false;
    const key = scanner.found as KvName;
    if (!scanner.take(44)) return false;
    if (kind === read && scanner.peek() === 91) {
      const list = this.#list();
      if (list !== undefined) ops.read(key, list);
      return list !== undefined;
    }
    if (kind === read && scanner.peek() === 110) {
      if (!scanner.literal()) return false;
      ops.read(key, null);
      return true;
    }
    if (!scanner.name()) return false;
    const value = scanner.found as KvName;
    if (kind === read) ops.read(key, value);
    else if (kind === append) ops.append(key, value);
    else ops.write(key, value);
    return true;
  }

  #list(): KvName[] | undefined {
    const scanner = this.#scanner;
    const list: KvName[] = [];
    scanner.take(91);
    if (scanner.take(93)) return list;
    do {
      if (!scanner.name()) return undefined;
      list.push(scanner.found as KvName);
    } while (scanner.take(44));
    return scanner.take(93) ? list : undefined;
  }
}
