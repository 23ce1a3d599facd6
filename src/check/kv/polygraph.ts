/**
 * Serializability, snapshot isolation, prefix consistency and cursor stability as one question: can the open
 * choices of version order be made so that a graph has no cycle? (Papadimitriou's polygraphs; Cobra, OSDI 2020, and
 * PolySI, VLDB 2023, put the same question to SAT solvers.)
 *
 * What differs is only what a transaction is. For serializability it is one point. For prefix and snapshot it is two
 * points, where it reads and where it commits: reads-from and session order lead from a commit to a read,
 * anti-dependencies from a read to a commit, and ww from commit to commit (prefix) or, so that no two concurrent
 * transactions write the same key, from commit to read (snapshot). For cursor stability it is one point, and only
 * transactions that write the key they read have anti-dependencies.
 *
 * An open choice is a pair of writers of a key. "a before b" means ww(a, b), and rw(r, b) for whoever read a's version.
 */
import { kvRead } from '../../histories/index.js';
import { type EdgeList, rw, ww } from '../graph/graph.js';
import { type KvDependencies, writeTest } from './kv-edges.js';
import type { ResolvedKv } from './resolved-kv.js';

export type PolygraphMode = 'serializable' | 'snapshot' | 'prefix' | 'cursor stability';

/** A key whose versions are not in a known order. */
export interface OpenKey {
  readonly key: number;
  readonly writers: readonly number[];
  /** Who read the version of each writer, the writer itself aside. */
  readonly readers: readonly (readonly number[])[];
}

export interface Polygraph {
  readonly mode: PolygraphMode;
  readonly txCount: number;
  readonly counts: Uint8Array;
  readonly nodeCount: number;
  readonly sources: Int32Array;
  readonly targets: Int32Array;
  readonly openKeys: readonly OpenKey[];
  readonly split: boolean;
}

export const readPoint = (_graph: Polygraph, tx: number): number => tx;
export const commitPoint = (graph: Polygraph, tx: number): number => (graph.split ? graph.txCount + tx : tx);

/** Where an edge of a kind leaves its first transaction and enters its second. */
export function leavesFrom(graph: Polygraph, tx: number, kind: number): number {
  return kind === rw ? readPoint(graph, tx) : commitPoint(graph, tx);
}
export function entersAt(graph: Polygraph, tx: number, kind: number): number {
  if (kind === rw) return commitPoint(graph, tx);
  return kind === ww && graph.mode !== 'snapshot' ? commitPoint(graph, tx) : readPoint(graph, tx);
}

export function buildPolygraph(
  resolved: ResolvedKv,
  mode: PolygraphMode,
  edges: EdgeList,
  kinds: number,
  dependencies: KvDependencies,
): Polygraph {
  const txCount = edges.txCount;
  const split = mode === 'snapshot' || mode === 'prefix';
  const shift = split ? txCount : 0;
  const extra = split ? txCount : 0;
  const sources = new Int32Array(edges.length + extra);
  const targets = new Int32Array(edges.length + extra);
  const shell: Polygraph = {
    mode,
    txCount,
    counts: resolved.counts,
    nodeCount: edges.nodeCount + shift,
    sources,
    targets,
    openKeys: openKeys(resolved, mode, dependencies),
    split,
  };
  let length = 0;
  for (let tx = 0; tx < extra; tx++) {
    sources[length] = tx;
    targets[length++] = txCount + tx;
  }
  for (let e = 0; e < edges.length; e++) {
    const kind = edges.kinds[e]!;
    if (((kinds >> kind) & 1) === 0) continue;
    const from = edges.sources[e]!;
    const to = edges.targets[e]!;
    sources[length] = from >= txCount ? from + shift : leavesFrom(shell, from, kind);
    targets[length++] = to >= txCount ? to + shift : entersAt(shell, to, kind);
  }
  return { ...shell, sources: sources.subarray(0, length), targets: targets.subarray(0, length) };
}

function openKeys(resolved: ResolvedKv, mode: PolygraphMode, dependencies: KvDependencies): OpenKey[] {
  const { history, counts, opTx, finalWrite, readsFrom } = resolved;
  const keys: OpenKey[] = [];
  const writersOf = new Map<number, number[]>();
  for (let op = 0; op < history.opCount; op++) {
    if (finalWrite[op] === 0 || history.opKind[op]! !== 2 || counts[opTx[op]!] === 0) continue;
    const key = history.opKey[op]!;
    const list = writersOf.get(key);
    if (list === undefined) writersOf.set(key, [opTx[op]!]);
    else list.push(opTx[op]!);
  }
  const readersOf = new Map<number, Map<number, Set<number>>>();
  const writesKey = mode === 'cursor stability' ? writeTest(resolved) : (): boolean => true;
  for (let op = 0; op < history.opCount; op++) {
    const source = readsFrom[op]!;
    if (source < 0 || history.opKind[op] !== kvRead) continue;
    const key = history.opKey[op]!;
    const reader = opTx[op]!;
    if ((writersOf.get(key)?.length ?? 0) < 2 || !writesKey(reader, key)) continue;
    const ofKey = readersOf.get(key) ?? new Map<number, Set<number>>();
    readersOf.set(key, ofKey);
    const ofWriter = ofKey.get(opTx[source]!) ?? new Set<number>();
    ofKey.set(opTx[source]!, ofWriter);
    if (reader !== opTx[source]) ofWriter.add(reader);
  }
  for (const [key, writers] of writersOf) {
    if (writers.length < 2) continue;
    const readers = writers.map((tx) => [...(readersOf.get(key)?.get(tx) ?? [])]);
    keys.push({ key, writers, readers });
  }
  // Nobody read what a tail holds, so its order matters only where writing alone conflicts.
  if (mode === 'snapshot' || mode === 'cursor stability') {
    for (const [key, writers] of dependencies.tails) {
      keys.push({ key, writers, readers: writers.map(() => []) });
    }
  }
  return keys;
}
