/**
 * Viper's logs: a folder of `J*.log`, one per client; every line is a transaction
 * `{"value": [["w", key, value, true], ["r", key, value, true], …]}`. The last member of an operation says
 * whether it succeeded; where one did not, nobody knows what became of the transaction.
 */
import { FileError } from '../../errors.js';
import { showFound } from '../../json.js';
import { KvBuilder } from '../kv-builder.js';
import { byNumber } from './cobra.js';
import { jsonName } from './elle-json.js';
import { parseExactJson } from './exact-json.js';
import type { FormatInput, Imported } from './format.js';
import { MicroOps, settleMarkers } from './micro-ops.js';
import { addRegisterOp } from './plume.js';
import { eachLine } from './whole-file.js';

export const isViperLog = (name: string): boolean => /^J\d+\.log$/i.test(name);

export async function readViper(input: FormatInput): Promise<Imported> {
  const builder = new KvBuilder();
  const ops = new MicroOps();
  const logs = input.entries?.filter(isViperLog).sort(byNumber) ?? [undefined];
  for (const log of logs) {
    const file = log === undefined ? input.shown : `${input.shown}/${log}`;
    const session = (log ?? 'J0').replace(/\.log$/i, '');
    await eachLine(input.bytes(log), file, (line, number) => {
      if (line.trim() === '') return;
      ops.clear();
      const failed = takeLine(line, { file, line: number }, ops);
      builder.begin(session);
      ops.sendTo(builder, !failed);
      builder.end(failed ? 'unknown' : 'committed');
    });
  }
  return { kind: 'kv', history: settleMarkers(builder.build()) };
}

/** Takes the operations of a line; true if one of them failed. */
function takeLine(
  line: string,
  place: { readonly file: string; readonly line: number },
  ops: MicroOps,
): boolean {
  const parsed = parseExactJson(line)?.value;
  const value =
    typeof parsed === 'object' && parsed !== null ? (parsed as Record<string, unknown>).value : undefined;
  if (!Array.isArray(value)) {
    throw new FileError(
      place,
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
        { ...place, field: `value[${i}]` },
        `expected ["r", key, value, true] or ["w", key, value, true], found ${showFound(op)}`,
      );
    }
    if (!ok) failed = true;
    if (!ok && !isWrite) continue;
    addRegisterOp(ops, isWrite, jsonName(key), operand === null ? 0 : jsonName(operand));
  }
  return failed;
}
