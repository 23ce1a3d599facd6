/**
 * Decides monotonic atomic view, read atomic and causal consistency exactly, in polynomial time: the axioms RC, RA
 * and CC of Biswas & Enea (OOPSLA 2019), with the shortcuts of AWDIT (PLDI 2025).
 *
 * Each level has one axiom: if T3 reads x from T1, and *sees* T2, another writer of x, then T2 comes before T1. A
 * history satisfies the level iff the edges this forces, with session order, reads-from and (for lists) the known
 * version order, have no cycle. "Sees" is
 * - monotonic atomic view: an earlier read of T3 read from T2;
 * - read atomic: any read of T3 read from T2, or T2 is earlier in T3's session;
 * - causal: a path of session order and reads-from leads from T2 to T3.
 *
 * Only edges that others do not imply are added: per session the last writer of x that T3 sees, and none that the
 * causal order already contains. For RC and RA the keys of T2 and T3 are matched by walking the smaller of both;
 * for CC a vector clock per transaction says what it sees of each session.
 *
 * CC is first tried with a likely order of all transactions: only a T2 between T1 and T3 could be forced against it, and
 * there is hardly ever one. Edges that are forced against it make another order, a few times.
 */
import { kvWrite } from '../../histories/index.js';
import { copyEdges, type EdgeList, kindMask, sessionOrder, wr, ww } from '../graph/graph.js';
import {
  chainsAlong,
  groupBySession,
  groupWriters,
  type KeyWriters,
  type Sessions,
} from '../graph/sessions.js';
import { clocksAlong } from './clocks.js';
import type { Effort } from './effort.js';
import { atOnePace, likelyOrder } from './likely-order.js';
import { misreads } from './misreads.js';
import { initialState, noSource, type ResolvedKv } from './resolved-kv.js';

export type SaturatedLevel = 'monotonic atomic view' | 'read atomic' | 'causal';

export interface Saturation {
  /** T2 is seen by the transaction of `read`, which nevertheless saw the initial state. */
  readonly initialReads: readonly { readonly writer: number; readonly read: number }[];
  /** Why nothing could be said. */
  readonly unknown?: string;
  /** An order of nodes that all that is forced agrees with; then no edge was added. */
  readonly order?: Int32Array;
}

/**
 * Adds the edges the axiom forces to `forced`, as ww edges whose `ref` is the read that forces them. `base` holds
 * session order, reads-from and known versions. Clocks and time are limited by `effort`.
 */
export function saturate(
  resolved: ResolvedKv,
  level: SaturatedLevel,
  { base, forced, effort }: { readonly base: EdgeList; readonly forced: EdgeList; readonly effort: Effort },
): Saturation {
  const sessions = groupBySession(resolved);
  if (level === 'causal') {
    // Where there are many sessions, fewer chains of what was read often hold all transactions.
    const many = sessions.count > manySessions;
    const chains = many ? chainsAlong(resolved, base, kindMask(wr, sessionOrder)) : undefined;
    const fewer = chains !== undefined && chains.count < sessions.count ? chains : sessions;
    if (base.nodeCount * fewer.count * 4 <= effort.limits.memoryBytes)
      return saturateCausal(resolved, fewer, { base, forced, effort });
    const reason = `clocks of ${resolved.history.txCount} transactions in ${fewer.count} chains do not fit in memory`;
    return { initialReads: [], unknown: reason };
  }
  const initialReads: { writer: number; read: number }[] = [];
  const add = forcer(resolved, forced, initialReads);
  const done =
    saturateDirect(resolved, level === 'monotonic atomic view', { add, effort }) &&
    (level !== 'read atomic' || saturateSessions(resolved, sessions, { add, effort }));
  return done ? { initialReads } : outOfTime(level, effort);
}

function outOfTime(level: SaturatedLevel, { limits }: Effort): Saturation {
  return { initialReads: [], unknown: `what ${level} forces was not drawn in ${limits.seconds} s` };
}

/** Transactions between two looks at the clock. */
const stride = 1024;

type AddForced = (writer: number, read: number) => void;

function forcer(
  resolved: ResolvedKv,
  forced: EdgeList,
  initialReads: { writer: number; read: number }[],
): AddForced {
  return (writer, read) => {
    const source = resolved.readsFrom[read]!;
    if (source === initialState) {
      if (initialReads.length < 20) initialReads.push({ writer, read });
    } else if (resolved.opTx[source] !== writer) forced.add(writer, resolved.opTx[source]!, ww, read);
  };
}

