/**
 * Levels by the letter of their definitions, trying everything: all serial orders, all interleavings of reading and
 * commit points, all version orders, all commit orders. For a handful of transactions. These functions are the
 * yardstick of the fast checkers and share no code with them.
 */

import type { KvHistory } from '../../../histories/index.js';
import { baseOf, type CheckLevel, orderOf } from '../../levels.js';
import {
  ordered,
  orders,
  outcomes,
  type PlainOp,
  type PlainTx,
  plainHistory,
  withUniqueValues,
} from './plain-history.js';

type Order = 'none' | 'session' | 'real-time';
type State = Map<number, readonly number[]>;

/** Is there an execution, allowed by the level, that shows what the history shows? */
export function slowHolds(history: KvHistory, level: CheckLevel): boolean {
  for (const all of withUniqueValues(plainHistory(history), history.initialValue)) {
    for (const txs of outcomes(all)) if (holds(txs, all, level)) return true;
  }
  return false;
}

function holds(txs: readonly PlainTx[], all: readonly PlainTx[], level: CheckLevel): boolean {
  const order = orderOf(level);
  switch (baseOf(level)) {
    case 'serializable':
    case 'repeatable read':
      return serializable(txs, order);
    case 'snapshot':
      return byPoints(txs, order, true);
    case 'prefix':
      return byPoints(txs, order, false);
    case 'read uncommitted':
      return ownReadsHold(txs, all) && byVersionOrder(txs, all, order, 'uncommitted');
    case 'read committed':
      return readsCommitted(txs) && byVersionOrder(txs, all, order, 'committed');
    case 'cursor stability':
      return readsCommitted(txs) && byVersionOrder(txs, all, order, 'cursor');
    case 'monotonic atomic view':
      return readsCommitted(txs) && byAxiom(txs, seenByEarlierRead);
    case 'read atomic':
      return readsCommitted(txs) && byAxiom(txs, seenDirectly);
    case 'causal':
      return readsCommitted(txs) && byAxiom(txs, seenCausally);
  }
}

/** Registers are kept as lists of one element. */
function shows(op: PlainOp, state: State): boolean {
  const now = state.get(op.key) ?? [];
  if (op.kind === 'read') return op.value === null ? now.length === 0 : now.at(-1) === op.value;
  if (op.kind === 'list') return same(op.value, now);
  return true;
}

function apply(op: PlainOp, state: State): void {
  if (op.kind === 'write') state.set(op.key, [op.value]);
  if (op.kind === 'append') state.set(op.key, [...(state.get(op.key) ?? []), op.value]);
}

function runs(tx: PlainTx, state: State): boolean {
  for (const op of tx.ops) {
    if (!shows(op, state)) return false;
    apply(op, state);
  }
  return true;
}

/** A serial order in which every read shows what is there, looked for transaction by transaction. */
function serializable(txs: readonly PlainTx[], order: Order, state: State = new Map()): boolean {
  if (txs.length === 0) return true;
  return txs.some((tx) => {
    if (txs.some((other) => ordered(other, tx, order))) return false;
    const after = new Map(state);
    return (
      runs(tx, after) &&
      serializable(
        txs.filter((other) => other !== tx),
        order,
        after,
      )
    );
  });
}

/** A run up to some point: what is committed, who has read and is still to commit, who is still to read. */
interface Run {
  readonly state: State;
  readonly active: readonly PlainTx[];
  readonly waiting: readonly PlainTx[];
}

/** Every transaction reads at one point and commits at a later one. All runs are tried, point by point, each up to where it fails. */
function byPoints(txs: readonly PlainTx[], order: Order, exclusive: boolean): boolean {
  const goesOn = ({ state, active, waiting }: Run): boolean =>
    (active.length === 0 && waiting.length === 0) ||
    active.some((tx) => {
      const after = committed(tx, state);
      return after !== undefined && goesOn({ state: after, active: without(active, tx), waiting });
    }) ||
    waiting.some(
      (tx) =>
        // What comes before it in the order has committed before it reads.
        ![...active, ...waiting].some((other) => ordered(other, tx, order)) &&
        !(exclusive && active.some((other) => conflict(other, tx))) &&
        runs(tx, new Map(state)) &&
        goesOn({ state, active: [...active, tx], waiting: without(waiting, tx) }),
    );
  return goesOn({ state: new Map(), active: [], waiting: txs });
}

const without = (txs: readonly PlainTx[], tx: PlainTx): PlainTx[] => txs.filter((other) => other !== tx);

const conflict = (a: PlainTx, b: PlainTx): boolean =>
  a.ops.some((op) => (op.kind === 'write' || op.kind === 'append') && writesKey(b, op.key));

/** What a commit leaves; undefined where it contradicts what the transaction saw of its own. */
function committed(tx: PlainTx, state: State): State | undefined {
  const after = new Map(state);
  for (const op of tx.ops) apply(op, after);
  // A list read behind one's own append names the version one installs: it must be what was installed.
  return ownListsInstalled(tx, after) ? after : undefined;
}

