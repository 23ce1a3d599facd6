/**
 * Checks a certificate against its history. Shares no code with the checker: only the history, the names of the levels,
 * and what the levels mean (`replayed-store.ts`, `commit-order.ts`, `remaining-history.ts`).
 *
 * An order is accepted if it holds every committed transaction once and none that aborted, keeps the order of sessions or
 * of real time where the level does, and explains every read. Transactions that are said to break a level are
 * accepted if no order of them, and no way in which those of unknown outcome may have ended, is accepted.
 */
import {
  type KvHistory,
  kvAborted,
  kvCommitted,
  kvRead,
  kvUnseen,
  kvWrite,
} from '../../../histories/index.js';
import { baseOf, type CheckLevel, orderOf } from '../../levels.js';
import type { Certificate } from './certificate.js';
import { CommitOrder } from './commit-order.js';
import { remainingHistory } from './remaining-history.js';
import { ReplayedStore } from './replayed-store.js';

export type Verification = { readonly accepted: true } | { readonly accepted: false; readonly why: string };

/** Transactions of which every order is tried; beyond, a core is not small enough to be a proof. */
const mostTransactions = 12;

export function verifyCertificate(history: KvHistory, certificate: Certificate): Verification {
  const why = certificate.valid
    ? orderFault(history, certificate.level, certificate.order, certificate.reads)
    : coreFault(history, certificate.level, certificate.transactions);
  return why === undefined ? { accepted: true } : { accepted: false, why };
}

const bySteps: readonly string[] = ['serializable', 'repeatable read', 'snapshot', 'prefix'];
const hasTwoSteps = (level: CheckLevel): boolean =>
  baseOf(level) === 'snapshot' || baseOf(level) === 'prefix';

function orderFault(
  history: KvHistory,
  level: CheckLevel,
  steps: readonly number[],
  reads?: Readonly<Record<string, number>>,
): string | undefined {
  const unread = unjudged(history);
  if (unread !== undefined) return unread;
  const twoSteps = hasTwoSteps(level);
  const state = new Uint8Array(history.txCount);
  const keeper = new OrderKeeper(history, level);
  const store = new ReplayedStore(history, baseOf(level) === 'snapshot');
  for (const step of steps) {
    const tx = step < 0 ? -1 - step : step;
    if (tx >= history.txCount || (step < 0 && !twoSteps)) return `${step} is no step of a transaction`;
    if (history.txStatus[tx] === kvAborted) return `transaction ${tx} aborted`;
    if (state[tx] !== (step < 0 ? 1 : 0)) return `transaction ${tx} comes twice`;
    const ends = step < 0 || !twoSteps;
    state[tx] = ends ? 2 : 1;
    if (step >= 0 && !keeper.start(tx)) return `transaction ${tx} starts before one that it must follow`;
    if (bySteps.includes(baseOf(level))) {
      if (step >= 0 && !store.start(tx)) return `transaction ${tx} would read something else`;
      if (ends && !store.commit(tx)) return `transaction ${tx} would have installed something else`;
    }
    if (ends && !keeper.commit(tx)) return `transaction ${tx} commits behind one that must follow it`;
  }
  for (let tx = 0; tx < history.txCount; tx++) {
    if (state[tx] === 1 || (state[tx] === 0 && history.txStatus[tx] === kvCommitted))
      return `transaction ${tx} is missing`;
  }
  return bySteps.includes(baseOf(level))
    ? undefined
    : new CommitOrder(history, baseOf(level), steps, reads).fault();
}

/** Why no order can prove that anything holds. */
function unjudged({
  txCount,
  omitted = [],
  opCount,
  opKind,
  opValue,
  ...rest
}: KvHistory): string | undefined {
  if (txCount === 0) return 'the history holds no transactions';
  if (omitted.length > 0) return omitted[0];
  for (let tx = 0; tx < txCount; tx++) {
    if (rest.txStatus[tx] !== kvCommitted) continue;
    for (let op = rest.opOffsets[tx]!; op < rest.opOffsets[tx + 1]!; op++) {
      if (opKind[op]! < kvWrite && opValue[op] === kvUnseen) return `operation ${op} has no recorded result`;
    }
  }
  return undefined;
}

/** The order of sessions, and of real time, as a level keeps it. */
class OrderKeeper {
  readonly #order: 'none' | 'session' | 'real-time';
  readonly #lastOfSession = new Map<number, number>();
  readonly #open = new Map<number, number>();
  #latestStart = Number.NEGATIVE_INFINITY;

  constructor(
    readonly history: KvHistory,
    level: CheckLevel,
  ) {
    this.#order = orderOf(level);
  }

