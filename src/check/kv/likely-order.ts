/**
 * An order of transactions that follows given edges and comes close to the one in which they happened: sessions advance at
 * the same pace, and whatever a transaction depends on goes before it. Undefined if the edges have a cycle.
 *
 * Such an order answers most questions about what a level forces: an edge that is forced from an earlier to a later
 * transaction of it contradicts nothing.
 */
import type { EdgeList } from '../graph/graph.js';
import type { Sessions } from '../graph/sessions.js';

export function likelyOrder(sessions: Sessions, edges: EdgeList): Int32Array | undefined {
  const { nodeCount } = edges;
  const { offsets, sources } = predecessors(edges);
  const order = new Int32Array(nodeCount);
  const next = offsets.slice(0, nodeCount);
  /** 0: not met, 1: waits for what comes before it, 2: in the order. */
  const state = new Uint8Array(nodeCount);
  const stack = new Int32Array(nodeCount);
  let length = 0;
  const visit = (root: number): boolean => {
    if (state[root] === 2) return true;
    let depth = 0;
    stack[depth++] = root;
    state[root] = 1;
    while (depth > 0) {
      const node = stack[depth - 1]!;
      if (next[node]! < offsets[node + 1]!) {
        const before = sources[next[node]!++]!;
        if (state[before] === 1) return false;
        if (state[before] === 2) continue;
        state[before] = 1;
        stack[depth++] = before;
      } else {
        state[node] = 2;
        order[length++] = node;
        depth--;
      }
    }
    return true;
  };
  for (const tx of atOnePace(sessions)) if (!visit(tx)) return undefined;
  for (let node = 0; node < nodeCount; node++) if (!visit(node)) return undefined;
  return order;
}

/** Transactions by how far along their session they are. */
function atOnePace({ txs, offsets, position, session }: Sessions): Int32Array {
  const count = txs.length;
  const place = (tx: number): number => {
    const s = session[tx]!;
    return Math.floor((position[tx]! * count) / (offsets[s + 1]! - offsets[s]!));
  };
  const starts = new Int32Array(count + 1);
  for (const tx of txs) starts[place(tx) + 1]!++;
  for (let i = 0; i < count; i++) starts[i + 1] = starts[i + 1]! + starts[i]!;
  const sequence = new Int32Array(count);
  for (const tx of txs) sequence[starts[place(tx)]!++] = tx;
  return sequence;
}

function predecessors({ nodeCount, length, sources: from, targets: to }: EdgeList): {
  readonly offsets: Int32Array;
  readonly sources: Int32Array;
} {
  const offsets = new Int32Array(nodeCount + 1);
  for (let e = 0; e < length; e++) offsets[to[e]! + 1]!++;
  for (let v = 0; v < nodeCount; v++) offsets[v + 1] = offsets[v + 1]! + offsets[v]!;
  const sources = new Int32Array(length);
  const next = offsets.slice(0, nodeCount);
  for (let e = 0; e < length; e++) sources[next[to[e]!]!++] = from[e]!;
  return { offsets, sources };
}
