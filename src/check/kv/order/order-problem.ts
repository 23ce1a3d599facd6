/**
 * Serializability, snapshot isolation, prefix consistency and cursor stability as one question: can the versions of
 * every key be put in an order so that a graph of points has no cycle? (Papadimitriou's polygraphs; Cobra, OSDI 2020,
 * and PolySI, VLDB 2023, put the same question to SAT solvers.)
 *
 * What differs is only what a transaction is. For serializability it is one point. For prefix and snapshot it is two
 * points, where it reads and where it commits: reads-from and session order lead from a commit to a read,
 * anti-dependencies from a read to a commit, and ww from commit to commit (prefix) or, so that no two concurrent
 * transactions write the same key, from commit to read (snapshot). For cursor stability it is one point, and only
 * transactions that write the key they read have anti-dependencies.
 *
 * "Version a before version b" means ww(a, b), and rw(r, b) for whoever read a. Only keys with two writers or more are
 * part of the question ("open"); what is known of the others is in the edges.
 *
 * Everything is in typed arrays: a million transactions are asked about.
 */
import { kvRead } from '../../../histories/index.js';
import { type EdgeList, rw, ww } from '../../graph/graph.js';
import type { Sessions } from '../../graph/sessions.js';
import type { KvDependencies } from '../kv-edges.js';
import type { ResolvedKv } from '../resolved-kv.js';

export type OrderMode = 'serializable' | 'snapshot' | 'prefix' | 'cursor stability';

/** Rows of numbers behind one another: row `i` is `items[offsets[i] … offsets[i + 1] - 1]`. */
export interface Rows {
  readonly offsets: Int32Array;
  readonly items: Int32Array;
}

export interface OrderProblem {
  readonly mode: OrderMode;
  readonly txCount: number;
  /** Transactions have a point where they read and another where they commit. */
  readonly split: boolean;
  /** Reading points, commit points, then auxiliary points. */
  readonly pointCount: number;
  /** The edges that hold whatever the order of versions, as points. */
  readonly sources: Int32Array;
  readonly targets: Int32Array;
  /** Which key of the history each open key is. */
  readonly keys: Int32Array;
  /** The versions of an open key are `versionOffsets[k] … versionOffsets[k + 1] - 1`: by chain, in its order. */
  readonly versionOffsets: Int32Array;
  readonly versionTx: Int32Array;
  readonly versionKey: Int32Array;
  /** Who read each version, its writer aside. */
  readonly readers: Rows;
  /** The versions that each transaction wrote and read. */
  readonly writes: Rows;
  readonly reads: Rows;
  /** Sequences of transactions that follow each other in the known edges: usually the sessions. */
  readonly chains: Sessions;
}

export const commitPoint = (problem: Pick<OrderProblem, 'split' | 'txCount'>, tx: number): number =>
  problem.split ? problem.txCount + tx : tx;

/** The transaction of a point, or -1 for auxiliary ones. */
export function pointTx({ split, txCount }: OrderProblem, point: number): number {
  if (point < txCount) return point;
  return split && point < 2 * txCount ? point - txCount : -1;
}

type Layout = Pick<OrderProblem, 'mode' | 'split' | 'txCount'>;

/** Where an edge of a kind leaves its first transaction and enters its second. */
export const leavesFrom = (problem: Layout, tx: number, kind: number): number =>
  kind === rw ? tx : commitPoint(problem, tx);
export function entersAt(problem: Layout, tx: number, kind: number): number {
  const atCommit = kind === rw || (kind === ww && problem.mode !== 'snapshot');
  return atCommit ? commitPoint(problem, tx) : tx;
}

export function buildOrderProblem(
  resolved: ResolvedKv,
  mode: OrderMode,
  known: { readonly edges: EdgeList; readonly kinds: number; readonly dependencies: KvDependencies },
  chains: Sessions,
): OrderProblem {
  const txCount = known.edges.txCount;
  const layout = { mode, txCount, split: mode === 'snapshot' || mode === 'prefix' };
  const versions = listVersions(resolved, mode, known.dependencies, chains);
  const writes = invert(versions.versionTx, txCount);
  const pairs = listReads(resolved, mode, versions, writes);
  return {
    ...layout,
    pointCount: known.edges.nodeCount + (layout.split ? txCount : 0),
    ...pointEdges(layout, known.edges, known.kinds),
    ...versions,
    writes,
    readers: group(pairs.version, pairs.reader, versions.versionTx.length),
    reads: group(pairs.reader, pairs.version, txCount),
    chains,
  };
}

function pointEdges(
  layout: Layout,
  edges: EdgeList,
  kinds: number,
): { sources: Int32Array; targets: Int32Array } {
  const { txCount, split } = layout;
  const shift = split ? txCount : 0;
  const sources = new Int32Array(edges.length + shift);
  const targets = new Int32Array(edges.length + shift);
  let length = 0;
  for (; length < shift; length++) {
    sources[length] = length;
    targets[length] = txCount + length;
  }
  for (let e = 0; e < edges.length; e++) {
    const kind = edges.kinds[e]!;
    if (((kinds >> kind) & 1) === 0) continue;
    const from = edges.sources[e]!;
    const to = edges.targets[e]!;
    sources[length] = from >= txCount ? from + shift : leavesFrom(layout, from, kind);
    targets[length++] = to >= txCount ? to + shift : entersAt(layout, to, kind);
  }
  return { sources: sources.subarray(0, length), targets: targets.subarray(0, length) };
}

