/**
 * Vector clocks over sessions, or any other chains of transactions.
 *
 * A node takes over what its predecessors see, the one of its own session first. A predecessor whose own place the clock holds by then was
 * seen through another one, with all that it sees: most reads are of versions that the session knew already, and cost one look.
 */
import { buildGraph, type EdgeList, sortNodes } from '../graph/graph.js';
import type { Sessions } from '../graph/sessions.js';
import { predecessors } from './likely-order.js';

/**
 * Per node and session, how many of the session's transactions it sees, itself included, along edges of `kinds`;
 * undefined if those have a cycle. `order`: one that those edges agree with, where it is known.
 */
export function clocksAlong(
  sessions: Sessions,
  edges: EdgeList,
  kinds: number,
  order = sortNodes(buildGraph(edges, kinds)),
): Int32Array | undefined {
  if (order === undefined) return undefined;
  const { session, position, count: width } = sessions;
  const { offsets, sources } = predecessors(edges, kinds);
  const clocks = new Int32Array(edges.nodeCount * width);
  const isIn = new Uint8Array(edges.nodeCount);
  for (const tx of sessions.txs) isIn[tx] = 1;
  for (const node of order) {
    const row = node * width;
    // From the last, because the order of sessions is drawn behind what was read.
    for (let e = offsets[node + 1]! - 1; e >= offsets[node]!; e--) {
      const source = sources[e]!;
      if (isIn[source] === 1 && clocks[row + session[source]!]! > position[source]!) continue;
      const from = source * width;
      for (let s = 0; s < width; s++) {
        const seen = clocks[from + s]!;
        if (seen > clocks[row + s]!) clocks[row + s] = seen;
      }
    }
    if (isIn[node] === 1) clocks[row + session[node]!] = position[node]! + 1;
  }
  return clocks;
}
