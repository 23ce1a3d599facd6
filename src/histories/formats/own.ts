/**
 * Isolde's own history files. One whose operations are bare reads, writes and appends is a key-value history and
 * goes into columns; every other is one of SQL statements.
 *
 * Keys are `object`s, which are texts: a number is written as its digits, and a text that looks like a number or
 * begins with a quote is put in quotes, so that `1` and `'1'` stay apart. A time that was not recorded is
 * written as the widest interval there is, which says as little: start 0, end 2^53 − 1.
 */
import { FileError } from '../../errors.js';
import { isValue, type Value, valueKey } from '../../sql/index.js';
import type { Access, HistoryHeader, Operation } from '../history.js';
import { historyBlockBytes, readHistoryBytes } from '../history-reader.js';
import { KvBuilder } from '../kv-builder.js';
import {
  type KvHistory,
  type KvName,
  kvAppend,
  kvInitial,
  kvRead,
  kvUnseen,
  kvWrite,
  listOf,
  statusOf,
  valueName,
} from '../kv-history.js';
import type { FormatInput, Imported } from './format.js';

/** An end that was not recorded. */
const noEnd = Number.MAX_SAFE_INTEGER;
const controlKinds: ReadonlySet<string> = new Set(['begin', 'commit', 'rollback']);
const kvKinds: ReadonlySet<string> = new Set(['read', 'write', 'append']);

export async function readOwn(input: FormatInput): Promise<Imported> {
  const reader = await readHistoryBytes(input.shown, input.bytes(undefined, historyBlockBytes));
  const operations: Operation[] = [];
  let collector: KvCollector | undefined;
  let isSql = reader.header.setup !== undefined;
  for await (const some of reader.operations) {
    for (const op of some) {
      if (collector !== undefined) {
        collector.add(op, input.shown);
        continue;
      }
      operations.push(op);
      if (isSql || controlKinds.has(op.kind)) continue;
      if (kvKinds.has(op.kind)) {
        collector = new KvCollector(reader.header);
        for (const earlier of operations) collector.add(earlier, input.shown);
        operations.length = 0;
      } else isSql = true;
    }
  }
  if (collector === undefined && !isSql && operations.every((op) => op.sql === undefined)) {
    collector = new KvCollector(reader.header);
    for (const op of operations) collector.add(op, input.shown);
  }
  const missing = reader.omitted.length > 0 && { omitted: reader.omitted };
  if (collector !== undefined) return { kind: 'kv', history: { ...collector.build(), ...missing } };
  return { kind: 'sql', header: { ...reader.header, ...missing }, operations };
}

interface OpenTransaction {
  readonly session: number;
  readonly start: number;
  readonly accesses: Access[];
  end: number;
}

class KvCollector {
  readonly #builder = new KvBuilder();
  readonly #open = new Map<number, OpenTransaction>();
  readonly #sessions: readonly KvName[];

  constructor(header: HistoryHeader) {
    this.#sessions = header.sessions.map(numberOrText);
  }

  add(op: Operation, file: string): void {
    if (!kvKinds.has(op.kind) && !controlKinds.has(op.kind)) {
      throw new FileError(
        { file, line: op.index + 2, field: 'kind' },
        `expected read, write, append, begin, commit or rollback in a history of keys and values, found ${op.kind}`,
      );
    }
    let open = this.#open.get(op.transaction);
    if (open === undefined) {
      open = { session: op.session, start: op.start, accesses: [], end: noEnd };
      this.#open.set(op.transaction, open);
    }
    open.end = op.end ?? noEnd;
    // What failed has changed nothing and shown nothing.
    if (op.outcome !== 'error') for (const access of op.accesses ?? []) open.accesses.push(access);
    if (op.ends !== undefined) this.#close(op.transaction, open, op.ends);
  }

