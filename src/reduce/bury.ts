/**
 * Hides a small case among irrelevant work, the way a stress test meets a bug: once, somewhere among thousands of operations
 * of many sessions. For tests and benchmarks of reduction, where the right answer is known.
 */
import {
  type CaseSession,
  type ScheduledCase,
  type StatementRef,
  totalOrder,
  transactionsOf,
} from '../cases/index.js';
import { type Candidate, candidateOf } from './candidate.js';

export interface BuryOptions {
  /** Irrelevant operations, BEGIN and COMMIT not counted. */
  readonly operations: number;
  /** Sessions in all; those of the case do irrelevant work too, whenever they have no transaction of the case open. */
  readonly sessions: number;
  readonly seed?: number;
}

const rowsPerSession = 10;

/** The irrelevant work reads and writes a table of its own, each session its own rows, so that it never waits. */
export function buryCase(scheduled: ScheduledCase, options: BuryOptions): Candidate {
  const { case: core, schedule } = candidateOf(scheduled);
  const random = generator(options.seed ?? 1);
  const pick = (count: number) => Math.floor(random() * count);
  const names = core.sessions.map(({ name }) => name);
  for (let s = names.length; s < options.sessions; s++) names.push(`N${s + 1}`);
  const texts: string[][] = names.map(() => []);
  const order: StatementRef[] = [];
  const left = names.map(() => 0);
  const busy = new Set<number>();
  let done = 0;
  const send = (session: number, sql: string) => {
    order.push([session, texts[session]!.length]);
    texts[session]!.push(sql);
  };
  const endWork = (session: number) => {
    if (left[session]! > 0) send(session, 'COMMIT');
    left[session] = 0;
  };
  const work = () => {
    const idle = names.flatMap((_, s) => (busy.has(s) ? [] : [s]));
    const s = idle[pick(idle.length)]!;
    if (left[s] === 0 && random() < 0.7) {
      send(s, 'BEGIN');
      left[s] = 2 + pick(4);
    }
    const row = () => s * rowsPerSession + pick(rowsPerSession);
    if (random() < 0.4) send(s, `UPDATE noise SET w = ${done} WHERE rid = ${row()}`);
    else send(s, `SELECT rid, w FROM noise WHERE rid IN (${row()}, ${row()})`);
    done++;
    if (left[s]! > 0 && --left[s]! === 0) send(s, 'COMMIT');
  };
  const spans = core.sessions.map((_, s) => transactionsOf(core, s));
  const steps = schedule.batches.flat();
  steps.forEach(([s, p], i) => {
    while (done < (options.operations * (i + 1)) / (steps.length + 1)) work();
    endWork(s);
    send(s, core.sessions[s]!.statements[p]!);
    const span = spans[s]!.find(({ first, last }) => first <= p && p <= last)!;
    if (p < span.last || span.end === 'open') busy.add(s);
    else busy.delete(s);
  });
  while (done < options.operations && busy.size < names.length) work();
  names.forEach((_, s) => {
    endWork(s);
  });
  const rows = names.flatMap((_, s) =>
    Array.from({ length: rowsPerSession }, (_, r) => `(${s * rowsPerSession + r}, 0)`),
  );
  const setup = [
    ...core.setup,
    'CREATE TABLE noise (rid INT PRIMARY KEY, w INT)',
    `INSERT INTO noise VALUES ${rows.join(', ')}`,
  ];
  const sessions = names.map(
    (name, s): CaseSession => ({ ...core.sessions[s], name, statements: texts[s]! }),
  );
  return { case: { ...core, setup, sessions }, schedule: totalOrder(order) };
}

function generator(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
