/** Histories of the simulated store, and replays of an inferred schedule on it. */
import type { Mechanism } from '../contracts/index.js';
import { RowStore, type StoreAnswer } from '../execute/row-store.case.js';
import {
  type Random,
  type RowProgram,
  type RowStatement,
  setupOfRows,
  sqlOfRowStatement,
} from '../generate/index.js';
import type { History, Operation } from '../histories/index.js';
import type { Difference } from './compare.js';
import type { InferredOrder } from './infer.js';
import type { ReplayReport } from './replay.js';

interface Flight {
  readonly session: number;
  readonly statement: RowStatement;
  readonly sent: number;
  done?: number;
  answer?: StoreAnswer;
}

export interface SimulationOptions {
  /** Intervals are widened up to this share of the way to the session's neighbouring statements; default 1. */
  readonly widest?: number;
  /** Whoever waited goes on at some later moment, so that others may come first; deadlocks last a while. Default false. */
  readonly races?: boolean;
}

/** Runs the sessions in a random interleaving and returns the history with widened intervals. */
export function simulate(
  program: RowProgram,
  mechanism: Mechanism,
  random: Random,
  { widest = 1, races = false }: SimulationOptions = {},
): History {
  const flights: Flight[][] = program.sessions.map(() => []);
  const position = program.sessions.map(() => 0);
  const flying = new Map<number, Flight>();
  let time = 0;
  const finish = (session: number, answer: StoreAnswer) => {
    const flight = flying.get(session)!;
    flying.delete(session);
    flight.done = ++time;
    flight.answer = answer;
    const failed =
      answer.error !== undefined && (mechanism.failureRollsBack === true || answer.error !== 'duplicate-key');
    if (failed && !isEnd(flight.statement)) skipToEnd(session, answer);
  };
  const skipToEnd = (session: number, answer: StoreAnswer) => {
    const left = program.sessions[session]!;
    const isControl = (one: RowStatement) => one.type === 'begin' || isEnd(one);
    while (position[session]! < left.length && !isControl(left[position[session]!]!)) position[session]!++;
    const next = left[position[session]!];
    if (answer.ends === 'rollback' && next !== undefined && next.type !== 'begin') position[session]!++;
  };
  const wakes = races ? 'later' : 'at once';
  const store = new RowStore(mechanism, program.initial, { wakes, answer: finish });
  for (;;) {
    const ready = program.sessions.flatMap((list, s) =>
      !flying.has(s) && position[s]! < list.length ? [s] : [],
    );
    const { wakeable, deadlocked } = store;
    if (ready.length === 0 && wakeable.length === 0 && deadlocked.length === 0) break;
    if (deadlocked.length > 0 && (random.chance(0.02) || ready.length + wakeable.length === 0)) {
      store.killWaiting(random.pick(deadlocked));
      continue;
    }
    const session = random.pick([...ready, ...wakeable]);
    if (!ready.includes(session)) {
      store.wake(session);
      continue;
    }
    const statement = program.sessions[session]![position[session]!++]!;
    const flight: Flight = { session, statement, sent: ++time };
    flights[session]!.push(flight);
    flying.set(session, flight);
    const answer = store.request(session, statement);
    if (answer !== undefined) finish(session, answer);
  }
  return historyOf(program, flights, () => random.fraction() * widest);
}

const isEnd = ({ type }: RowStatement) => type === 'commit' || type === 'rollback';

function historyOf(
  program: RowProgram,
  flights: readonly (readonly Flight[])[],
  widen: () => number,
): History {
  let transactions = 0;
  const operations = flights.flatMap((list) => {
    let free = 0;
    let transaction = -1;
    return list.map((flight, i): Omit<Operation, 'index'> => {
      const done = flight.done ?? Number.POSITIVE_INFINITY;
      const until = list[i + 1]?.sent ?? done + 10;
      const start = flight.sent - (flight.sent - free) * widen();
      const end = done + (until - done) * widen();
      free = end;
      if (transaction < 0) transaction = transactions++;
      const own = transaction;
      const { error, ends, rows, matched } = flight.answer ?? {};
      if (ends !== undefined) transaction = -1;
      return {
        ...{ session: flight.session, transaction: own, kind: flight.statement.type, start, end },
        sql: sqlOfRowStatement(flight.statement),
        outcome: error === undefined ? 'ok' : 'error',
        ...(error && { error: { class: error, message: error } }),
        ...(ends && { ends }),
        ...(rows && { columns: ['id', 'v'], rows }),
        ...(matched !== undefined && { matched }),
      };
    });
  });
  return {
    header: {
      sessions: program.sessions.map((_, s) => `S${s}`),
      dialect: 'postgres',
      setup: setupOfRows(program),
    },
    operations: operations.sort((a, b) => a.end! - b.end!).map((op, index) => ({ ...op, index })),
  };
}

/** Runs the inferred schedule on a fresh store, batch by batch, and compares as a replay on a database would. */
export function simulatedReplay(
  history: History,
  order: InferredOrder,
  program: RowProgram,
  mechanism: Mechanism,
  random: Random,
): ReplayReport {
  const answers = answersOf(order, program, mechanism, random);
  const answered = [...answers.keys()];
  const differences: (Difference & { readonly at: number })[] = [];
  let compared = 0;
  order.sources.forEach((sources, session) => {
    sources.forEach((source, position) => {
      const op = source < 0 ? undefined : history.operations[source];
      if (op === undefined || order.leftOut.some(({ operation }) => operation === source)) return;
      const key = `${session}.${position}`;
      const got = answers.get(key);
      const was = JSON.stringify([op.rows?.toSorted(byId), op.matched, op.error?.class, op.ends]);
      const is =
        got === undefined
          ? 'no answer'
          : JSON.stringify([got.rows?.toSorted(byId), got.matched, got.error, got.ends]);
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

const byId = (a: readonly unknown[], b: readonly unknown[]) => Number(a[0]) - Number(b[0]);

/** The answers of a replay, by session and position, in the order in which they were given. */
function answersOf(
  { case: { sessions }, schedule }: InferredOrder,
  program: RowProgram,
  mechanism: Mechanism,
  random: Random,
): Map<string, StoreAnswer> {
  const statements = new Map<string, RowStatement>([
    ['ROLLBACK', { type: 'rollback' }],
    ...program.sessions.flat().map((one) => [sqlOfRowStatement(one), one] as const),
  ]);
  const answers = new Map<string, StoreAnswer>();
  const flying = new Map<number, string>();
  const released = sessions.map(() => 0);
  const next = sessions.map(() => 0);
  const send = (session: number) => {
    while (!flying.has(session) && next[session]! < released[session]!) {
      const position = next[session]!++;
      const key = `${session}.${position}`;
      flying.set(session, key);
      const answer = store.request(session, statements.get(sessions[session]!.statements[position]!)!);
      if (answer === undefined) return;
      flying.delete(session);
      answers.set(key, answer);
    }
  };
  const store: RowStore = new RowStore(mechanism, program.initial, {
    answer: (session, answer) => {
      answers.set(flying.get(session)!, answer);
      flying.delete(session);
      send(session);
    },
  });
  for (const batch of schedule.batches)
    for (const [session, position] of random.shuffle(batch)) {
      released[session] = position + 1;
      send(session);
    }
  return answers;
}
