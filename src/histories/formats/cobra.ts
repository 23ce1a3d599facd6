/**
 * Cobra's logs: a folder of `T*.log`, one per session, of records of one letter and big-endian integers:
 * `S` txn; `W` writeId key valueHash; `R` writerTxn writeId key valueHash; `C` txn.
 *
 * A write id is unique, so it serves as the value. A transaction without its `C` was cut off by a crash or
 * aborted; the log cannot say which, so its outcome is unknown.
 */
import { KvBuilder } from '../kv-builder.js';
import type { KvName } from '../kv-history.js';
import { BinaryReader } from './binary-reader.js';
import type { FormatInput, Imported } from './format.js';
import { MicroOps } from './micro-ops.js';
import { allBytes } from './whole-file.js';

const initialMarks: ReadonlySet<KvName> = new Set<KvName>([0xdeadbeef, 0xbebeebee]);

const [startRecord, writeRecord, readRecord, commitRecord] = [...Buffer.from('SWRC')];

export const isCobraLog = (name: string): boolean => /^T\d+\.log$/i.test(name);

export async function readCobra(input: FormatInput): Promise<Imported> {
  const builder = new KvBuilder({ definitions: 'axiomatic' });
  const logs = input.entries?.filter(isCobraLog).sort(byNumber) ?? [undefined];
  for (const log of logs) {
    const shown = log === undefined ? input.shown : `${input.shown}/${log}`;
    const reader = new BinaryReader(await allBytes(input.bytes(log), shown), shown, false);
    readLog(reader, builder, (log ?? 'T0').replace(/\.log$/i, ''));
  }
  return { kind: 'kv', history: builder.build() };
}

function readLog(reader: BinaryReader, builder: KvBuilder, session: string): void {
  const ops = new MicroOps();
  let open: KvName | undefined;
  const close = (status: 'committed' | 'unknown'): void => {
    if (open === undefined) return;
    builder.begin(session, undefined, typeof open === 'number' ? open : undefined);
    ops.sendTo(builder, status === 'committed');
    builder.end(status);
    ops.clear();
    open = undefined;
  };
  while (!reader.atEnd()) {
    const start = reader.at;
    const letter = reader.byte('a record');
    if (letter === startRecord) {
      close('unknown');
      open = reader.integer('a transaction id');
    } else if (open === undefined) misplaced(reader, start, 'a record "S" that begins a transaction');
    else if (letter === writeRecord) {
      const writeId = reader.integer('a write id');
      ops.write(reader.integer('a key'), writeId);
      reader.skipInteger('the hash of a value');
    } else if (letter === readRecord) {
      const writer = reader.integer('the id of the writing transaction');
      const writeId = reader.integer('a write id');
      ops.read(
        reader.integer('a key'),
        initialMarks.has(writeId) || initialMarks.has(writer) ? null : writeId,
      );
      reader.skipInteger('the hash of a value');
    } else if (letter === commitRecord) {
      const id = reader.integer('a transaction id');
      if (id !== open) {
        reader.at = start;
        reader.fail(`the commit of transaction ${open}`, `that of ${id}`);
      }
      close('committed');
    } else misplaced(reader, start, 'a record S, W, R or C');
  }
  close('unknown');
}

function misplaced(reader: BinaryReader, start: number, expected: string): never {
  reader.at = start;
  return reader.fail(expected, JSON.stringify(String.fromCharCode(reader.bytes[start]!)));
}

/** T2 before T10. */
export function byNumber(a: string, b: string): number {
  return Number(/\d+/.exec(a)?.[0] ?? 0) - Number(/\d+/.exec(b)?.[0] ?? 0) || (a < b ? -1 : 1);
}

/** Whether bytes are the beginning of a log: a transaction and then another record. */
export function looksLikeCobra(head: Buffer): boolean {
  return head[0] === 83 && head.length >= 18 && 'SWRC'.includes(String.fromCharCode(head[9]!));
}
