/**
 * An order of transactions that follows given edges and comes close to the one in which they happened: sessions advance at
 * the same pace, and whatever a transaction depends on goes before it. Undefined if the edges have a cycle.
 *
 * Such an order answers most questions about what a level forces: an edge that is forced from an earlier to a later
 * transaction of it contradicts nothing.
 */
import { allMask, type EdgeList } from '../graph/graph.js';
import type { Sessions } from '../graph/sessions.js';

/** `sequence`: see `atOnePace`; for who asks several times. */
export function likelyOrder(
  sessions: Sessions,
  edges: EdgeList,
  sequence = atOnePace(sessions),
): Int32Array | undefined {
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
  for (let i = 0; i < sequence.length; i++) if (!visit(sequence[i]!)) return undefined;
  for (let node = 0; node < nodeCount; node++) if (!visit(node)) return undefined;
  return order;
}

/** Transactions by how far along their session they are. */
export function atOnePace({ txs, offsets, position, session }: Sessions): Int32Array {
  const count = txs.length;
  const place = new Int32Array(count);
  const starts = new Int32Array(count + 1);
  for (let i = 0; i < count; i++) {
    const tx = txs[i]!;
    const s = session[tx]!;
    const at = Math.floor((position[tx]! * count) / (offsets[s + 1]! - offsets[s]!));
    place[i] = at;
    starts[at + 1]!++;
  }
  for (let i = 0; i < count; i++) starts[i + 1] = starts[i + 1]! + starts[i]!;
  const sequence = new Int32Array(count);
  for (let i = 0; i < count; i++) sequence[starts[place[i]!]!++] = txs[i]!;
  return sequence;
}

/** Where the edges of `mask` into each node come from, in the order in which they were added. */
export function predecessors(
  { nodeCount, length, kinds, sources: from, targets: to }: EdgeList,
  mask = allMask,
): { readonly offsets: Int32Array; readonly sources: Int32Array } {
  const offsets = new Int32Array(nodeCount + 1);
  for (let e = 0; e < length; e++) if ((mask >> kinds[e]!) & 1) offsets[to[e]! + 1]!++;
  for (let v = 0; v < nodeCount; v++) offsets[v + 1] = offsets[v + 1]! + offsets[v]!;
  const sources = new Int32Array(offsets[nodeCount]!);
  const next = offsets.slice(0, nodeCount);
  for (let e = 0; e < length; e++) if ((mask >> kinds[e]!) & 1) sources[next[to[e]!]!++] = from[e]!;
  return { offsets, sources };
}
