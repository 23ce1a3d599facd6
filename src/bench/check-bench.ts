/**
 * How fast histories are checked once they are in memory: list-append for serializable, registers for read committed,
 * read atomic and causal. Histories come from a simulated serializable store, so every verdict must be `true`.
 */
import { type CheckLevel, checkKv } from '../check/index.js';
import { KvBuilder, type KvHistory } from '../histories/index.js';

export interface CheckBenchRow {
  readonly name: string;
  readonly txCount: number;
  readonly opCount: number;
  readonly buildMs: number;
  readonly checkMs: number;
  readonly txPerSecond: number;
  /** Growth of the process while building and checking, per operation. */
  readonly bytesPerOp: number;
  readonly valid: boolean | 'unknown';
}

export interface CheckBenchOptions {
  /** Scales the sizes; 1 is what the targets are about. */
  readonly scale?: number;
  readonly now: () => number;
  readonly memory: () => number;
  readonly onRow?: (row: CheckBenchRow) => void;
}

export function benchCheck(options: CheckBenchOptions): CheckBenchRow[] {
  const scale = options.scale ?? 1;
  const rows: CheckBenchRow[] = [];
  const run = (name: string, level: CheckLevel, build: () => KvHistory): void => {
    const before = options.memory();
    const start = options.now();
    const history = build();
    const built = options.now();
    const result = checkKv(history, { level, strongest: false });
    const done = options.now();
    const row: CheckBenchRow = {
      name: `${name}, ${level}`,
      txCount: history.txCount,
      opCount: history.opCount,
      buildMs: built - start,
      checkMs: done - built,
      txPerSecond: Math.round((history.txCount / (done - built)) * 1000),
      bytesPerOp: Math.round((options.memory() - before) / history.opCount),
      valid: result.valid,
    };
    rows.push(row);
    options.onRow?.(row);
  };
  for (const part of [0.25, 0.5, 1]) {
    const txCount = Math.round(1_000_000 * scale * part);
    run(`list-append ${txCount} × 4`, 'serializable', () => listAppendHistory(txCount, 4, 50));
  }
  const small = { sessions: 25, txCount: Math.round(5_000 * scale), opCount: 20, keys: 1_000 };
  run('registers 25 × 200 × 20', 'causal', () => registerHistory(small));
  for (const part of [0.5, 1]) {
    const large = { sessions: 50, txCount: Math.round(100_000 * scale * part), opCount: 8, keys: 10_000 };
    for (const level of ['read committed', 'read atomic', 'causal'] as const) {
      run(`registers ${large.txCount} × 8`, level, () => registerHistory(large));
    }
  }
  return rows;
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