interface Forcing {
  readonly add: AddForced;
  readonly effort: Effort;
}

/** The transactions T3 read from, and which of their keys T3 reads: all, or (inOrder) only later ones. False if time was up. */
function saturateDirect(resolved: ResolvedKv, inOrder: boolean, { add, effort }: Forcing): boolean {
  const { history, counts, opTx, readsFrom, finalWrite } = resolved;
  const everyone = Int32Array.from({ length: history.txCount }, (_, tx) => tx);
  const writers = groupWriters(resolved, everyone);
  const keyCount = history.keyNames.length;
  const readStamp = new Int32Array(keyCount).fill(-1);
  const pendingStamp = new Int32Array(keyCount).fill(-1);
  const pending: number[][] = [];
  const sourceStamp = new Int32Array(history.txCount).fill(-1);
  for (let tx = 0; tx < history.txCount; tx++) {
    if (tx % stride === 0 && effort.spent()) return false;
    if (counts[tx] === 0) continue;
    const from = history.opOffsets[tx]!;
    const to = history.opOffsets[tx + 1]!;
    const keys: number[] = [];
    for (let op = from; op < to; op++) {
      const key = history.opKey[op]!;
      if (readsFrom[op] === noSource || readStamp[key] === tx) continue;
      readStamp[key] = tx;
      keys.push(key);
    }
    if (keys.length === 0) continue;
    const awaitRead = (key: number, source: number): void => {
      if (pendingStamp[key] === tx) pending[key]!.push(source);
      else {
        pendingStamp[key] = tx;
        pending[key] = [source];
      }
    };
    const see = (source: number): void => {
      if (sourceStamp[source] === tx) return;
      sourceStamp[source] = tx;
      const first = history.opOffsets[source]!;
      const end = history.opOffsets[source + 1]!;
      if (end - first <= keys.length) {
        for (let op = first; op < end; op++) {
          if (finalWrite[op] === 1 && readStamp[history.opKey[op]!] === tx)
            awaitRead(history.opKey[op]!, source);
        }
      } else for (const key of keys) if (writesKey(writers, key, source)) awaitRead(key, source);
    };
    const settle = (op: number): void => {
      const key = history.opKey[op]!;
      if (pendingStamp[key] !== tx) return;
      for (const source of pending[key]!) add(source, op);
      // What comes before this read's version comes before the next one's too.
      pending[key]!.length = 0;
      if (readsFrom[op]! >= 0) pending[key]!.push(opTx[readsFrom[op]!]!);
    };
    if (!inOrder) for (let op = from; op < to; op++) if (readsFrom[op]! >= 0) see(opTx[readsFrom[op]!]!);
    for (let op = from; op < to; op++) {
      if (readsFrom[op] === noSource) continue;
      settle(op);
      if (inOrder && readsFrom[op]! >= 0) see(opTx[readsFrom[op]!]!);
    }
  }
  return true;
}

/** Is `tx` among the writers of `key`, which are in ascending order? */
function writesKey(writers: KeyWriters, key: number, tx: number): boolean {
  let low = writers.offsets[key]!;
  let high = writers.offsets[key + 1]!;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (writers.txs[middle]! < tx) low = middle + 1;
    else high = middle;
  }
  return low < writers.offsets[key + 1]! && writers.txs[low] === tx;
}

function saturateSessions(resolved: ResolvedKv, sessions: Sessions, { add, effort }: Forcing): boolean {
  const { history, readsFrom, finalWrite } = resolved;
  const lastWriter = new Int32Array(history.keyNames.length);
  const stamp = new Int32Array(history.keyNames.length).fill(-1);
  for (let s = 0; s < sessions.count; s++) {
    if (effort.spent()) return false;
    for (let i = sessions.offsets[s]!; i < sessions.offsets[s + 1]!; i++) {
      const tx = sessions.txs[i]!;
      const from = history.opOffsets[tx]!;
      const to = history.opOffsets[tx + 1]!;
      for (let op = from; op < to; op++) {
        const key = history.opKey[op]!;
        if (readsFrom[op] !== noSource && stamp[key] === s) add(lastWriter[key]!, op);
      }
      for (let op = from; op < to; op++) {
        if (history.opKind[op]! < kvWrite || finalWrite[op] === 0) continue;
        lastWriter[history.opKey[op]!] = tx;
        stamp[history.opKey[op]!] = s;
      }
    }
  }
  return true;
}

