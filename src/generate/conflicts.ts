/**
 * Conflict-directed schedules: two transactions that touch the same rows, one of them writing, meet in every order.
 *
 * A statement outside transactions is one of a single step: it meets a transaction of several, not another such statement.
 *
 * 1. Read each statement's tree: which tables it reads and writes, and which row (`rid = 3`) if it names one.
 * 2. Rank the pairs of transactions of different sessions by their conflicting statement pairs; two writes of the same
 *    rows weigh more than a write and a read.
 * 3. Of a pair, only statements that conflict, BEGIN and the end decide anything; the others go with the next one of
 *    their transaction. With n and m such steps there are C(n + m, n) orders.
 * 4. What the two sessions do before runs first, what they do after and all other sessions run behind.
 *
 * Orders are numbered and computed from their number, so a bounded choice is spread evenly over all of them.
 */
import {
  type Case,
  type Schedule,
  type StatementRef,
  type TransactionSpan,
  totalOrder,
  transactionsOf,
} from '../cases/index.js';
import type { Touch } from '../rows/index.js';
import type { Random } from './random.js';
import { conflictWeight, touchesOf } from './touches.js';

export interface ConflictOptions {
  /** Pairs of transactions to use, best first; default 3. */
  readonly pairs?: number;
  /** Orders of each pair; default 40. */
  readonly orders?: number;
  /** With the two orders of each pair in which one transaction is over before the other begins; default true. */
  readonly serial?: boolean;
}

interface Step {
  readonly session: number;
  /** Positions, first to last inclusive. */
  readonly first: number;
  readonly last: number;
}

interface Pair {
  readonly score: number;
  readonly left: readonly Step[];
  readonly right: readonly Step[];
}

/** The schedules, pair by pair; finite, and the same for the same case. */
export function* conflictSchedules(program: Case, options: ConflictOptions = {}): Iterable<Schedule> {
  const { orders: limit = 40, pairs = 3, serial = true } = options;
  for (const pair of conflictPairs(program).slice(0, pairs)) {
    // The first and the last order are the serial ones; two transactions of two steps each have four more.
    const first = serial ? 0 : 1;
    const count = countOrders(pair) - 2 * first;
    const used = Math.min(count, limit);
    for (let i = 0; i < used; i++) yield scheduleOf(program, pair, first + Math.floor((i * count) / used));
  }
}

/** One of them by chance; undefined when no two transactions conflict. */
export function conflictSchedule(program: Case, random: Random): Schedule | undefined {
  const pairs = conflictPairs(program);
  if (pairs.length === 0) return undefined;
  const pair = random.pickSkewed(pairs);
  // The first and the last order are the serial ones: nothing meets in them.
  const count = countOrders(pair);
  return scheduleOf(program, pair, random.between(1, Math.max(1, count - 2)));
}

/** More transactions than this are not compared with each other: pairs grow with the square. */
const mostTransactions = 64;

function conflictPairs(program: Case): Pair[] {
  const spans = program.sessions
    .flatMap((_, session) => transactionsOf(program, session))
    .slice(0, mostTransactions);
  const touches = spans.map((span) => touchesIn(program, span));
  const pairs: Pair[] = [];
  for (let a = 0; a < spans.length; a++) {
    for (let b = a + 1; b < spans.length; b++) {
      if (spans[a]!.session === spans[b]!.session) continue;
      if (!spans[a]!.explicit && !spans[b]!.explicit) continue;
      const pair = pairOf(spans[a]!, touches[a]!, spans[b]!, touches[b]!);
      if (pair.score > 0) pairs.push(pair);
    }
  }
  // Sorting is stable: equal scores stay in program order.
  return pairs.sort((one, other) => other.score - one.score);
}

function touchesIn(program: Case, { session, first, last }: TransactionSpan): Touch[] {
  const { statements } = program.sessions[session]!;
  return statements.slice(first, last + 1).map((sql) => touchesOf(sql, program.dialect));
}

function pairOf(
  left: TransactionSpan,
  leftTouches: readonly Touch[],
  right: TransactionSpan,
  rightTouches: readonly Touch[],
): Pair {
  const weights = leftTouches.map((one) => rightTouches.map((other) => conflictWeight(one, other)));
  const leftHits = weights.map((row) => row.reduce((sum, weight) => sum + weight, 0));
  const rightHits = rightTouches.map((_, r) => weights.reduce((sum, row) => sum + row[r]!, 0));
  return {
    score: leftHits.reduce((sum, hits) => sum + hits, 0),
    left: stepsOf(left, leftHits),
    right: stepsOf(right, rightHits),
  };
}

/** A transaction as steps: each ends with its BEGIN, a conflicting statement, or its end. */
function stepsOf({ session, first, last }: TransactionSpan, hits: readonly number[]): Step[] {
  const steps: Step[] = [];
  let from = first;
  for (let position = first; position <= last; position++) {
    const decides = position === first || position === last || hits[position - first]! > 0;
    if (!decides) continue;
    steps.push({ session, first: from, last: position });
    from = position + 1;
  }
  return steps;
}

function countOrders({ left, right }: Pair): number {
  return Math.min(choose(left.length + right.length, left.length), Number.MAX_SAFE_INTEGER);
}

/** Binomial coefficient; exact as far as a double is. */
function choose(n: number, k: number): number {
  let result = 1;
  for (let i = 1; i <= k; i++) result = Math.round((result * (n - k + i)) / i);
  return result;
}

function scheduleOf(program: Case, pair: Pair, number: number): Schedule {
  const { left, right } = pair;
  const before = [left[0]!, right[0]!].flatMap(({ session, first }) => refs(session, 0, first - 1));
  const met = nthOrder(pair, number).flatMap(({ session, first, last }) => refs(session, first, last));
  const after = [left.at(-1)!, right.at(-1)!].flatMap(({ session, last }) =>
    refs(session, last + 1, program.sessions[session]!.statements.length - 1),
  );
  const others = program.sessions.flatMap(({ statements }, session) =>
    session === left[0]!.session || session === right[0]!.session
      ? []
      : refs(session, 0, statements.length - 1),
  );
  return totalOrder([...before, ...met, ...after, ...others]);
}

function refs(session: number, first: number, last: number): StatementRef[] {
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, i): StatementRef => [session, first + i]);
}

/** The interleaving with this number: at each place, all orders that go on with the left side come first. */
function nthOrder({ left, right }: Pair, number: number): Step[] {
  const steps: Step[] = [];
  let [l, r, rest] = [0, 0, number];
  while (l < left.length || r < right.length) {
    const withLeft = l < left.length ? choose(left.length - l - 1 + right.length - r, right.length - r) : 0;
    if (rest < withLeft) steps.push(left[l++]!);
    else {
      rest -= withLeft;
      if (r < right.length) steps.push(right[r++]!);
      else steps.push(left[l++]!);
    }
  }
  return steps;
}
