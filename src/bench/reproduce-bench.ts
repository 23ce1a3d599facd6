/**
 * What reproduction costs: order inference on long histories (it must stay linear), and replaying by batch against one
 * statement at a time and against no order at all, over PostgreSQL with a millisecond of network put before every answer.
 */
import type { Case } from '../cases/index.js';
import { type Contract, findContract } from '../contracts/index.js';
import { runFree, SessionPool } from '../execute/index.js';
import type { History, Operation } from '../histories/index.js';
import { type InferredOrder, inferSchedule, type ReplayMode, replay } from '../reproduce/index.js';
import { openTarget } from '../targets/index.js';
import { withLatency } from './latency-target.js';
import { type Figure, median, timeMs } from './measure.js';

const sessionCount = 12;

function contract(id: string): Contract {
  const found = findContract(id);
  if (found === undefined) throw new Error(`no contract ${id}`);
  return found;
}

/** A random number generator with a seed. */
function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 4294967296;
  };
}

/**
 * A history such as a free run records: sessions in parallel, each statement with an interval of its own that overlaps
 * others', reads and writes of single rows, every version's value unique.
 */
export function syntheticHistory(count: number, rows: number): History {
  const random = randomOf(7);
  const values = new Int32Array(rows);
  const operations: Omit<Operation, 'index'>[] = [];
  const free = new Float64Array(sessionCount);
  const lockedUntil = new Float64Array(rows);
  let transaction = 0;
  let unique = rows;
  while (operations.length < count) {
    const session = free.indexOf(Math.min(...free));
    let time = free[session]!;
    const id = transaction++;
    const add = (rest: Pick<Operation, 'kind' | 'sql'> & Partial<Operation>) => {
      const start = time + random() * 20_000;
      const end = start + 100_000 + random() * 200_000;
      time = end;
      operations.push({
        session,
        transaction: id,
        start: Math.floor(start),
        end: Math.floor(end),
        outcome: 'ok',
        ...rest,
      });
      return end;
    };
    add({ kind: 'begin', sql: 'BEGIN' });
    const written: [number, number][] = [];
    for (let i = 0; i < 3; i++) {
      const row = Math.floor(random() * rows);
      // Rows another transaction holds are left alone: this history is about length, not about waiting.
      if (random() < 0.4 && lockedUntil[row]! < time - 400_000) {
        add({
          kind: 'update',
          sql: `UPDATE t SET v = ${++unique} WHERE id = ${row}`,
          matched: 1,
          changed: 1,
        });
        lockedUntil[row] = time + 5_000_000;
        written.push([row, unique]);
      } else if (lockedUntil[row]! < time - 400_000) {
        const value = values[row]!;
        add({
          kind: 'select',
          sql: `SELECT id, v FROM t WHERE id = ${row}`,
          columns: ['id', 'v'],
          rows: [[row, value]],
        });
      }
    }
    const end = add({ kind: 'commit', sql: 'COMMIT', ends: 'commit' });
    for (const [row, value] of written) {
      values[row] = value;
      lockedUntil[row] = end;
    }
    free[session] = time;
  }
  operations.sort((a, b) => a.end! - b.end!);
  return {
    header: syntheticHeader(rows),
    // As a file's reader makes them: plain objects, not copies of copies.
    operations: JSON.parse(JSON.stringify(operations.map((op, index) => ({ index, ...op })))) as Operation[],
  };
}

function syntheticHeader(rows: number): History['header'] {
  return {
    sessions: Array.from({ length: sessionCount }, (_, s) => `S${s}`),
    dialect: 'postgres',
    level: 'read committed',
    setup: [
      'CREATE TABLE t (id INT PRIMARY KEY, v INT)',
      ...Array.from({ length: rows }, (_, id) => `INSERT INTO t VALUES (${id}, 0)`),
    ],
  };
}

export async function benchReproduce(): Promise<Figure[]> {
  return [...benchInference(), ...(await benchReplay())];
}

