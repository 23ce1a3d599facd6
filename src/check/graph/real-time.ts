/**
 * Session order and real-time order as linearly many edges.
 *
 * Real time: T1 < T2 when T1 ended before T2 started. There may be n² such pairs, so the edges go through a line
 * of auxiliary nodes, one per stretch of time in which transactions only ended: whoever ended before it leads
 * into it, whoever starts after it is led out of it.
 */
import { type EdgeList, realTime, sessionOrder } from './graph.js';

/** Each transaction that counts before the next one of its session that does. */
export function addSessionOrder(edges: EdgeList, sessionOf: Int32Array, counts: Uint8Array): void {
  const last = new Map<number, number>();
  for (let tx = 0; tx < sessionOf.length; tx++) {
    if (counts[tx] === 0) continue;
    const session = sessionOf[tx]!;
    const before = last.get(session);
    if (before !== undefined) edges.add(before, tx, sessionOrder);
    last.set(session, tx);
  }
}

/** NaN means that a time is not known; then it orders nothing. */
export function addRealTimeOrder(
  edges: EdgeList,
  starts: Float64Array,
  ends: Float64Array,
  counts: Uint8Array,
): void {
  const byStart = sortedBy(starts, counts);
  const byEnd = sortedBy(ends, counts);
  let barrier = -1;
  let ended = 0;
  for (const tx of byStart) {
    const start = starts[tx]!;
    if (ended < byEnd.length && ends[byEnd[ended]!]! < start) {
      const next = edges.addAux();
      if (barrier >= 0) edges.add(barrier, next, realTime);
      barrier = next;
      while (ended < byEnd.length && ends[byEnd[ended]!]! < start) {
        edges.add(byEnd[ended]!, barrier, realTime);
        ended++;
      }
    }
    if (barrier >= 0) edges.add(barrier, tx, realTime);
  }
}

function sortedBy(times: Float64Array, counts: Uint8Array): Int32Array {
  const known = new Int32Array(times.length);
  let length = 0;
  let last = Number.NEGATIVE_INFINITY;
  let sorted = true;
  for (let tx = 0; tx < times.length; tx++) {
    const time = times[tx]!;
    if (counts[tx] === 0 || Number.isNaN(time)) continue;
    known[length++] = tx;
    if (time < last) sorted = false;
    last = time;
  }
  const result = known.subarray(0, length);
  return sorted ? result : result.sort((a, b) => times[a]! - times[b]!);
}