  start(tx: number): boolean {
    if (this.#order === 'none') return true;
    const { txSession, txStart } = this.history;
    const session = txSession[tx]!;
    if ((this.#lastOfSession.get(session) ?? -1) > tx || this.#open.has(session)) return false;
    this.#open.set(session, tx);
    this.#latestStart = Math.max(this.#latestStart, this.#time(txStart, tx, Number.NEGATIVE_INFINITY));
    return true;
  }

  commit(tx: number): boolean {
    if (this.#order === 'none') return true;
    this.#open.delete(this.history.txSession[tx]!);
    this.#lastOfSession.set(this.history.txSession[tx]!, tx);
    const end = this.#time(this.history.txEnd, tx, Number.POSITIVE_INFINITY);
    return this.#order === 'session' || end >= this.#latestStart;
  }

  /** The times of a transaction that ends before it starts say nothing. */
  #time(times: Float64Array | undefined, tx: number, otherwise: number): number {
    const { txStart, txEnd } = this.history;
    const time = times?.[tx] ?? Number.NaN;
    return Number.isNaN(time) || txEnd![tx]! < txStart![tx]! ? otherwise : time;
  }
}

function coreFault(history: KvHistory, level: CheckLevel, txs: readonly number[]): string | undefined {
  if (txs.some((tx) => tx < 0 || tx >= history.txCount)) return 'it names transactions that do not exist';
  if (txs.length === 0 || txs.length > mostTransactions)
    return `${txs.length} transactions cannot be tried in every order`;
  const small = remainingHistory(history, txs);
  const all = Array.from({ length: small.txCount }, (_, tx) => tx).filter(
    (tx) => small.txStatus[tx] !== kvAborted,
  );
  const order = bySteps.includes(baseOf(level))
    ? findRun(small, level, all)
    : findCommitOrder(small, level, all);
  return order === undefined
    ? undefined
    : `the order ${order.join(' ')} explains what these transactions read`;
}

/** A run that explains the committed ones of `txs`, and as many of the others as it takes. */
function findRun(history: KvHistory, level: CheckLevel, txs: readonly number[]): number[] | undefined {
  const twoSteps = hasTwoSteps(level);
  const needed = txs.filter((tx) => history.txStatus[tx] === kvCommitted);
  const steps: number[] = [];
  const extend = (store: ReplayedStore): boolean => {
    const place = (step: number): number => steps.indexOf(step);
    const ended = (tx: number): boolean => place(twoSteps ? -1 - tx : tx) >= 0;
    if (needed.every(ended) && txs.every((tx) => ended(tx) || place(tx) < 0)) return true;
    for (const tx of txs) {
      if (ended(tx)) continue;
      const starts = place(tx) < 0;
      if (
        starts &&
        txs.some((other) => mustFollow(history, level, tx, other) && ended(other) === false && isIn(other))
      )
        continue;
      if (starts && txs.some((other) => mustFollow(history, level, other, tx) && place(other) >= 0)) continue;
      const next = store.copy();
      if (starts && !next.start(tx)) continue;
      if ((!starts || !twoSteps) && !next.commit(tx)) continue;
      steps.push(starts ? tx : -1 - tx);
      if (extend(next)) return true;
      steps.pop();
    }
    return false;
  };
  const isIn = (tx: number): boolean => history.txStatus[tx] === kvCommitted || steps.includes(tx);
  return extend(new ReplayedStore(history, baseOf(level) === 'snapshot')) ? steps : undefined;
}

/** Must `later` come after `earlier` in the order the level keeps? */
function mustFollow(history: KvHistory, level: CheckLevel, later: number, earlier: number): boolean {
  if (later === earlier) return false;
  const keeper = new OrderKeeper(history, level);
  return !(keeper.start(later) && keeper.commit(later) && keeper.start(earlier) && keeper.commit(earlier));
}

function findCommitOrder(
  history: KvHistory,
  level: CheckLevel,
  txs: readonly number[],
): number[] | undefined {
  const unknown = txs.filter((tx) => history.txStatus[tx] !== kvCommitted);
  for (let subset = 0; subset < 1 << unknown.length; subset++) {
    const chosen = txs.filter((tx) => !unknown.includes(tx) || (subset >> unknown.indexOf(tx)) & 1);
    for (const reads of choices(history, chosen)) {
      for (const order of permutations(history, level, chosen)) {
        if (new CommitOrder(history, baseOf(level), order, reads).fault() === undefined) return order;
      }
    }
  }
  return undefined;
}

/** Every order of the transactions that the level's own order allows. */
function* permutations(history: KvHistory, level: CheckLevel, txs: readonly number[]): Generator<number[]> {
  if (txs.length === 0) yield [];
  for (const first of txs) {
    const rest = txs.filter((tx) => tx !== first);
    if (rest.some((other) => mustFollow(history, level, first, other))) continue;
    for (const order of permutations(history, level, rest)) yield [first, ...order];
  }
}

/** Every way to say which of several writers of one value a read saw. */
function* choices(history: KvHistory, txs: readonly number[]): Generator<Record<string, number>> {
  const { opOffsets, opKind, opKey, opValue } = history;
  const writers = new Map<string, Set<number>>();
  const open: [op: number, candidates: number[]][] = [];
  const each = (visit: (op: number, tx: number) => void): void => {
    for (const tx of txs) for (let op = opOffsets[tx]!; op < opOffsets[tx + 1]!; op++) visit(op, tx);
  };
  each((op, tx) => {
    if (opKind[op]! < kvWrite) return;
    const id = `${opKey[op]}/${opValue[op]}`;
    writers.set(id, (writers.get(id) ?? new Set()).add(tx));
  });
  each((op) => {
    // Whose the elements of a list are is said by their places.
    if (opKind[op] !== kvRead || opValue[op] === kvUnseen) return;
    const candidates = [...(writers.get(`${opKey[op]}/${opValue[op]}`) ?? [])];
    if (opValue[op] === history.initialValue) candidates.push(-1);
    if (candidates.length > 1) open.push([op, candidates]);
  });
  function* choose(i: number, made: Record<string, number>): Generator<Record<string, number>> {
    if (i === open.length) {
      yield made;
      return;
    }
    for (const tx of open[i]![1]) yield* choose(i + 1, { ...made, [open[i]![0]]: tx });
  }
  yield* choose(0, {});
}