function ownListsInstalled(tx: PlainTx, state: State): boolean {
  return tx.ops.every((op, i) => {
    if (op.kind !== 'list') return true;
    const appended = tx.ops.slice(0, i).some((other) => other.kind === 'append' && other.key === op.key);
    return !appended || isPrefix(op.value, state.get(op.key) ?? []);
  });
}

/** What a transaction must see of its own, at every level; and that what it reads was written at all. */
function ownReadsHold(txs: readonly PlainTx[], all: readonly PlainTx[]): boolean {
  const written = new Map(all.flatMap((tx) => tx.ops.flatMap((op, i) => writesOf(tx, op, i))));
  return txs.every((tx) =>
    tx.ops.every((op, i) => {
      if (op.kind !== 'read' && op.kind !== 'list') return true;
      const own = tx.ops.slice(0, i).filter((other) => other.kind === 'write' || other.kind === 'append');
      const values = own.filter((other) => other.key === op.key).map((other) => other.value as number);
      const elements = op.kind === 'list' ? op.value : op.value === null ? [] : [op.value];
      for (const element of elements) {
        const by = written.get(`${op.key}/${element}`);
        if (by === undefined) return false;
        if (by.tx === tx && by.index > i) return false;
      }
      if (new Set(elements).size < elements.length) return false;
      if (op.kind === 'read') return values.length === 0 || op.value === values.at(-1);
      return isSubsequence(values, op.value);
    }),
  );
}

function writesOf(tx: PlainTx, op: PlainOp, index: number): [string, { tx: PlainTx; index: number }][] {
  if (op.kind !== 'write' && op.kind !== 'append') return [];
  return [[`${op.key}/${op.value}`, { tx, index }]];
}

/** An external read: what it saw, without the transaction's own appends, and who wrote that. */
interface ExternalRead {
  readonly tx: PlainTx;
  readonly index: number;
  readonly key: number;
  /** undefined: the initial state. */
  readonly from: PlainTx | undefined;
}

function externalReads(txs: readonly PlainTx[]): ExternalRead[] {
  const reads: ExternalRead[] = [];
  for (const tx of txs) {
    tx.ops.forEach((op, index) => {
      if (op.kind === 'read') {
        const own = tx.ops.slice(0, index).some((other) => other.kind === 'write' && other.key === op.key);
        if (!own) reads.push({ tx, index, key: op.key, from: writerOf(txs, op.key, op.value) });
      }
      if (op.kind === 'list') {
        const foreign = op.value.filter((value) => writerOf(txs, op.key, value) !== tx);
        reads.push({ tx, index, key: op.key, from: writerOf(txs, op.key, foreign.at(-1) ?? null) });
      }
    });
  }
  return reads;
}

function writerOf(txs: readonly PlainTx[], key: number, value: number | null): PlainTx | undefined {
  if (value === null) return undefined;
  return txs.find((tx) =>
    tx.ops.some(
      (op) => (op.kind === 'write' || op.kind === 'append') && op.key === key && op.value === value,
    ),
  );
}

const writesKey = (tx: PlainTx, key: number): boolean =>
  tx.ops.some((op) => (op.kind === 'write' || op.kind === 'append') && op.key === key);

/** Own reads hold, and everything else read is the last write of a committed transaction (no G1a, no G1b). */
function readsCommitted(txs: readonly PlainTx[]): boolean {
  if (!ownReadsHold(txs, txs)) return false;
  return txs.every((tx) =>
    tx.ops.every((op) => {
      if (op.kind !== 'read' && op.kind !== 'list') return true;
      const values = op.kind === 'list' ? op.value : op.value === null ? [] : [op.value];
      const foreign = values.filter((value) => writerOf(txs, op.key, value) !== tx);
      const last = foreign.at(-1);
      if (last === undefined) return true;
      const writer = writerOf(txs, op.key, last)!;
      const writes = writer.ops.filter(
        (other) => (other.kind === 'write' || other.kind === 'append') && other.key === op.key,
      );
      return writes.at(-1)!.value === last;
    }),
  );
}

/** Some order of each key's versions leaves the dependencies of the level without a cycle. */
function byVersionOrder(
  txs: readonly PlainTx[],
  all: readonly PlainTx[],
  order: Order,
  level: 'uncommitted' | 'committed' | 'cursor',
): boolean {
  const keys = [...new Set(txs.flatMap((tx) => tx.ops.map((op) => op.key)))];
  const reads = externalReads(txs);
  const base: [PlainTx, PlainTx][] = txs.flatMap((a) =>
    txs.filter((b) => ordered(a, b, order)).map((b): [PlainTx, PlainTx] => [a, b]),
  );
  if (level !== 'uncommitted') {
    for (const { tx, from } of reads) if (from !== undefined && from !== tx) base.push([from, tx]);
  }
  const choose = (i: number, edges: readonly [PlainTx, PlainTx][]): boolean => {
    // Orders of further keys only add dependencies: a cycle stays.
    if (!acyclic(txs, edges)) return false;
    if (i === keys.length) return true;
    const key = keys[i]!;
    const writers = txs.filter((tx) => writesKey(tx, key));
    for (const versions of orders(writers, () => false)) {
      if (!listsFit(txs, all, key, versions)) continue;
      if (level === 'cursor' && !cursorsHold(reads, key, versions)) continue;
      const chain = versions.slice(1).map((tx, j): [PlainTx, PlainTx] => [versions[j]!, tx]);
      if (choose(i + 1, [...edges, ...chain])) return true;
    }
    return false;
  };
  return choose(0, base);
}

