/** Vector clocks over sessions, or any other chains of transactions. */
import type { EdgeList } from '../graph/graph.js';
import type { Sessions } from '../graph/sessions.js';

/**
 * Per node and session, how many of the session's transactions it sees, itself included, along edges of `kinds`;
 * undefined if those have a cycle.
 */
export function clocksAlong(sessions: Sessions, edges: EdgeList, kinds: number): Int32Array | undefined {
  const { nodeCount } = edges;
  const width = sessions.count;
  const clocks = new Int32Array(nodeCount * width);
  const offsets = new Int32Array(nodeCount + 1);
  const incoming = new Int32Array(nodeCount);
  const isAsked = (e: number): boolean => ((kinds >> edges.kinds[e]!) & 1) === 1;
  for (let e = 0; e < edges.length; e++) {
    if (!isAsked(e)) continue;
    offsets[edges.sources[e]! + 1]!++;
    incoming[edges.targets[e]!]!++;
  }
  for (let v = 0; v < nodeCount; v++) offsets[v + 1] = offsets[v + 1]! + offsets[v]!;
  const targets = new Int32Array(offsets[nodeCount]!);
  const next = offsets.slice(0, nodeCount);
  for (let e = 0; e < edges.length; e++) {
    if (isAsked(e)) targets[next[edges.sources[e]!]!++] = edges.targets[e]!;
  }
  for (const tx of sessions.txs) clocks[tx * width + sessions.session[tx]!] = sessions.position[tx]! + 1;
  const queue = new Int32Array(nodeCount);
  let queued = 0;
  for (let v = 0; v < nodeCount; v++) if (incoming[v] === 0) queue[queued++] = v;
  for (let i = 0; i < queued; i++) {
    const row = queue[i]! * width;
    for (let e = offsets[queue[i]!]!; e < offsets[queue[i]! + 1]!; e++) {
      const target = targets[e]!;
      const targetRow = target * width;
      for (let s = 0; s < width; s++) {
        const seen = clocks[row + s]!;
        if (seen > clocks[targetRow + s]!) clocks[targetRow + s] = seen;
      }
      incoming[target] = incoming[target]! - 1;
      if (incoming[target] === 0) queue[queued++] = target;
    }
  }
  return queued === nodeCount ? clocks : undefined;
}
