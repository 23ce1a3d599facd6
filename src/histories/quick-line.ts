/**
 * Reads the lines of a history straight from their bytes, several times faster than `JSON.parse` and a validation,
 * if they are what `operation-line.ts` writes for ordinary statements: its fields in its order, ASCII text without
 * escapes, integers, NULL and booleans. At anything else it gives up, and the line goes the general way.
 *
 * It must never accept what the general way refuses, nor read it differently; a test compares the two.
 */
import type { Operation, OperationKind } from './history.js';

type Writable<T> = { -readonly [K in keyof T]: T[K] };
type Plain = null | boolean | number | string;

const quickKinds: readonly OperationKind[] = [
  'select',
  'update',
  'insert',
  'begin',
  'commit',
  'rollback',
  'delete',
  'read',
  'write',
  'append',
];
const kinds = quickKinds.map((kind) => ({ kind, bytes: ascii(`${kind}"`) }));

const indexKey = ascii('{"index":');
const sessionKey = ascii(',"session":');
const transactionKey = ascii(',"transaction":');
const kindKey = ascii(',"kind":"');
const statementKey = ascii(',"statement":[');
const sqlKey = ascii(',"sql":"');
const startKey = ascii(',"start":');
const endKey = ascii(',"end":');
const okOutcome = ascii(',"outcome":"ok"');
const commitEnds = ascii(',"ends":"commit"');
const rollbackEnds = ascii(',"ends":"rollback"');
const columnsKey = ascii(',"columns":[');
const rowsKey = ascii(',"rows":[');
const matchedKey = ascii(',"matched":');
const changedKey = ascii(',"changed":');
const trueWord = ascii('true');
const falseWord = ascii('false');
const nullWord = ascii('null');

const comma = 44;
const quote = 34;
const open = 91;
const close = 93;
const lineBreak = 10;

function ascii(text: string): Uint8Array {
  return Uint8Array.from(text, (char) => char.charCodeAt(0));
}

/** Marks what no JSON value is. */
const nothing = Symbol('nothing');

export class QuickLines {
  /** Where the next line begins, after a successful `read`. */
  next = 0;
  private bytes: Buffer = Buffer.alloc(0);
  private at = 0;
  /** The column list of the line before: mostly the same again. */
  private lastColumns: { readonly bytes: Buffer; readonly names: string[] } | undefined;

  constructor(private readonly sessionCount: number) {}

  /** The operation on the line that begins at `from`, or undefined if the line needs the general way. */
  read(bytes: Buffer, from: number, index: number): Operation | undefined {
    this.bytes = bytes;
    this.at = from;
    if (!this.skip(indexKey) || this.integer() !== index || !this.skip(sessionKey)) return undefined;
    const session = this.integer();
    if (session < 0 || session >= this.sessionCount || !this.skip(transactionKey)) return undefined;
    const transaction = this.integer();
    if (transaction < 0 || !this.skip(kindKey)) return undefined;
    const kind = this.kind();
    if (kind === undefined || !this.skip(statementKey)) return undefined;
    const statementSession = this.integer();
    if (statementSession < 0 || !this.skipByte(comma)) return undefined;
    const position = this.integer();
    if (position < 0 || !this.skipByte(close) || !this.skip(sqlKey)) return undefined;
    const sql = this.text();
    if (sql === undefined || !this.skip(startKey)) return undefined;
    const start = this.integer();
    if (start < 0 || !this.skip(endKey)) return undefined;
    const end = this.integer();
    if (end < start || !this.skip(okOutcome)) return undefined;
    const op: Writable<Operation> = {
      index,
      session,
      transaction,
      kind,
      statement: [statementSession, position],
      sql,
      start,
      end,
      outcome: 'ok',
    };
    return this.rest(op) ? op : undefined;
  }

