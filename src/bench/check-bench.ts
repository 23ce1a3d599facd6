/**
 * How fast histories are checked once they are in memory: list-append for serializable, registers for read committed,
 * read atomic and causal. Histories come from a simulated serializable store, so every verdict must be `true`.
 */
import { type CheckLevel, checkKv } from '../check/index.js';
import { KvBuilder, type KvHistory } from '../histories/index.js';
import { type Figure, median } from './measure.js';

interface Row {
  readonly txCount: number;
  readonly checkMs: number;
  /** Resident memory after the check, history included, per operation. */
  readonly bytesPerOp: number;
}

/** The promises about checking, each beside what was measured. `scale` 1 is what the targets are about. */
export async function benchCheck(scale = 1): Promise<Figure[]> {
  const figures: Figure[] = [];
  const sizes = [0.25, 0.5, 1].map((part) => Math.round(1_000_000 * scale * part));
  // Smallest first: the first run also warms up the compiler. The median of five, because a collection of garbage more or
  // less moves a single time, and with it both ratios it stands in, by a third.
  const lists = [sizes[0]!, ...sizes].map((txCount) => {
    const history = listAppendHistory(txCount, 4, 50);
    const rows = [1, 2, 3, 4, 5].map(() => measure('serializable', () => history));
    return { ...rows[0]!, checkMs: median(rows.map(({ checkMs }) => checkMs)) };
  });
  const last = lists.at(-1)!;
  const rate = Math.round((last.txCount / last.checkMs) * 1000);
  figures.push({
    name: `list-append ${last.txCount} × 4, serializable`,
    measured: `${rate} txn/s`,
    target: '>= 250000/s',
    pass: rate >= 250_000,
  });
  for (const [small, large] of [
    [lists[1]!, lists[2]!],
    [lists[2]!, lists[3]!],
  ] as const) {
    const ratio = large.checkMs / small.checkMs;
    figures.push({
      name: `time for ${large.txCount} ÷ time for ${small.txCount}`,
      measured: ratio.toFixed(2),
      target: '<= 2.3',
      pass: ratio <= 2.3,
    });
  }
  figures.push({ name: 'list-append memory', measured: `${last.bytesPerOp} bytes/operation` });
  const shape = { sessions: 25, txCount: 5_000, opCount: 20, keys: 1_000 };
  figures.push(
    limited(
      'registers 25 × 200 × 20, causal',
      500,
      measure('causal', () => registerHistory(shape)),
    ),
  );
  const large = { sessions: 50, txCount: Math.round(100_000 * scale), opCount: 8, keys: 10_000 };
  for (const level of ['read committed', 'read atomic', 'causal'] as const) {
    const row = measure(level, () => registerHistory(large));
    figures.push(limited(`registers ${large.txCount} × 8, ${level}`, 3_000, row));
  }
  return figures;
}

function limited(name: string, limitMs: number, row: Row): Figure {
  return {
    name,
    measured: `${Math.round(row.checkMs)} ms`,
    target: `<= ${limitMs} ms`,
    pass: row.checkMs <= limitMs,
  };
}

function measure(level: CheckLevel, build: () => KvHistory): Row {
  const history = build();
  const start = performance.now();
  const result = checkKv(history, { level, strongest: false });
  const checkMs = performance.now() - start;
  if (result.valid !== true) throw new Error(`a correct history was judged ${result.valid} for ${level}`);
  const bytesPerOp = Math.round(process.memoryUsage.rss() / history.opCount);
  return { txCount: history.txCount, checkMs, bytesPerOp };
}

/** Numbers in [0, n), always the same ones: a bench must not change from run to run. */
function numbers(): (n: number) => number {
  let state = 0x2545f491;
  return (n) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % n;
  };
}

/** Keys in use change over time, as in Jepsen's workloads, so that lists stay short. */
export function listAppendHistory(txCount: number, opCount: number, concurrency: number): KvHistory {
  const next = numbers();
  const builder = new KvBuilder();
  const lists = new Map<number, number[]>();
  const active = Array.from({ length: 20 }, (_, key) => key);
  let newest = active.length;
  for (let tx = 0; tx < txCount; tx++) {
    builder.begin(tx % concurrency, tx * 10);
    for (let op = 0; op < opCount; op++) {
      const slot = next(active.length);
      const key = active[slot]!;
      let list = lists.get(key);
      if (list === undefined) {
        list = [];
        lists.set(key, list);
      }
      if (next(2) === 0) builder.readList(key, list);
      else {
        list.push(list.length + 1);
        builder.append(key, list.length);
        if (list.length === 32) {
          lists.delete(key);
          active[slot] = newest++;
        }
      }
    }
    builder.end('committed', tx * 10 + 9 * concurrency);
  }
  return builder.build();
}

export interface RegisterShape {
  readonly sessions: number;
  readonly txCount: number;
  readonly opCount: number;
  readonly keys: number;
}

export function registerHistory(shape: RegisterShape): KvHistory {
  const next = numbers();
  const builder = new KvBuilder();
  const store = new Map<number, number>();
  let value = 0;
  for (let tx = 0; tx < shape.txCount; tx++) {
    builder.begin(next(shape.sessions));
    for (let op = 0; op < shape.opCount; op++) {
      const key = next(shape.keys);
      if (next(2) === 0) builder.read(key, store.get(key) ?? null);
      else {
        store.set(key, ++value);
        builder.write(key, value);
      }
    }
    builder.end('committed');
  }
  return builder.build();
}
