/**
 * Viper's logs: a folder of `J*.log`, one per client; every line is a transaction
 * `{"value": [["w", key, value, true], ["r", key, value, true], …]}`. The last member of an operation says
 * whether it succeeded; where one did not, nobody knows what became of the transaction.
 */
import { FileError } from '../../errors.js';
import { showFound } from '../../json.js';
import { settleZeros } from '../initial-values.js';
import { KvBuilder } from '../kv-builder.js';
import type { KvName } from '../kv-history.js';
import { byNumber } from './cobra.js';
import { jsonName } from './elle-json.js';
import { parseExactJson } from './exact-json.js';
import type { FormatInput, Imported } from './format.js';
import { JsonScanner, letters } from './json-scanner.js';
import { type LineReader, scanLines } from './line-scan.js';
import { MicroOps } from './micro-ops.js';
import { addRegisterOp } from './plume.js';
import { isViperLog } from './recognize.js';

export async function readViper(input: FormatInput): Promise<Imported> {
  const builder = new KvBuilder();
  const logs = input.entries?.filter(isViperLog).sort(byNumber) ?? [undefined];
  for (const log of logs) {
    const file = log === undefined ? input.shown : `${input.shown}/${log}`;
    const session = (log ?? 'J0').replace(/\.log$/i, '');
    await scanLines(input, new ViperLines(file, session, builder), log);
  }
  return { kind: 'kv', history: settleZeros(builder.build(), 'either') };
}

class ViperLines implements LineReader {
  readonly #file: string;
  readonly #session: string;
  readonly #builder: KvBuilder;
  readonly #scanner = new JsonScanner();
  readonly #ops = new MicroOps();

  constructor(file: string, session: string, builder: KvBuilder) {
    this.#file = file;
    this.#session = session;
    this.#builder = builder;
  }

  fast(bytes: Buffer, from: number, end: number): number {
    this.#ops.clear();
    const scanner = this.#scanner;
    scanner.set(bytes, from, end);
    if (bytes[from] !== 123 || !scanner.take(123) || !scanner.member(valueLetters) || !this.#scanOps())
      return -1;
    if (!scanner.take(125)) return -1;
    const next = scanner.at + (bytes[scanner.at] === 13 ? 1 : 0);
    if (next >= end || bytes[next] !== 10 || hasBreak(bytes, from, next)) return -1;
    this.#add(false);
    return next + 1;
  }

  slow(line: string, number: () => number): void {
    if (line.trim() === '') return;
    this.#ops.clear();
    this.#add(takeLine(line, { file: this.#file, line: number }, this.#ops));
  }

  #add(failed: boolean): void {
    this.#builder.begin(this.#session);
    this.#ops.sendTo(this.#builder, !failed);
    this.#builder.end(failed ? 'unknown' : 'committed');
  }

  /** `[["w", key, value, true], …]` where everything succeeded. */
  #scanOps(): boolean {
    const scanner = this.#scanner;
    if (!scanner.take(91)) return false;
    if (scanner.take(93)) return true;
    do {
      if (!scanner.take(91)) return false;
      const isWrite = scanner.text(writeLetters);
      if (!isWrite && !scanner.text(readLetters)) return false;
      if (!scanner.take(44) || !scanner.name()) return false;
      const key = scanner.found as KvName;
      if (!scanner.take(44) || !(scanner.name() || scanner.literal())) return false;
      const value = scanner.found;
      if (typeof value === 'boolean' || (value === null && isWrite)) return false;
      if (!scanner.take(44) || !scanner.literal() || scanner.found !== true || !scanner.take(93))
        return false;
      addRegisterOp(this.#ops, isWrite, key, value);
    } while (scanner.take(44));
    return scanner.take(93);
  }
}

const valueLetters = letters('value');
const writeLetters = letters('w');
const readLetters = letters('r');

function hasBreak(bytes: Buffer, from: number, to: number): boolean {
  const found = bytes.indexOf(10, from);
  return found >= 0 && found < to;
}

/** Takes the operations of a line; true if one of them failed. */
function takeLine(
  line: string,
  where: { readonly file: string; readonly line: () => number },
  ops: MicroOps,
): boolean {
  const place = (field?: string) => ({ file: where.file, line: where.line(), field });
  const parsed = parseExactJson(line)?.value;
  const value =
    typeof parsed === 'object' && parsed !== null ? (parsed as Record<string, unknown>).value : undefined;
  if (!Array.isArray(value)) {
    throw new FileError(
      place(),
      `expected a transaction {"value": [["w", key, value, true], …]}, found ${showFound(line)}`,
    );
  }
  let failed = false;
  for (const [i, op] of (value as readonly unknown[]).entries()) {
    const [f, key, operand = null, ok = true] = Array.isArray(op) ? (op as readonly unknown[]) : [];
    const isWrite = f === 'w';
    if (
      (!isWrite && f !== 'r') ||
      key === undefined ||
      typeof ok !== 'boolean' ||
      (isWrite && operand === null)
    ) {
      throw new FileError(
        place(`value[${i}]`),
        `expected ["r", key, value, true] or ["w", key, value, true], found ${showFound(op)}`,
      );
    }
    if (!ok) failed = true;
    if (!ok && !isWrite) continue;
    addRegisterOp(ops, isWrite, jsonName(key), operand === null ? null : jsonName(operand));
  }
  return failed;
}
