/** Random programs for the simulated store, and replaying an inferred schedule on it. */
import type { Mechanism } from '../contracts/index.js';
import type { History, Operation } from '../histories/index.js';
import type { Difference } from './compare.js';
import type { InferredOrder } from './infer.js';
import type { ReplayReport } from './replay.js';
import { type SimOp, type SimProgram, type SimResult, SimStore } from './simulated-store.case.js';

/** mulberry32: a random number generator that fits a seed. */
export function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

export interface Mix {
  readonly rows: number;
  readonly sessions: number;
  readonly transactions: number;
  readonly values: number;
  /** Scans, inserts and deletes too. */
  readonly wide: boolean;
  /** Updates of all rows that satisfy a condition. */
  readonly rangeWrites?: boolean;
}

export function randomProgram(random: () => number, mix: Mix): SimProgram {
  const below = (n: number) => Math.floor(random() * n);
  let unique = 100;
  const value = () => (mix.values > 0 ? below(mix.values) : unique++);
  const id = () => below(mix.rows);
  const statement = (): SimOp => {
    const roll = random();
    if (roll < 0.3) return { type: 'get', id: id(), lock: false };
    if (roll < 0.4) return { type: 'get', id: id(), lock: true };
    if (roll < 0.65) return { type: 'set', id: id(), value: value() };
    if (roll < 0.72) return { type: 'add', id: id() };
    if (!mix.wide) return { type: 'get', id: id(), lock: false };
    if (roll < 0.82) return { type: 'scan', below: random() < 0.5 ? undefined : below(120) };
    if (roll < 0.88) return { type: 'delete', id: id() };
    if (roll < 0.96) return { type: 'insert', id: id(), value: value() };
    return mix.rangeWrites === true
      ? { type: 'set-below', below: below(120), value: value() }
      : { type: 'set', id: id(), value: value() };
  };
  const sessions = Array.from({ length: mix.sessions }, () =>
    Array.from({ length: mix.transactions }, (): SimOp[] => {
      if (random() < 0.15) return [{ type: 'get', id: id(), lock: false }];
      const body = Array.from({ length: 1 + below(4) }, statement);
      return [{ type: 'begin' }, ...body, { type: random() < 0.85 ? 'commit' : 'rollback' }];
    }).flat(),
  );
  const initial = new Map<number, number>();
  for (let i = 0; i < mix.rows; i++)
    if (!mix.wide || random() < 0.7) initial.set(i, mix.values > 0 ? below(mix.values) : i);
  return { initial, sessions };
}

/** Runs the inferred schedule on a fresh store, batch by batch, and compares as a replay on a database would. */
export function simulatedReplay(
  history: History,
  order: InferredOrder,
  program: SimProgram,
  mechanism: Mechanism,
  random: () => number,
): ReplayReport {
  const results = new Map<string, SimResult>();
  const parse = simOps();
  const queues: string[][] = order.case.sessions.map(() => []);
  const flying = new Map<number, string>();
  const released = order.case.sessions.map(() => 0);
  const next = order.case.sessions.map(() => 0);
  const send = (session: number) => {
    while (!flying.has(session) && next[session]! < released[session]!) {
      const position = next[session]!++;
      const key = `${session}.${position}`;
      flying.set(session, key);
      const result = store.request(session, parse(order.case.sessions[session]!.statements[position]!));
      if (result === undefined) return;
      flying.delete(session);
      results.set(key, result);
    }
  };
  const store: SimStore = new SimStore(mechanism, program.initial, (session, result) => {
    results.set(flying.get(session)!, result);
    flying.delete(session);
    queues[session]!.push('answered');
    send(session);
  });
  for (const batch of order.schedule.batches) {
    const shuffled = batch.map((ref) => [random(), ref] as const).sort((a, b) => a[0] - b[0]);
    for (const [, [session, position]] of shuffled) {
      released[session] = position + 1;
      send(session);
    }
  }
  const answered = [...results.keys()];
  const differences: (Difference & { readonly at: number })[] = [];
  let compared = 0;
  order.sources.forEach((sources, session) => {
    sources.forEach((source, position) => {
      const op = source < 0 ? undefined : history.operations[source];
      if (op === undefined || order.leftOut.some(({ operation }) => operation === source)) return;
      const key = `${session}.${position}`;
      const got = results.get(key);
      const answer = (
        one: Pick<Operation, 'rows' | 'matched' | 'ends'> & { error?: unknown },
        error: unknown,
      ) => JSON.stringify([one.rows, one.matched, error, one.ends]);
      const was = answer(op, op.error?.class);
      const is = got === undefined ? 'no answer' : answer(got, got.error);
      compared++;
      if (was === is) return;
      const at = got === undefined ? Number.POSITIVE_INFINITY : answered.indexOf(key);
      differences.push({ operation: source, session: key, sql: op.sql!, kind: 'rows', was, is, why: '', at });
    });
  });
  const first = differences.toSorted((a, b) => a.at - b.at)[0];
  const earliest = Math.min(...differences.map(({ operation }) => operation));
  return {
    ...{ mode: 'batch', history, compared, same: compared - differences.length, differences },
    ...(first !== undefined && { firstDifference: first, earliest }),
  };
}

function simOps(): (sql: string) => SimOp {
  return (sql) => {
    const n = [...sql.matchAll(/\d+/g)].map(Number);
    if (/^(BEGIN|COMMIT|ROLLBACK)/.test(sql)) return { type: sql.split(' ')[0]!.toLowerCase() as 'begin' };
    if (/^SELECT.*WHERE id/.test(sql)) return { type: 'get', id: n[0]!, lock: /FOR UPDATE/.test(sql) };
    if (/^SELECT/.test(sql)) return { type: 'scan', below: n[0] };
    if (/v \+ 1/.test(sql)) return { type: 'add', id: n[1]! };
    if (/^UPDATE.*WHERE id/.test(sql)) return { type: 'set', value: n[0]!, id: n[1]! };
    if (/^UPDATE/.test(sql)) return { type: 'set-below', value: n[0]!, below: n[1]! };
    if (/^INSERT/.test(sql)) return { type: 'insert', id: n[0]!, value: n[1]! };
    return { type: 'delete', id: n[0]! };
  };
}