  private rest(op: Writable<Operation>): boolean {
    if (this.skip(commitEnds)) op.ends = 'commit';
    else if (this.skip(rollbackEnds)) op.ends = 'rollback';
    if (this.skip(columnsKey)) {
      const columns = this.columns();
      if (columns === undefined) return false;
      op.columns = columns;
    }
    if (this.skip(rowsKey)) {
      const rows = this.rows();
      if (rows === undefined) return false;
      op.rows = rows;
    }
    if (this.skip(matchedKey)) {
      op.matched = this.integer();
      if (op.matched < 0) return false;
    }
    if (this.skip(changedKey)) {
      op.changed = this.integer();
      if (op.changed < 0) return false;
    }
    if (!this.skipByte(125)) return false;
    if (this.at < this.bytes.length && this.bytes[this.at] !== lineBreak) return false;
    this.next = this.at + 1;
    return true;
  }

  private skip(word: Uint8Array): boolean {
    const { bytes, at } = this;
    for (let i = 0; i < word.length; i++) if (bytes[at + i] !== word[i]) return false;
    this.at = at + word.length;
    return true;
  }

  private skipByte(byte: number): boolean {
    if (this.bytes[this.at] !== byte) return false;
    this.at++;
    return true;
  }

  /** An integer from 0 to 999999999999999 as JSON writes it; −1 for anything else. */
  private integer(): number {
    const { bytes } = this;
    const from = this.at;
    let at = from;
    let number = 0;
    for (let digit = bytes[at]! - 48; digit >= 0 && digit <= 9; digit = bytes[++at]! - 48) {
      number = number * 10 + digit;
    }
    this.at = at;
    const length = at - from;
    if (length === 0 || length > 15 || (length > 1 && bytes[from] === 48)) return -1;
    // A fraction or an exponent follows.
    const after = bytes[at];
    return after === 46 || after === 101 || after === 69 ? -1 : number;
  }

  private kind(): OperationKind | undefined {
    for (const { kind, bytes } of kinds) if (this.skip(bytes)) return kind;
    return undefined;
  }

  /** The rest of a text after its opening quote; undefined if it holds anything but plain ASCII. */
  private text(): string | undefined {
    const { bytes } = this;
    const from = this.at;
    let at = from;
    for (let byte = bytes[at]; byte !== quote; byte = bytes[++at]) {
      if (byte === undefined || byte < 32 || byte > 126 || byte === 92) return undefined;
    }
    this.at = at + 1;
    return bytes.toString('latin1', from, at);
  }

  private columns(): string[] | undefined {
    const last = this.lastColumns;
    if (last !== undefined && this.skip(last.bytes)) return last.names;
    const from = this.at;
    const names = this.list();
    if (names === undefined || !names.every((name) => typeof name === 'string')) return undefined;
    this.lastColumns = { bytes: Buffer.from(this.bytes.subarray(from, this.at)), names };
    return names;
  }

  private rows(): Plain[][] | undefined {
    const rows: Plain[][] = [];
    if (this.skipByte(close)) return rows;
    do {
      if (!this.skipByte(open)) return undefined;
      const row = this.list();
      if (row === undefined) return undefined;
      rows.push(row);
    } while (this.skipByte(comma));
    return this.skipByte(close) ? rows : undefined;
  }

  /** The values of a list after its opening bracket. */
  private list(): Plain[] | undefined {
    const values: Plain[] = [];
    if (this.skipByte(close)) return values;
    do {
      const value = this.value();
      if (value === nothing) return undefined;
      values.push(value);
    } while (this.skipByte(comma));
    return this.skipByte(close) ? values : undefined;
  }

  private value(): Plain | typeof nothing {
    if (this.skipByte(quote)) return this.text() ?? nothing;
    if (this.skip(nullWord)) return null;
    if (this.skip(trueWord)) return true;
    if (this.skip(falseWord)) return false;
    const negative = this.skipByte(45);
    const number = this.integer();
    if (number < 0 || (negative && number === 0)) return nothing;
    return negative ? -number : number;
  }
}