type Versions = Pick<OrderProblem, 'keys' | 'versionOffsets' | 'versionTx' | 'versionKey'>;

/** The versions of open keys, key by key, each key's in the order of `chains.txs`. */
function listVersions(
  resolved: ResolvedKv,
  mode: OrderMode,
  dependencies: KvDependencies,
  chains: Sessions,
): Versions {
  const { history, finalWrite } = resolved;
  const keyCount = history.keyNames.length;
  const counts = new Int32Array(keyCount);
  const isWrite = (op: number): boolean => finalWrite[op] === 1 && history.opKind[op] === 2;
  for (const tx of chains.txs) {
    for (let op = history.opOffsets[tx]!; op < history.opOffsets[tx + 1]!; op++) {
      if (isWrite(op)) counts[history.opKey[op]!]!++;
    }
  }
  // Nobody read what a list's tail holds, so its order matters only where writing alone conflicts.
  const tails = mode === 'snapshot' || mode === 'cursor stability' ? dependencies.tails : new Map();
  for (const [key, writers] of tails) counts[key] = writers.length;
  const openKey = new Int32Array(keyCount).fill(-1);
  const keys: number[] = [];
  for (let key = 0; key < keyCount; key++) {
    if (counts[key]! > 1) openKey[key] = keys.push(key) - 1;
  }
  const versionOffsets = new Int32Array(keys.length + 1);
  keys.forEach((key, k) => {
    versionOffsets[k + 1] = versionOffsets[k]! + counts[key]!;
  });
  const total = versionOffsets[keys.length]!;
  const versionTx = new Int32Array(total);
  const versionKey = new Int32Array(total);
  for (let k = 0; k < keys.length; k++) versionKey.fill(k, versionOffsets[k]!, versionOffsets[k + 1]!);
  const next = versionOffsets.slice(0, keys.length);
  for (const tx of chains.txs) {
    for (let op = history.opOffsets[tx]!; op < history.opOffsets[tx + 1]!; op++) {
      const k = openKey[history.opKey[op]!]!;
      if (k >= 0 && isWrite(op)) versionTx[next[k]!++] = tx;
    }
  }
  for (const [key, writers] of tails as ReadonlyMap<number, readonly number[]>) {
    if (openKey[key]! < 0) continue;
    const place = (tx: number): number => chains.offsets[chains.session[tx]!]! + chains.position[tx]!;
    versionTx.set(
      [...writers].sort((a, b) => place(a) - place(b)),
      versionOffsets[openKey[key]!]!,
    );
  }
  return { keys: Int32Array.from(keys), versionOffsets, versionTx, versionKey };
}

/** Each pair of a version and somebody else who read it, once. */
function listReads(
  resolved: ResolvedKv,
  mode: OrderMode,
  { keys, versionKey, versionTx }: Versions,
  writes: Rows,
): { version: Int32Array; reader: Int32Array } {
  const { history, counts, opTx, readsFrom } = resolved;
  const openKey = new Int32Array(history.keyNames.length).fill(-1);
  keys.forEach((key, k) => {
    openKey[key] = k;
  });
  const written = (tx: number, k: number): number => {
    for (let i = writes.offsets[tx]!; i < writes.offsets[tx + 1]!; i++) {
      if (versionKey[writes.items[i]!] === k) return writes.items[i]!;
    }
    return -1;
  };
  const version = new Int32Array(history.opCount);
  const reader = new Int32Array(history.opCount);
  const lastReader = new Int32Array(versionTx.length).fill(-1);
  let length = 0;
  for (let tx = 0; tx < history.txCount; tx++) {
    if (counts[tx] === 0) continue;
    for (let op = history.opOffsets[tx]!; op < history.opOffsets[tx + 1]!; op++) {
      const source = readsFrom[op]!;
      if (source < 0 || history.opKind[op] !== kvRead) continue;
      const k = openKey[history.opKey[op]!]!;
      if (k < 0 || opTx[source] === tx) continue;
      const v = written(opTx[source]!, k);
      if (v < 0 || lastReader[v] === tx) continue;
      if (mode === 'cursor stability' && written(tx, k) < 0) continue;
      lastReader[v] = tx;
      version[length] = v;
      reader[length++] = tx;
    }
  }
  return { version: version.subarray(0, length), reader: reader.subarray(0, length) };
}

/** `items` by the number of their row. */
function group(rowOf: Int32Array, items: Int32Array, rowCount: number): Rows {
  const offsets = new Int32Array(rowCount + 1);
  for (const row of rowOf) offsets[row + 1]!++;
  for (let row = 0; row < rowCount; row++) offsets[row + 1] = offsets[row + 1]! + offsets[row]!;
  const next = offsets.slice(0, rowCount);
  const grouped = new Int32Array(items.length);
  for (let i = 0; i < items.length; i++) grouped[next[rowOf[i]!]!++] = items[i]!;
  return { offsets, items: grouped };
}

/** For each row the places that name it. */
function invert(rowOf: Int32Array, rowCount: number): Rows {
  return group(
    rowOf,
    Int32Array.from(rowOf, (_, i) => i),
    rowCount,
  );
}