  build(): KvHistory {
    for (const [transaction, open] of this.#open) this.#close(transaction, open, 'unknown');
    return this.#builder.build();
  }

  #close(transaction: number, open: OpenTransaction, ends: 'commit' | 'rollback' | 'unknown'): void {
    this.#open.delete(transaction);
    const end = open.end === noEnd || ends === 'unknown' ? Number.NaN : open.end;
    const start = open.start === 0 && open.end === noEnd ? Number.NaN : open.start;
    this.#builder.begin(this.#sessions[open.session]!, start, transaction);
    for (const access of open.accesses) addAccess(this.#builder, access);
    this.#builder.end(ends === 'commit' ? 'committed' : ends === 'rollback' ? 'aborted' : 'unknown', end);
  }
}

function addAccess(builder: KvBuilder, { mode, object, value }: Access): void {
  const key = keyOf(object);
  if (mode === 'read') {
    if (Array.isArray(value)) builder.readList(key, (value as readonly Value[]).map(nameOfValue));
    else
      builder.read(
        key,
        value === undefined ? undefined : value === null ? null : nameOfValue(value as Value),
      );
  } else if (mode === 'append') builder.append(key, nameOfValue((value ?? null) as Value));
  // A deleted key holds nothing that can be told from a write of nothing.
  else builder.write(key, value === undefined || value === null ? null : nameOfValue(value as Value));
}

function nameOfValue(value: Value | Readonly<Record<string, Value>>): KvName {
  if (typeof value === 'number' || typeof value === 'string') return value;
  return isValue(value) ? valueKey(value) : JSON.stringify(value);
}

function keyOf(object: string): KvName {
  if (!object.startsWith('"')) return numberOrText(object);
  try {
    const text: unknown = JSON.parse(object);
    return typeof text === 'string' ? text : object;
  } catch {
    return object;
  }
}

/** A number where the text is exactly how one is printed. */
function numberOrText(text: string): KvName {
  const number = Number(text);
  return Number.isFinite(number) && String(number) === text ? number : text;
}

function objectOf(key: KvName): string {
  if (typeof key === 'number') return String(key);
  return key.startsWith('"') || typeof numberOrText(key) === 'number' ? JSON.stringify(key) : key;
}

/** The header of a key-value history as one of our files. */
export function kvHeader(history: KvHistory): HistoryHeader {
  const { omitted = [] } = history;
  return { sessions: uniqueTexts(history.sessionNames), ...(omitted.length > 0 && { omitted }) };
}

/** A key-value history as operations, transaction by transaction. */
export function* kvOperations(history: KvHistory): Generator<Operation, void, undefined> {
  const numbers = transactionNumbers(history);
  let index = 0;
  for (let tx = 0; tx < history.txCount; tx++) {
    const status = statusOf(history, tx);
    const ends = status === 'committed' ? 'commit' : status === 'aborted' ? 'rollback' : 'unknown';
    const from = history.opOffsets[tx]!;
    const to = history.opOffsets[tx + 1]!;
    const start = integerTime(history.txStart?.[tx], 0, Math.floor);
    const common = {
      session: history.txSession[tx]!,
      transaction: numbers(tx),
      start,
      end: Math.max(start, integerTime(history.txEnd?.[tx], noEnd, Math.ceil)),
      outcome: 'ok',
    } as const;
    if (from === to) {
      const kind = ends === 'rollback' ? 'rollback' : 'commit';
      yield { index: index++, kind, ...common, ends };
    }
    for (let op = from; op < to; op++) {
      const access = accessOf(history, op);
      const kind = access.mode === 'delete' ? 'write' : access.mode;
      yield { index: index++, kind, ...common, ...(op === to - 1 && { ends }), accesses: [access] };
    }
  }
}

function accessOf(history: KvHistory, op: number): Access {
  const object = objectOf(history.keyNames[history.opKey[op]!]!);
  const value = history.opValue[op]!;
  const kind = history.opKind[op]!;
  if (kind === kvAppend) return { mode: 'append', object, value: valueName(history, value) };
  if (kind === kvWrite) {
    const name = valueName(history, value);
    return { mode: 'write', object, value: Number.isNaN(name) ? null : name };
  }
  if (value === kvUnseen) return { mode: 'read', object };
  if (kind === kvRead) {
    return {
      mode: 'read',
      object,
      value:
        value === kvInitial || Number.isNaN(valueName(history, value)) ? null : valueName(history, value),
    };
  }
  return { mode: 'read', object, value: Array.from(listOf(history, op), (id) => valueName(history, id)) };
}

/** The numbers transactions have in their file, if they all have different ones; else their positions. */
function transactionNumbers(history: KvHistory): (tx: number) => number {
  const { txLabel } = history;
  if (txLabel?.every((label) => Number.isSafeInteger(label) && label >= 0) !== true) return (tx) => tx;
  return new Set(txLabel).size === history.txCount ? (tx) => txLabel[tx]! : (tx) => tx;
}

function integerTime(time: number | undefined, missing: number, round: (time: number) => number): number {
  if (time === undefined || Number.isNaN(time)) return missing;
  return Math.min(noEnd, Math.max(0, round(time)));
}

function uniqueTexts(names: readonly KvName[]): string[] {
  const texts = new Set<string>();
  for (const name of names) {
    let text = String(name);
    while (texts.has(text)) text = `${text}'`;
    texts.add(text);
  }
  return [...texts];
}
