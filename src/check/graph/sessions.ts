/** Transactions by session, and the final writes of each key grouped by session: what the axiomatic checkers walk over. */
import { kvWrite } from '../../histories/index.js';
import type { ResolvedKv } from '../kv/resolved-kv.js';
import { buildGraph, type EdgeList } from './graph.js';

export interface Sessions {
  /** Transactions that count, session by session, in session order. */
  readonly txs: Int32Array;
  readonly offsets: Int32Array;
  /** Position of a transaction within its session, counting only those that count. */
  readonly position: Int32Array;
  readonly session: Int32Array;
  readonly count: number;
}

export function groupBySession(resolved: ResolvedKv): Sessions {
  const { history, counts } = resolved;
  const count = history.sessionNames.length;
  const offsets = new Int32Array(count + 1);
  for (let tx = 0; tx < history.txCount; tx++) {
    if (counts[tx] === 1) offsets[history.txSession[tx]! + 1]!++;
  }
  for (let s = 0; s < count; s++) offsets[s + 1] = offsets[s + 1]! + offsets[s]!;
  const txs = new Int32Array(offsets[count]!);
  const position = new Int32Array(history.txCount);
  const next = offsets.slice(0, count);
  for (let tx = 0; tx < history.txCount; tx++) {
    if (counts[tx] === 0) continue;
    const s = history.txSession[tx]!;
    position[tx] = next[s]! - offsets[s]!;
    txs[next[s]!++] = tx;
  }
  return { txs, offsets, position, session: history.txSession, count };
}

/**
 * Chains of transactions each of which comes before the next along edges of `kinds`: what sessions are where sessions
 * do not count. Greedy: a transaction continues the first chain that ends before it. Undefined if there is a cycle.
 */
export function chainsAlong(resolved: ResolvedKv, edges: EdgeList, kinds: number): Sessions | undefined {
  const { counts, history } = resolved;
  const { txCount } = history;
  const graph = buildGraph(edges, kinds);
  const incoming = new Int32Array(graph.nodeCount);
  for (const target of graph.targets) incoming[target]!++;
  const order = new Int32Array(graph.nodeCount);
  let length = 0;
  for (let v = 0; v < graph.nodeCount; v++) if (incoming[v] === 0) order[length++] = v;
  const chain = new Int32Array(txCount).fill(-1);
  const position = new Int32Array(txCount);
  const sizes: number[] = [];
  for (let i = 0; i < length; i++) {
    const v = order[i]!;
    if (v < txCount && counts[v] === 1 && chain[v]! < 0) chain[v] = sizes.push(0) - 1;
    let continued = v >= txCount || counts[v] === 0;
    if (!continued) position[v] = sizes[chain[v]!]!++;
    for (let e = graph.offsets[v]!; e < graph.offsets[v + 1]!; e++) {
      const target = graph.targets[e]!;
      if (!continued && target < txCount && counts[target] === 1 && chain[target]! < 0) {
        chain[target] = chain[v]!;
        continued = true;
      }
      incoming[target] = incoming[target]! - 1;
      if (incoming[target] === 0) order[length++] = target;
    }
  }
  if (length < graph.nodeCount) return undefined;
  const offsets = new Int32Array(sizes.length + 1);
  sizes.forEach((size, c) => {
    offsets[c + 1] = offsets[c]! + size;
  });
  const txs = new Int32Array(offsets[sizes.length]!);
  for (let tx = 0; tx < txCount; tx++) if (counts[tx] === 1) txs[offsets[chain[tx]!]! + position[tx]!] = tx;
  return { txs, offsets, position, session: chain.map((c) => Math.max(0, c)), count: sizes.length };
}

/** For each key the transactions that write it: `txs[offsets[key] … offsets[key + 1] - 1]`, in the order given. */
export interface KeyWriters {
  readonly offsets: Int32Array;
  readonly txs: Int32Array;
}

export function groupWriters(resolved: ResolvedKv, order: Iterable<number>): KeyWriters {
  const { history, counts, finalWrite, opTx } = resolved;
  const keyCount = history.keyNames.length;
  const offsets = new Int32Array(keyCount + 1);
  for (let op = 0; op < history.opCount; op++) {
    if (finalWrite[op] === 1 && counts[opTx[op]!] === 1) offsets[history.opKey[op]! + 1]!++;
  }
  for (let key = 0; key < keyCount; key++) offsets[key + 1] = offsets[key + 1]! + offsets[key]!;
  const txs = new Int32Array(offsets[keyCount]!);
  const next = offsets.slice(0, keyCount);
  for (const tx of order) {
    if (counts[tx] === 0) continue;
    for (let op = history.opOffsets[tx]!; op < history.opOffsets[tx + 1]!; op++) {
      if (history.opKind[op]! >= kvWrite && finalWrite[op] === 1) txs[next[history.opKey[op]!]!++] = tx;
    }
  }
  return { offsets, txs };
}