const manySessions = 256;

function saturateCausal(
  resolved: ResolvedKv,
  sessions: Sessions,
  { base, forced, effort }: { readonly base: EdgeList; readonly forced: EdgeList; readonly effort: Effort },
): Saturation {
  const { history, readsFrom, opTx } = resolved;
  const width = sessions.count;
  const sequence = atOnePace(sessions);
  const first = likelyOrder(sessions, base, sequence);
  // A cycle of the base edges is found in them, with no help from the axiom.
  if (first === undefined) return { initialReads: [] };
  const most = history.opCount >> 2;
  const suspects = misreads(resolved, first, most);
  if (suspects.length === 0) return { initialReads: [], order: first };
  if (effort.spent()) return outOfTime('causal', effort);
  const clocks = clocksAlong(sessions, base, kindMask(wr, sessionOrder), first)!;
  const order = agreeingOrder(resolved, { sessions, sequence, clocks, base, first, suspects, most, effort });
  if (order !== undefined) return { initialReads: [], order };
  const initialReads: { writer: number; read: number }[] = [];
  const add = forcer(resolved, forced, initialReads);
  const writers = groupWriters(resolved, sessions.txs);
  const groups = sessionGroups(writers, sessions, history.keyNames.length);
  const position = writers.txs.map((tx) => sessions.position[tx]!);
  for (const [i, tx] of sessions.txs.entries()) {
    if (i % stride === 0 && effort.spent()) return outOfTime('causal', effort);
    const clock = tx * width;
    for (let op = history.opOffsets[tx]!; op < history.opOffsets[tx + 1]!; op++) {
      const source = readsFrom[op]!;
      if (source === noSource) continue;
      const key = history.opKey[op]!;
      const version = source < 0 ? -1 : opTx[source]!;
      const versionClock = version * width;
      for (let g = groups.offsets[key]!; g < groups.offsets[key + 1]!; g++) {
        const s = groups.session[g]!;
        // Clocks hold the number of transactions seen, so that 0 means none.
        const seen = clocks[clock + s]! - (s === sessions.session[tx] ? 1 : 0);
        // Whatever the transaction sees of the session, the version's writer sees as well.
        if (seen === 0 || (version >= 0 && clocks[versionClock + s]! >= seen)) continue;
        const at = lastBelow(groups, g, position, seen);
        if (at < 0 || (version >= 0 && clocks[versionClock + s]! > position[at]!)) continue;
        if (writers.txs[at] !== version) add(writers.txs[at]!, op);
      }
    }
  }
  return { initialReads };
}

interface Attempt {
  readonly sessions: Sessions;
  /** Transactions at one pace, as `likelyOrder` takes them. */
  readonly sequence: Int32Array;
  readonly clocks: Int32Array;
  readonly base: EdgeList;
  readonly first: Int32Array;
  /** The reads that a run in this order does not explain. */
  readonly suspects: readonly number[];
  /** No more of them than this are looked into. */
  readonly most: number;
  readonly effort: Effort;
}

const mostAttempts = 6;

/** An order that agrees with the base edges and all that the axiom forces; undefined if none is found in a few attempts. */
function agreeingOrder(resolved: ResolvedKv, attempt: Attempt): Int32Array | undefined {
  const { sessions, sequence, clocks, base, most, effort } = attempt;
  let { first: order, suspects } = attempt;
  let edges = base;
  const writers = groupWriters(
    resolved,
    order.filter((node) => node < resolved.history.txCount),
  );
  for (let i = 0; i < mostAttempts && suspects.length <= most && !effort.spent(); i++) {
    const against = forcedAgainst(resolved, { order, suspects, sessions, clocks, writers });
    if (against === undefined) return undefined;
    if (against.length === 0) return order;
    if (edges === base) edges = copyEdges(base);
    for (let at = 0; at < against.length; at += 2) edges.add(against[at]!, against[at + 1]!, ww);
    const next = likelyOrder(sessions, edges, sequence);
    if (next === undefined) return undefined;
    order = next;
    suspects = misreads(resolved, order, most);
  }
  return undefined;
}

