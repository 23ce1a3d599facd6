/** Measures writing and reading a long history file: operations per second and peak resident memory. */
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Operation, openHistoryWriter, readHistory } from '../histories/index.js';
import type { Figure } from './measure.js';

export interface HistoryBenchOptions {
  readonly operations?: number;
  /** Write and read a `.gz` file. */
  readonly zipped?: boolean;
  readonly print?: (line: string) => void;
}

export interface HistoryBenchResult {
  readonly operations: number;
  readonly bytes: number;
  readonly writtenPerSecond: number;
  readonly readPerSecond: number;
  readonly peakRssMb: number;
}

/** The promises about history files, each beside what was measured. */
export async function benchHistory(): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const zipped of [false, true]) {
    const { operations, writtenPerSecond, readPerSecond, peakRssMb } = await benchHistoryFile({ zipped });
    const kind = `${operations} operations${zipped ? ', gzip' : ''}`;
    for (const [name, rate] of [
      ['write', writtenPerSecond],
      ['read', readPerSecond],
    ] as const) {
      const promise = zipped ? {} : { target: '>= 300000/s', pass: rate >= 300_000 };
      figures.push({ name: `${name} ${kind}`, measured: `${rate}/s`, ...promise });
    }
    const promise = { target: '< 400 MB', pass: peakRssMb < 400 };
    figures.push({ name: `peak memory, ${kind}`, measured: `${peakRssMb} MB`, ...promise });
  }
  return figures;
}

/** Writes a typical history (8 sessions, statements of 40 characters, two rows of two columns), then reads it. */
export async function benchHistoryFile(options: HistoryBenchOptions = {}): Promise<HistoryBenchResult> {
  const operations = options.operations ?? 1_000_000;
  const folder = await mkdtemp(join(tmpdir(), 'isolde-bench-'));
  const path = join(folder, options.zipped === true ? 'bench.history.jsonl.gz' : 'bench.history.jsonl');
  let peak = process.memoryUsage.rss();
  const watch = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage.rss());
  }, 20);
  try {
    const writeStart = performance.now();
    await writeTypicalHistory(path, operations);
    const readStart = performance.now();
    const count = await readBench(path);
    const readEnd = performance.now();
    if (count !== operations) throw new Error(`${operations} operations were written and ${count} read`);
    const result: HistoryBenchResult = {
      operations,
      bytes: (await stat(path)).size,
      writtenPerSecond: perSecond(operations, readStart - writeStart),
      readPerSecond: perSecond(operations, readEnd - readStart),
      peakRssMb: Math.round(Math.max(peak, process.memoryUsage.rss()) / 1024 / 1024),
    };
    const kind = options.zipped === true ? 'gzip' : 'plain';
    options.print?.(
      `history file, ${kind}, ${operations} operations, ${Math.round(result.bytes / 1e6)} MB: ` +
        `write ${result.writtenPerSecond}/s, read ${result.readPerSecond}/s, peak RSS ${result.peakRssMb} MB`,
    );
    return result;
  } finally {
    clearInterval(watch);
    await rm(folder, { recursive: true, force: true });
  }
}

/** Always the same history: 8 sessions that read a table of a thousand rows. */
export async function writeTypicalHistory(path: string, operations: number): Promise<void> {
  const sessions = Array.from({ length: 8 }, (_, s) => `T${s + 1}`);
  const writer = await openHistoryWriter(path, { sessions, level: 'repeatable read' });
  for (let index = 0; index < operations; index++) {
    const full = writer.write(typicalOperation(index));
    if (full !== undefined) await full;
  }
  await writer.close();
}

function typicalOperation(index: number): Operation {
  const session = index % 8;
  const key = index % 997;
  return {
    index,
    session,
    transaction: Math.floor(index / 40) * 8 + session,
    kind: 'select',
    statement: [session, Math.floor(index / 8)],
    sql: `SELECT id, v FROM t WHERE id IN (${key}, ${key + 1})`,
    start: index * 12_345,
    end: index * 12_345 + 98_765,
    outcome: 'ok',
    columns: ['id', 'v'],
    rows: [
      [key, index],
      [key + 1, `v${index}`],
    ],
  };
}

async function readBench(path: string): Promise<number> {
  let count = 0;
  const reader = await readHistory(path);
  for await (const some of reader.operations) count += some.length;
  return count;
}

function perSecond(operations: number, ms: number): number {
  return Math.round((operations / ms) * 1000);
}