/** Every list read of the key begins the list that this order of versions makes; what did not commit has no version. */
function listsFit(
  txs: readonly PlainTx[],
  all: readonly PlainTx[],
  key: number,
  versions: readonly PlainTx[],
): boolean {
  const full = versions.flatMap((tx) =>
    tx.ops.flatMap((op) => (op.kind === 'append' && op.key === key ? [op.value] : [])),
  );
  return txs.every((tx) =>
    tx.ops.every((op) => {
      if (op.kind !== 'list' || op.key !== key) return true;
      const installed = op.value.filter((value) => {
        const writer = writerOf(all, key, value);
        return writer === undefined || txs.includes(writer);
      });
      return isPrefix(installed, full);
    }),
  );
}

/** Who reads a version and writes the key writes the next version. */
function cursorsHold(reads: readonly ExternalRead[], key: number, versions: readonly PlainTx[]): boolean {
  return reads.every((read) => {
    if (read.key !== key || !writesKey(read.tx, key)) return true;
    const at = read.from === undefined ? -1 : versions.indexOf(read.from);
    return versions[at + 1] === read.tx;
  });
}

type Sees = (
  txs: readonly PlainTx[],
  reads: readonly ExternalRead[],
  writer: PlainTx,
  read: ExternalRead,
) => boolean;

/** Biswas & Enea: some commit order keeps sessions, reads-from and versions, and puts T2 before T1 where T3 sees T2 and reads T1. */
function byAxiom(txs: readonly PlainTx[], sees: Sees): boolean {
  const reads = externalReads(txs);
  const readsFrom = (a: PlainTx, b: PlainTx): boolean =>
    reads.some((read) => read.tx === b && read.from === a && a !== b);
  const keys = [...new Set(txs.flatMap((tx) => tx.ops.map((op) => op.key)))];
  for (const commit of orders(txs, (a, b) => ordered(a, b, 'session') || readsFrom(a, b))) {
    const place = (tx: PlainTx | undefined): number => (tx === undefined ? -1 : commit.indexOf(tx));
    const fits = keys.every((key) =>
      listsFit(
        txs,
        txs,
        key,
        commit.filter((tx) => writesKey(tx, key)),
      ),
    );
    if (!fits) continue;
    const kept = reads.every((read) =>
      txs.every(
        (writer) =>
          writer === read.from ||
          writer === read.tx ||
          !writesKey(writer, read.key) ||
          !sees(txs, reads, writer, read) ||
          place(writer) < place(read.from),
      ),
    );
    if (kept) return true;
  }
  return false;
}

const seenByEarlierRead: Sees = (_txs, reads, writer, read) =>
  reads.some((other) => other.tx === read.tx && other.index < read.index && other.from === writer);

const seenDirectly: Sees = (_txs, reads, writer, read) =>
  ordered(writer, read.tx, 'session') || reads.some((other) => other.tx === read.tx && other.from === writer);

const seenCausally: Sees = (txs, reads, writer, read) => {
  const past = new Set<PlainTx>([read.tx]);
  for (let size = 0; size < past.size; ) {
    size = past.size;
    for (const tx of [...past]) {
      for (const other of txs) if (ordered(other, tx, 'session')) past.add(other);
      for (const { tx: reader, from } of reads) if (reader === tx && from !== undefined) past.add(from);
    }
  }
  return writer !== read.tx && past.has(writer);
};

function acyclic(txs: readonly PlainTx[], edges: readonly [PlainTx, PlainTx][]): boolean {
  let left = [...txs];
  for (;;) {
    const free = left.filter((tx) => !edges.some(([a, b]) => b === tx && a !== b && left.includes(a)));
    if (free.length === 0) return left.length === 0;
    left = left.filter((tx) => !free.includes(tx));
  }
}

const same = (a: readonly number[], b: readonly number[]): boolean => a.length === b.length && isPrefix(a, b);
const isPrefix = (a: readonly number[], b: readonly number[]): boolean =>
  a.every((value, i) => value === b[i]);

function isSubsequence(part: readonly number[], whole: readonly number[]): boolean {
  let at = 0;
  for (const value of whole) if (at < part.length && value === part[at]) at++;
  return at === part.length;
}