interface OrderedSuspects extends Pick<Attempt, 'suspects' | 'sessions' | 'clocks'> {
  readonly order: Int32Array;
  /** In an earlier order; those of the suspects' keys are brought into this one. */
  readonly writers: KeyWriters;
}

/** Writer and version in turn, which the axiom orders against `order`; undefined if a read of the initial state is broken. */
function forcedAgainst(
  resolved: ResolvedKv,
  { order, suspects, sessions, clocks, writers }: OrderedSuspects,
): number[] | undefined {
  const { history, opTx, readsFrom } = resolved;
  const place = new Int32Array(order.length);
  for (let i = 0; i < order.length; i++) place[order[i]!] = i;
  const ordered = new Uint8Array(history.keyNames.length);
  const against: number[] = [];
  for (const read of suspects) {
    const reader = opTx[read]!;
    const source = readsFrom[read]!;
    const version = source < 0 ? -1 : opTx[source]!;
    const key = history.opKey[read]!;
    const start = writers.offsets[key]!;
    if (ordered[key] === 0) {
      orderByPlace(writers, key, place);
      ordered[key] = 1;
    }
    // From the last writer before the reader back to the version.
    for (let i = firstAfter(writers, key, place, place[reader]!) - 1; i >= start; i--) {
      const writer = writers.txs[i]!;
      if (version >= 0 && place[writer]! <= place[version]!) break;
      if (clocks[reader * sessions.count + sessions.session[writer]!]! <= sessions.position[writer]!)
        continue;
      if (version < 0) return undefined;
      against.push(writer, version);
    }
  }
  return against;
}

/** One order is much like the next, so few writers move; many are sorted by a method that does not depend on it. */
function orderByPlace({ txs, offsets }: KeyWriters, key: number, place: Int32Array): void {
  const [from, to] = [offsets[key]!, offsets[key + 1]!];
  if (to - from > 100) {
    txs.subarray(from, to).sort((a, b) => place[a]! - place[b]!);
    return;
  }
  for (let i = from + 1; i < to; i++) {
    const tx = txs[i]!;
    let at = i;
    for (; at > from && place[txs[at - 1]!]! > place[tx]!; at--) txs[at] = txs[at - 1]!;
    txs[at] = tx;
  }
}

/** Where the writers of a key begin whose place is `bound` or later. */
function firstAfter(writers: KeyWriters, key: number, place: Int32Array, bound: number): number {
  let low = writers.offsets[key]!;
  let high = writers.offsets[key + 1]!;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (place[writers.txs[middle]!]! < bound) low = middle + 1;
    else high = middle;
  }
  return low;
}

interface SessionGroups {
  /** Groups of key `k`: `offsets[k] … offsets[k + 1] - 1`. */
  readonly offsets: Int32Array;
  readonly session: Int32Array;
  /** Where the group begins among the writers; the next group begins where it ends. */
  readonly start: Int32Array;
  /** Where the last question about the group was answered: the next answer is near. */
  readonly cursor: Int32Array;
}

function sessionGroups(writers: KeyWriters, sessions: Sessions, keyCount: number): SessionGroups {
  const offsets = new Int32Array(keyCount + 1);
  const session: number[] = [];
  const start: number[] = [];
  for (let key = 0; key < keyCount; key++) {
    let last = -1;
    for (let i = writers.offsets[key]!; i < writers.offsets[key + 1]!; i++) {
      const s = sessions.session[writers.txs[i]!]!;
      if (s === last) continue;
      session.push(s);
      start.push(i);
      last = s;
    }
    offsets[key + 1] = session.length;
  }
  start.push(writers.txs.length);
  return {
    offsets,
    session: Int32Array.from(session),
    start: Int32Array.from(start),
    cursor: Int32Array.from(start),
  };
}

/** Where the last writer of the group is whose position is below `bound`, or -1. */
function lastBelow(groups: SessionGroups, group: number, position: Int32Array, bound: number): number {
  const from = groups.start[group]!;
  const to = groups.start[group + 1]!;
  let at = groups.cursor[group]!;
  while (at < to && position[at]! < bound) at++;
  while (at > from && position[at - 1]! >= bound) at--;
  groups.cursor[group] = at;
  return at > from ? at - 1 : -1;
}
