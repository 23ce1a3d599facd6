/**
 * Measures other tools' files from the first byte to the verdict: a list-append history in Jepsen's EDN and in Elle's JSON,
 * and the register history of Plume's evaluation (25 sessions, 200 transactions each, 20 operations each).
 */
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type CheckLevel, checkKv } from '../check/index.js';
import { type KvHistory, readAnyHistory } from '../histories/index.js';
import { ednEvent, jsonEvent, listAppendEvents, registerLines, writeLines } from './history-files.js';
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
    await writeLines(plume, registerLines({ sessions: 25, txCount: 5000, opCount: 20, keys: 1000 }));
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
