/**
 * Measures other tools' files from the first byte to the verdict: a list-append history in Jepsen's EDN and in Elle's JSON,
 * and the register history of Plume's evaluation (25 sessions, 200 transactions each, 20 operations each).
 */
import { createWriteStream } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type CheckLevel, checkKv } from '../check/index.js';
import { type KvHistory, readAnyHistory } from '../histories/index.js';
import { type Figure, median, timeMs } from './measure.js';

/** The promises about imported files, each beside what was measured. */
export async function benchFormats(): Promise<Figure[]> {
  const folder = await mkdtemp(join(tmpdir(), 'isolde-bench-'));
  try {
    const edn = join(folder, 'append.edn');
    const jsonl = join(folder, 'append.jsonl');
    const plume = join(folder, 'plume.txt');
    await writeLines(edn, listAppendEvents(1_000_000, ednEvent));
    await writeLines(jsonl, listAppendEvents(200_000, jsonEvent));
    await writeLines(plume, plumeLines(25, 200, 20));
    return [
      ...(await measure(
        'EDN, list-append, 1000000 transactions of 4 operations',
        edn,
        'serializable',
        20_000,
      )),
      ...(await measure('Elle JSON lines, list-append, 200000 transactions', jsonl, 'serializable')),
      ...(await measure('Plume text, 25 sessions × 200 transactions × 20 operations', plume, 'causal', 500)),
    ];
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** From file to verdict, and how much of that is reading; of small files the median of three, because each time is short. */
async function measure(name: string, path: string, level: CheckLevel, limitMs?: number): Promise<Figure[]> {
  const { size } = await stat(path);
  const runs: { readonly ms: number; readonly readMs: number }[] = [];
  while (runs.length < (size < smallBytes ? 3 : 1)) runs.push(await measureOnce(name, path, level));
  const ms = median(runs.map((run) => run.ms));
  const { readMs } = runs.find((run) => run.ms === ms)!;
  const memoryMb = Math.round(process.memoryUsage.rss() / 1024 ** 2);
  return [
    {
      name: `${name}: file to verdict, ${level}`,
      measured: `${(ms / 1000).toFixed(2)} s, of which reading ${(readMs / 1000).toFixed(2)} s (${Math.round(size / 1e3 / readMs)} MB/s)`,
      ...(limitMs !== undefined && { target: `≤ ${limitMs / 1000} s`, pass: ms <= limitMs }),
    },
    {
      name: '  resident memory afterwards',
      measured: `${memoryMb} MB`,
      target: '≤ 4096 MB',
      pass: memoryMb <= 4096,
    },
  ];
}

const smallBytes = 10_000_000;

async function measureOnce(name: string, path: string, level: CheckLevel) {
  let history: KvHistory | undefined;
  const readMs = await timeMs(async () => {
    const read = await readAnyHistory(path);
    if (read.kind === 'kv') history = read.history;
  });
  let valid: unknown;
  const checkMs = await timeMs(async () => {
    valid = checkKv(history!, { level }).valid;
  });
  if (valid !== true) throw new Error(`${name}: the verdict is ${valid}, where the history is ${level}`);
  return { ms: readMs + checkMs, readMs };
}

type MicroOp = readonly ['append', number, number] | readonly ['r', number, readonly number[] | null];

interface BenchEvent {
  readonly type: 'invoke' | 'ok';
  readonly process: number;
  readonly index: number;
  readonly time: number;
  readonly ops: readonly MicroOp[];
}

/** A serial list-append run of 20 clients: ten keys at a time, each retired after 32 appends. */
function* listAppendEvents(
  count: number,
  print: (event: BenchEvent) => string,
): Generator<string, void, undefined> {
  const random = lcg(7);
  const keys = Array.from({ length: 10 }, (_, key) => key);
  const lists = new Map<number, number[]>();
  let nextKey = keys.length;
  let index = 0;
  let time = 0;
  for (let tx = 0; tx < count; tx++) {
    const process = tx % 20;
    const ops: MicroOp[] = [];
    const invoked: MicroOp[] = [];
    for (let i = 0; i < 4; i++) {
      const slot = random(keys.length);
      const key = keys[slot]!;
      const list = lists.get(key) ?? [];
      if (random(2) === 0) {
        ops.push(['r', key, [...list]]);
        invoked.push(['r', key, null]);
        continue;
      }
      const op = ['append', key, list.length + 1] as const;
      ops.push(op);
      invoked.push(op);
      lists.set(key, [...list, list.length + 1]);
      if (list.length < 31) continue;
      lists.delete(key);
      keys[slot] = nextKey++;
    }
    time += 1000 + random(50_000);
    yield print({ type: 'invoke', process, index: index++, time, ops: invoked });
    time += 1000 + random(50_000);
    yield print({ type: 'ok', process, index: index++, time, ops });
  }
}

function ednEvent({ type, process, index, time, ops }: BenchEvent): string {
  const value = ops.map(([f, key, operand]) => {
    const shown = operand === null ? 'nil' : typeof operand === 'number' ? operand : `[${operand.join(' ')}]`;
    return `[:${f} ${key} ${shown}]`;
  });
  return `{:type :${type}, :f :txn, :value [${value.join(' ')}], :process ${process}, :time ${time}, :index ${index}}\n`;
}

function jsonEvent({ type, process, index, time, ops }: BenchEvent): string {
  return `${JSON.stringify({ type, f: 'txn', value: ops, process, time, index })}\n`;
}

/** A serial run over 1000 registers with unique values, interleaved by session. */
function* plumeLines(
  sessions: number,
  transactions: number,
  operations: number,
): Generator<string, void, undefined> {
  const random = lcg(11);
  const registers = new Map<number, number>();
  let value = 1;
  for (let t = 0; t < transactions; t++) {
    for (let session = 0; session < sessions; session++) {
      const txn = t * sessions + session;
      for (let i = 0; i < operations; i++) {
        const key = random(1000);
        if (random(2) === 0) yield `r(${key},${registers.get(key) ?? 0},${session},${txn})\n`;
        else {
          registers.set(key, value);
          yield `w(${key},${value++},${session},${txn})\n`;
        }
      }
    }
  }
}

/** A linear congruential generator: the same file on every machine. */
function lcg(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

async function writeLines(path: string, lines: Iterable<string>): Promise<void> {
  await pipeline(Readable.from(joined(lines)), createWriteStream(path));
}

function* joined(lines: Iterable<string>): Generator<string, void, undefined> {
  let text = '';
  for (const line of lines) {
    text += line;
    if (text.length < 256 * 1024) continue;
    yield text;
    text = '';
  }
  yield text;
}
