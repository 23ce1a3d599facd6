/**
 * The fast way through dbcop's JSON: sessions of transactions of events in the order of members that dbcop writes, straight
 * from the bytes. Undefined where anything stands there that is not of that shape: then the general reader has its say.
 */
import { KvBuilder } from '../kv-builder.js';
import type { KvHistory, KvName } from '../kv-history.js';
import { parseJsonText } from './exact-json.js';
import { JsonScanner, letters } from './json-scanner.js';
import { MicroOps } from './micro-ops.js';
import { addRegisterOp } from './plume.js';

const events = letters('events');
const committed = letters('committed');
const writes = letters('Write');
const reads = letters('Read');
const variable = letters('variable');
const version = letters('version');

export function scanDbcop(bytes: Buffer): KvHistory | undefined {
  const scan = new DbcopScan(bytes);
  return scan.run() ? scan.builder.build() : undefined;
}

class DbcopScan {
  readonly builder = new KvBuilder({ definitions: 'axiomatic' });
  readonly #bytes: Buffer;
  readonly #scanner = new JsonScanner();
  readonly #ops = new MicroOps();

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  run(): boolean {
    const bytes = this.#bytes;
    const scanner = this.#scanner;
    scanner.set(bytes, 0, bytes.length);
    if (scanner.peek() === 91) return this.#sessions() && scanner.peek() === -1;
    // In an envelope the sessions are the member `data`; what surrounds them is small.
    const name = bytes.indexOf('"data"');
    if (name < 0) return false;
    scanner.set(bytes, name + 6, bytes.length);
    if (!scanner.take(58)) return false;
    const from = scanner.at;
    if (!this.#sessions()) return false;
    const around = `${bytes.toString('utf8', 0, from)}[]${bytes.toString('utf8', scanner.at)}`;
    if (around.length > 1_000_000 || around.indexOf('"data"') !== around.lastIndexOf('"data"')) return false;
    const envelope = parseJsonText(around)?.value as { readonly data?: unknown } | undefined;
    return Array.isArray(envelope?.data) && envelope.data.length === 0;
  }

  #sessions(): boolean {
    let session = 0;
    return this.#list(() => {
      const number = session++;
      return this.#list(() => this.#transaction(number));
    });
  }

  #transaction(session: number): boolean {
    const scanner = this.#scanner;
    this.#ops.clear();
    if (!scanner.take(123) || !scanner.member(events) || !this.#list(() => this.#event())) return false;
    if (!scanner.take(44) || !scanner.member(committed) || !scanner.literal() || scanner.found === null)
      return false;
    const isCommitted = scanner.found === true;
    if (!scanner.take(125)) return false;
    this.builder.begin(session);
    this.#ops.sendTo(this.builder, true);
    this.builder.end(isCommitted ? 'committed' : 'aborted');
    return true;
  }

  #event(): boolean {
    const scanner = this.#scanner;
    if (!scanner.take(123)) return false;
    const isWrite = scanner.text(writes);
    if (!isWrite && !scanner.text(reads)) return false;
    if (!scanner.take(58) || !scanner.take(123) || !scanner.member(variable) || !scanner.name()) return false;
    const key = scanner.found as KvName;
    if (!scanner.take(44) || !scanner.member(version)) return false;
    const isNothing = scanner.peek() === 110;
    if (isNothing ? isWrite || !scanner.literal() : !scanner.name()) return false;
    addRegisterOp(this.#ops, isWrite, key, isNothing ? null : (scanner.found as KvName));
    return scanner.take(125) && scanner.take(125);
  }

  #list(item: () => boolean): boolean {
    const scanner = this.#scanner;
    if (!scanner.take(91)) return false;
    if (scanner.take(93)) return true;
    do {
      if (!item()) return false;
    } while (scanner.take(44));
    return scanner.take(93);
  }
}