export function benchInference(): Figure[] {
  const rules = contract('postgres:read-committed');
  const infer = (history: History) => {
    // One thread's work. On a busy machine its processor time says what it takes on a machine of its own, but counts the
    // collector's other threads, too; the clock does not, but counts other programs. So the smaller of the two.
    const [before, began] = [process.cpuUsage(), performance.now()];
    const order = inferSchedule(history, rules);
    const elapsed = performance.now() - began;
    const { user, system } = process.cpuUsage(before);
    return { ms: Math.min(elapsed, (user + system) / 1000), order };
  };
  infer(syntheticHistory(20_000, 2_000));
  const [shorter, longer] = [syntheticHistory(500_000, 20_000), syntheticHistory(1_000_000, 20_000)];
  const { order } = infer(longer);
  const half = median([1, 2, 3].map(() => infer(shorter).ms));
  const whole = median([1, 2, 3].map(() => infer(longer).ms));
  return [
    {
      name: 'order inference, 1,000,000 operations',
      measured: `${(whole / 1000).toFixed(1)} s (${order.batchCount} batches, ${order.broken.length} invariants broken)`,
      target: '≤ 10 s',
      pass: whole <= 10_000 && order.broken.length === 0,
    },
    {
      name: 'time for 2n ÷ time for n (500,000)',
      measured: (whole / half).toFixed(2),
      target: '≤ 2.3',
      pass: whole / half <= 2.3,
    },
  ];
}

/** Twelve sessions, short transactions on many rows: 20,000 statements. */
function replayCase(): Case {
  const random = randomOf(3);
  const rows = 2_000;
  const statements = Math.ceil(20_000 / sessionCount);
  const sessions = Array.from({ length: sessionCount }, (_, s) => {
    const list: string[] = [];
    for (let i = 0; list.length < statements; i++) {
      const row = () => Math.floor(random() * rows);
      list.push('BEGIN', `SELECT id, v FROM t WHERE id = ${row()}`);
      list.push(`UPDATE t SET v = ${s * 1_000_000 + i} WHERE id = ${row()}`);
      list.push(`SELECT id, v FROM t WHERE id = ${row()}`, 'COMMIT');
    }
    return { name: `S${s}`, statements: list };
  });
  const values = Array.from({ length: rows }, (_, id) => `(${id}, 0)`).join(', ');
  return {
    name: 'replay bench',
    setup: ['CREATE TABLE t (id INT PRIMARY KEY, v INT)', `INSERT INTO t VALUES ${values}`],
    sessions,
  };
}

export async function benchReplay(): Promise<Figure[]> {
  const target = withLatency(await openTarget('postgres:'), 1);
  try {
    const scratch = await target.createScratch();
    const sessions = new SessionPool(scratch, { statementTimeoutMs: 10_000, lockTimeoutMs: 5_000 });
    const options = { target, sessions, level: 'repeatable read' as const };
    const raw = await runFree(scratch, replayCase(), options);
    const order: InferredOrder = inferSchedule(raw, contract('postgres:repeatable-read'), { reasons: false });
    const same: number[] = [];
    const time = (mode: ReplayMode) =>
      timeMs(async () => {
        const report = await replay(scratch, order, mode, options);
        if (mode === 'batch') same.push(report.same / report.compared);
      });
    const batch: number[] = [];
    const random: number[] = [];
    for (let i = 0; i < 3; i++) {
      random.push(await time('random'));
      batch.push(await time('batch'));
    }
    const sequential = await time('sequential');
    await sessions.close();
    const [b, r] = [median(batch), median(random)];
    const mean = order.statementCount / order.batchCount;
    return [
      {
        name: `replay of ${raw.operations.length} operations by batch (mean size ${mean.toFixed(1)}) saw the same`,
        measured: `${(Math.min(...same) * 100).toFixed(2)} %`,
        target: '100 %',
        pass: Math.min(...same) === 1,
      },
      {
        name: 'batch replay, times faster than sequential (1 ms latency)',
        measured: `${(sequential / b).toFixed(1)} × (${(sequential / 1000).toFixed(1)} s, ${(b / 1000).toFixed(1)} s)`,
        target: '≥ 5 ×',
        pass: sequential / b >= 5,
      },
      {
        name: 'speed of batch replay ÷ speed of random replay',
        measured: `${(r / b).toFixed(2)} (${(r / 1000).toFixed(1)} s)`,
        target: '≥ 0.7',
        pass: r / b >= 0.7,
      },
    ];
  } finally {
    await target.close();
  }
}
