/**
 * Plume's and PolySI's text: one operation per line, `r(key,value,session,txn)` or `w(…)`, in program order.
 * Value 0 read is the initial state. Transaction −1 is whatever was aborted: such lines carry no number of
 * their own, so a run of them within a session counts as one aborted transaction.
 */
import { FileError } from '../../errors.js';
import { KvBuilder } from '../kv-builder.js';
import type { KvName } from '../kv-history.js';
import type { FormatInput, Imported } from './format.js';
import { MicroOps, settleMarkers } from './micro-ops.js';
import { eachLine } from './whole-file.js';

const linePattern = /^\s*([rw])\(\s*([^,()]+?)\s*,\s*([^,()]+?)\s*,\s*(-?\d+)\s*,\s*(-?\d+)\s*\)\s*$/;
const aborted = -1;

interface Open {
  readonly txn: number;
  readonly ops: MicroOps;
}

export async function readPlume(input: FormatInput): Promise<Imported> {
  const builder = new KvBuilder({ definitions: 'axiomatic' });
  const open = new Map<number, Open>();
  /** The session of every transaction seen. */
  const sessions = new Map<number, number>();
  const close = (session: number): void => {
    const { txn, ops } = open.get(session)!;
    builder.begin(session, undefined, txn === aborted ? undefined : txn);
    ops.sendTo(builder, true);
    builder.end(txn === aborted ? 'aborted' : 'committed');
  };
  await eachLine(input.bytes(), input.shown, (line, number) => {
    if (line === '' || line.trim() === '') return;
    const match = linePattern.exec(line);
    const place = { file: input.shown, line: number };
    if (match === null) {
      throw new FileError(
        place,
        `expected r(key,value,session,txn) or w(key,value,session,txn), found ${shown(line)}`,
      );
    }
    const session = Number(match[4]);
    const txn = Number(match[5]);
    if (!Number.isSafeInteger(session) || !Number.isSafeInteger(txn)) {
      const field = Number.isSafeInteger(session) ? 'txn' : 'session';
      throw new FileError({ ...place, field }, `expected an integer below 2^53, found ${shown(line)}`);
    }
    let current = open.get(session);
    if (current?.txn !== txn) {
      if (txn !== aborted && sessions.has(txn)) {
        throw new FileError(
          { ...place, field: 'txn' },
          `transaction ${txn} had ended: it is of session ${sessions.get(txn)}, and other operations came between`,
        );
      }
      if (current !== undefined) close(session);
      current = { txn, ops: new MicroOps() };
      open.set(session, current);
      sessions.set(txn, session);
    }
    addRegisterOp(current.ops, match[1] === 'w', textName(match[2]!), textName(match[3]!));
  });
  for (const session of open.keys()) close(session);
  return { kind: 'kv', history: settleMarkers(builder.build()) };
}

/** One operation on a register where reading 0 means the initial state. */
export function addRegisterOp(ops: MicroOps, isWrite: boolean, key: KvName, value: KvName): void {
  if (isWrite) ops.write(key, value);
  else ops.read(key, value === 0 ? null : value);
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
