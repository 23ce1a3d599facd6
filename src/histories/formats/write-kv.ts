/**
 * Writes key-value histories as Jepsen EDN, Elle JSON or our own files. What the target cannot say is left out:
 * a read of a committed transaction whose result was not recorded would be taken for a read of the initial
 * state, so it is not written. Where a read of 0 may mean a write or the initial state, it has no result here.
 *
 * A file from which something is left out says so, lest a check of it find that a level holds: ours in its header, the other
 * two in a last event, `:info` of the function `omitted`, which nobody takes for a transaction.
 */
import { createWriteStream } from 'node:fs';
import { Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { errorText, IsoldeError } from '../../errors.js';
import { counted } from '../../words.js';
import { openHistoryWriter } from '../history-writer.js';
import {
  type KvHistory,
  type KvName,
  kvAppend,
  kvCommitted,
  kvInitial,
  kvRead,
  kvUnseen,
  kvWrite,
  listOf,
  statusOf,
  valueName,
} from '../kv-history.js';
import { type KvEvent, kvEvents } from './kv-events.js';
import { kvHeader, kvOperations } from './own.js';

export const writableFormats = ['isolde', 'jepsen', 'elle-json'] as const;
export type WritableFormat = (typeof writableFormats)[number];

/**
 * Writes a history; a name that ends in `.gz` is compressed. Elle's is a list where the name says `.json`, else lines.
 * Returns what is not in the file, as the file itself says.
 */
export async function writeKvHistory(
  path: string,
  given: KvHistory,
  format: WritableFormat,
): Promise<readonly string[]> {
  const history = withoutOpenZeros(given);
  const omitted = [...(given.omitted ?? []), ...(format === 'isolde' ? [] : readsLeftOut(history))];
  if (format === 'isolde') {
    const writer = await openHistoryWriter(path, kvHeader(history));
    try {
      for (const op of kvOperations(history)) {
        const full = writer.write(op);
        if (full !== undefined) await full;
      }
    } finally {
      await writer.close();
    }
    return omitted;
  }
  const asList = format === 'elle-json' && /\.json(\.gz)?$/.test(path);
  const steps: Writable = createWriteStream(path);
  const source = Readable.from(chunks(eventLines({ ...history, omitted }, format, asList)));
  try {
    if (path.endsWith('.gz')) await pipeline(source, createGzip({ level: 1 }), steps);
    else await pipeline(source, steps);
  } catch (cause) {
    throw new IsoldeError('file-system', `cannot write ${path}: ${errorText(cause)}`, { cause });
  }
  return omitted;
}

/** Reads of committed transactions whose result nobody knows. */
function readsLeftOut({ txCount, txStatus, opOffsets, opKind, opValue }: KvHistory): string[] {
  let count = 0;
  for (let tx = 0; tx < txCount; tx++) {
    if (txStatus[tx] !== kvCommitted) continue;
    for (let op = opOffsets[tx]!; op < opOffsets[tx + 1]!; op++)
      if (opKind[op]! < kvWrite && opValue[op] === kvUnseen) count++;
  }
  return count === 0 ? [] : [`${counted(count, 'read')} of committed transactions without a recorded result`];
}

function withoutOpenZeros(history: KvHistory): KvHistory {
  const { opKind, initialValue } = history;
  if (initialValue !== 0) return history;
  const opValue = history.opValue.map((value, op) =>
    opKind[op] === kvRead && value === 0 ? kvUnseen : value,
  );
  return { ...history, opValue };
}

/** The format a name asks for: `.edn` is Jepsen's, `.json` and `.jsonl` Elle's, `.history.jsonl` ours. */
export function formatOfName(path: string): WritableFormat | undefined {
  const name = path.toLowerCase().replace(/\.gz$/, '');
  if (name.endsWith('.edn')) return 'jepsen';
  if (name.endsWith('.history.jsonl')) return 'isolde';
  return /\.jsonl?$/.test(name) ? 'elle-json' : undefined;
}

/** The text of a history, event by event. */
export function* eventLines(
  history: KvHistory,
  format: 'jepsen' | 'elle-json',
  asList = false,
): Generator<string, void, undefined> {
  const print = format === 'jepsen' ? ednEvent : jsonEvent;
  let index = 0;
  if (asList) yield '[\n';
  for (const event of kvEvents(history)) {
    if (asList && index > 0) yield ',\n';
    yield print(history, event, index++);
    if (!asList) yield '\n';
  }
  const { omitted = [] } = history;
  if (omitted.length > 0) {
    if (asList && index > 0) yield ',\n';
    yield omittedEvent(format, index, omitted.join('; '));
    if (!asList) yield '\n';
  }
  if (asList) yield '\n]\n';
}

function omittedEvent(format: 'jepsen' | 'elle-json', index: number, why: string): string {
  const reason = JSON.stringify(why);
  return format === 'jepsen'
    ? `{:index ${index}, :type :info, :f :omitted, :value nil, :error ${reason}}`
    : `{"index":${index},"type":"info","f":"omitted","value":null,"error":${reason}}`;
}

function* chunks(texts: Iterable<string>): Generator<Buffer, void, undefined> {
  let parts: string[] = [];
  let length = 0;
  for (const text of texts) {
    parts.push(text);
    length += text.length;
    if (length < 256 * 1024) continue;
    yield Buffer.from(parts.join(''), 'utf8');
    parts = [];
    length = 0;
  }
  if (parts.length > 0) yield Buffer.from(parts.join(''), 'utf8');
}

function ednEvent(history: KvHistory, { type, tx, process, time }: KvEvent, index: number): string {
  const ops = microOps(history, tx, type === 'invoke', ednNotation).map(
    ([f, key, value]) => `[:${f} ${key} ${value}]`,
  );
  const timeField = Number.isNaN(time) ? '' : `:time ${printNumber(time)}, `;
  return `{:index ${index}, ${timeField}:type :${type}, :process ${process}, :f :txn, :value [${ops.join(' ')}]}`;
}

function jsonEvent(history: KvHistory, { type, tx, process, time }: KvEvent, index: number): string {
  const ops = microOps(history, tx, type === 'invoke', jsonNotation).map(
    ([f, key, value]) => `["${f}",${key},${value}]`,
  );
  const timeField = Number.isNaN(time) ? '' : `"time":${printNumber(time)},`;
  return `{"index":${index},${timeField}"type":"${type}","process":${process},"f":"txn","value":[${ops.join(',')}]}`;
}

/** How values are written. */
interface Notation {
  readonly print: (name: KvName) => string;
  readonly nothing: string;
  /** Between the elements of a list. */
  readonly between: string;
}

const ednNotation: Notation = { print: ednName, nothing: 'nil', between: ' ' };
const jsonNotation: Notation = { print: jsonText, nothing: 'null', between: ',' };

function microOps(
  history: KvHistory,
  tx: number,
  invoked: boolean,
  { print, nothing, between }: Notation,
): [string, string, string][] {
  const ops: [string, string, string][] = [];
  const committed = statusOf(history, tx) === 'committed';
  for (let op = history.opOffsets[tx]!; op < history.opOffsets[tx + 1]!; op++) {
    const key = print(history.keyNames[history.opKey[op]!]!);
    const value = history.opValue[op]!;
    const kind = history.opKind[op]!;
    const name = (id: number): string => print(valueName(history, id));
    if (kind === kvWrite) ops.push(['w', key, name(value)]);
    else if (kind === kvAppend) ops.push(['append', key, name(value)]);
    else if (value === kvUnseen && committed) continue;
    else if (invoked || value === kvUnseen) ops.push(['r', key, nothing]);
    else if (kind === kvRead) ops.push(['r', key, value === kvInitial ? nothing : name(value)]);
    else ops.push(['r', key, `[${Array.from(listOf(history, op), name).join(between)}]`]);
  }
  return ops;
}

function ednName(name: KvName): string {
  if (Number.isNaN(name)) return 'nil';
  if (typeof name === 'number') return printNumber(name);
  return /^:[A-Za-z][A-Za-z0-9._/-]*$/.test(name) ? name : JSON.stringify(name);
}

function jsonText(name: KvName): string {
  if (Number.isNaN(name)) return 'null';
  return typeof name === 'number' ? printNumber(name) : JSON.stringify(name);
}

/** A number that reads back as itself: integers no double holds exactly are left in scientific notation. */
function printNumber(number: number): string {
  return Number.isInteger(number) && !Number.isSafeInteger(number) ? number.toExponential() : String(number);
}
