/**
 * Plume's and PolySI's text: one operation per line, `r(key,value,session,txn)` or `w(…)`, in program order.
 * Every key holds 0 from the start, so a read of 0 may be of the initial state. Transaction −1 is whatever was aborted: such lines carry no number of
 * their own, so a run of them within a session counts as one aborted transaction.
 */
import { FileError } from '../../errors.js';
import { settleZeros } from '../initial-values.js';
import { KvBuilder } from '../kv-builder.js';
import type { KvHistory, KvName } from '../kv-history.js';
import type { FormatInput, Imported } from './format.js';
import { DigitScanner, type LineReader, scanLines } from './line-scan.js';
import { MicroOps } from './micro-ops.js';

const linePattern = /^\s*([rw])\(\s*([^,()]+?)\s*,\s*([^,()]+?)\s*,\s*(-?\d+)\s*,\s*(-?\d+)\s*\)\s*$/;
const aborted = -1;

interface Open {
  readonly txn: number;
  readonly ops: MicroOps;
}

export async function readPlume(input: FormatInput): Promise<Imported> {
  const reader = new PlumeLines(input.shown);
  await scanLines(input, reader);
  return { kind: 'kv', history: settleZeros(reader.finish(), 'either') };
}

class PlumeLines implements LineReader {
  readonly #shown: string;
  readonly #builder = new KvBuilder({ definitions: 'axiomatic' });
  readonly #open = new Map<number, Open>();
  /** The session of every transaction seen. */
  readonly #sessions = new Map<number, number>();
  readonly #digits = new DigitScanner();
  /** The transaction of the line before. */
  #session = Number.NaN;
  #current: Open | undefined;

  constructor(shown: string) {
    this.#shown = shown;
  }

  fast(bytes: Buffer, from: number, end: number): number {
    const kind = bytes[from];
    if ((kind !== 119 && kind !== 114) || bytes[from + 1] !== 40) return -1;
    const digits = this.#digits;
    let at = digits.scan(bytes, from + 2, end);
    const key = digits.number;
    if (at < 0 || bytes[at] !== 44) return -1;
    at = digits.scan(bytes, at + 1, end);
    const value = digits.number;
    if (at < 0 || bytes[at] !== 44) return -1;
    at = digits.scan(bytes, at + 1, end);
    const session = digits.number;
    if (at < 0 || bytes[at] !== 44) return -1;
    at = digits.scan(bytes, at + 1, end);
    const txn = digits.number;
    if (at < 0 || bytes[at] !== 41) return -1;
    const next = digits.lineEnd(bytes, at + 1, end);
    if (next < 0) return -1;
    let current = this.#current;
    if (session !== this.#session || current?.txn !== txn) {
      // What cannot be is left to the slow way to complain about.
      if (this.#open.get(session)?.txn !== txn && this.#sessions.has(txn)) return -1;
      current = this.#transaction(session, txn);
    }
    addRegisterOp(current.ops, kind === 119, key, value);
    return next;
  }

  slow(line: string, number: () => number): void {
    if (line.trim() === '') return;
    const match = linePattern.exec(line);
    if (match === null) {
      throw new FileError(
        { file: this.#shown, line: number() },
        `expected r(key,value,session,txn) or w(key,value,session,txn), found ${shown(line)}`,
      );
    }
    const session = Number(match[4]);
    const txn = Number(match[5]);
    if (!Number.isSafeInteger(session) || !Number.isSafeInteger(txn)) {
      const field = Number.isSafeInteger(session) ? 'txn' : 'session';
      throw new FileError(
        { file: this.#shown, line: number(), field },
        `expected an integer below 2^53, found ${shown(line)}`,
      );
    }
    if (this.#open.get(session)?.txn !== txn && txn !== aborted && this.#sessions.has(txn)) {
      throw new FileError(
        { file: this.#shown, line: number(), field: 'txn' },
        `transaction ${txn} had ended: it is of session ${this.#sessions.get(txn)}, and other operations came between`,
      );
    }
    const { ops } = this.#transaction(session, txn);
    addRegisterOp(ops, match[1] === 'w', textName(match[2]!), textName(match[3]!));
  }

  finish(): KvHistory {
    for (const session of this.#open.keys()) this.#close(session);
    return this.#builder.build();
  }

  /** The transaction that a line belongs to; the one before in its session ends where it begins. */
  #transaction(session: number, txn: number): Open {
    let current = this.#open.get(session);
    if (current?.txn !== txn) {
      if (current !== undefined) this.#close(session);
      // Operations are sent when a transaction ends, so their buffer serves the next one of the session.
      current = { txn, ops: current?.ops ?? new MicroOps() };
      current.ops.clear();
      this.#open.set(session, current);
      this.#sessions.set(txn, session);
    }
    this.#session = session;
    this.#current = current;
    return current;
  }

  #close(session: number): void {
    const { txn, ops } = this.#open.get(session)!;
    this.#builder.begin(session, undefined, txn === aborted ? undefined : txn);
    ops.sendTo(this.#builder, true);
    this.#builder.end(txn === aborted ? 'aborted' : 'committed');
  }
}

/** One operation on a register; `value` null: the initial state was read. */
export function addRegisterOp(ops: MicroOps, isWrite: boolean, key: KvName, value: KvName | null): void {
  if (isWrite) ops.write(key, value);
  else ops.read(key, value);
}

/** A word as a key or value: a number where it is the usual spelling of one. */
export function textName(word: string): KvName {
  if (word.length > 16) return word;
  const number = Number(word);
  return Number.isSafeInteger(number) && String(number) === word ? number : word;
}

export function shown(line: string): string {
  return JSON.stringify(line.length > 60 ? `${line.slice(0, 57)}...` : line);
}
