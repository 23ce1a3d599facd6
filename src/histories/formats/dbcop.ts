/**
 * dbcop's histories: bincode (version 1: fixed-width little-endian integers) and JSON. Sessions are lists of
 * transactions, transactions lists of events. Version 0, or none, is the initial state; an event that did not
 * succeed is left out, a transaction that did not is aborted.
 */
import { JsonNode, parseJson } from '../../json.js';
import { settleZeros } from '../initial-values.js';
import { KvBuilder } from '../kv-builder.js';
import type { KvName } from '../kv-history.js';
import { BinaryReader } from './binary-reader.js';
import { scanDbcop } from './dbcop-scan.js';
import { jsonName } from './elle-json.js';
import { parseExactJson } from './exact-json.js';
import type { FormatInput, Imported } from './format.js';
import { MicroOps } from './micro-ops.js';
import { addRegisterOp } from './plume.js';
import { allBytes, allUtf8 } from './whole-file.js';

/** The smallest event, transaction and session, for counts that cannot be true. */
const leastEventBytes = 18;
const leastTransactionBytes = 9;
const leastSessionBytes = 8;

export async function readDbcop(input: FormatInput): Promise<Imported> {
  const reader = new BinaryReader(await allBytes(input.bytes(), input.shown), input.shown, true);
  const builder = new KvBuilder({ definitions: 'axiomatic' });
  readHeader(reader);
  const sessions = reader.count('the number of sessions', leastSessionBytes);
  const ops = new MicroOps();
  for (let session = 0; session < sessions; session++) {
    const transactions = reader.count('the number of transactions', leastTransactionBytes);
    for (let t = 0; t < transactions; t++) {
      ops.clear();
      const events = reader.count('the number of events', leastEventBytes);
      for (let e = 0; e < events; e++) {
        const isWrite = reader.flag('whether the event writes');
        const key = reader.integer('a variable');
        const value = reader.integer('a value');
        if (reader.flag('whether the event succeeded')) addRegisterOp(ops, isWrite, key, value);
      }
      send(builder, session, ops, reader.flag('whether the transaction succeeded'));
    }
  }
  if (!reader.atEnd()) reader.fail('the end of the file');
  return { kind: 'kv', history: settleZeros(builder.build(), 'either') };
}

function readHeader(reader: BinaryReader): void {
  for (const field of ['id', 'nodes', 'variables', 'transactions', 'events']) reader.integer(field);
  for (const field of ['info', 'start', 'end']) reader.text(`the text "${field}"`);
}

/** Whether bytes begin like a bincode history: the header is plausible as far as it is given. */
export function looksLikeDbcop(head: Buffer): boolean {
  if (head.length < 72) return false;
  for (let i = 1; i < 5; i++) if (head.readUInt32LE(i * 8 + 4) !== 0) return false;
  try {
    readHeader(new BinaryReader(head, '', true));
    return true;
  } catch {
    return false;
  }
}

export async function readDbcopJson(input: FormatInput): Promise<Imported> {
  const bytes = await allUtf8(input.bytes(), input.shown);
  const scanned = scanDbcop(bytes);
  if (scanned !== undefined) return { kind: 'kv', history: settleZeros(scanned, 'either') };
  const text = bytes.toString('utf8');
  const parsed = parseExactJson(text);
  const outer =
    parsed === undefined
      ? parseJson(text, input.shown)
      : new JsonNode(parsed.value, [], { text, file: input.shown, firstLine: 1 });
  if (parsed === undefined) outer.fail('it is nested too deeply');
  const root = Array.isArray(outer.value) ? outer : dataOf(outer);
  const builder = new KvBuilder({ definitions: 'axiomatic' });
  const ops = new MicroOps();
  root.items().forEach((session, s) => {
    for (const transaction of session.items()) {
      transaction.members();
      ops.clear();
      for (const event of transaction.at('events').items()) addEvent(event, ops);
      const committed = transaction.at('committed');
      if (committed.value !== undefined && typeof committed.value !== 'boolean')
        committed.fail('expected true or false');
      send(builder, s, ops, committed.value !== false);
    }
  });
  return { kind: 'kv', history: settleZeros(builder.build(), 'either') };
}

function dataOf(outer: JsonNode): JsonNode {
  outer.members();
  return outer.at('data');
}

function addEvent(event: JsonNode, ops: MicroOps): void {
  const [kind] = event.members();
  if (kind !== 'Write' && kind !== 'Read') event.fail('expected {"Write": {…}} or {"Read": {…}}');
  const body = event.at(kind);
  body.members();
  const variable = name(body.at('variable'));
  const version = body.at('version');
  const nothing = version.value === null || version.value === undefined;
  if (nothing && kind === 'Write') version.fail('expected the version written');
  addRegisterOp(ops, kind === 'Write', variable, nothing ? null : name(version));
}

function name(node: JsonNode): KvName {
  const { value } = node;
  if (typeof value !== 'number' && typeof value !== 'string') node.fail('expected a number or a text');
  return jsonName(value);
}

function send(builder: KvBuilder, session: number, ops: MicroOps, committed: boolean): void {
  builder.begin(session);
  ops.sendTo(builder, true);
  builder.end(committed ? 'committed' : 'aborted');
}
