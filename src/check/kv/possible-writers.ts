/**
 * Which writers a read of a repeated value may have seen: not those that come after it, and (from causal upwards) not those that
 * another writer, which comes before the read, comes after. Clocks along reads-from and the level's order say so.
 */
import { copyEdges, type EdgeList, kindMask, sessionOrder, wr, ww } from '../graph/graph.js';
import { chainsAlong, groupBySession } from '../graph/sessions.js';
import { baseOf, type CheckLevel, orderOf } from '../levels.js';
import { clocksAlong } from './clocks.js';
import type { Effort } from './effort.js';
import { likelyOrder } from './likely-order.js';
import { orderKinds, type PreparedKv } from './prepared-kv.js';
import { initialState, type OpenRead, type ResolvedKv } from './resolved-kv.js';

/** Open reads with the writers that they may have seen, the likeliest first. */
export function possibleWriters(prepared: PreparedKv, level: CheckLevel, effort: Effort): OpenRead[] {
  const { resolved, edges } = prepared;
  const kinds = kindMask(wr) | orderKinds[orderOf(level)];
  const chains = chainsAlong(resolved, edges, kinds);
  if (chains === undefined || edges.nodeCount * chains.count * 4 > effort.limits.memoryBytes)
    return [...resolved.openReads];
  const clocks = clocksAlong(chains, edges, kinds);
  if (clocks === undefined) return [...resolved.openReads];
  const isBefore = (a: number, b: number): boolean =>
    a !== b && clocks[b * chains.count + chains.session[a]!]! > chains.position[a]!;
  const place = placesIn(resolved, edges);
  const writers = writersOfOpenKeys(resolved);
  const base = baseOf(level);
  const seesAll =
    base !== 'read committed' && base !== 'cursor stability' && base !== 'monotonic atomic view';
  const causal = seesAll && base !== 'read atomic';
  return resolved.openReads.map(({ op, candidates }) => {
    const reader = resolved.opTx[op]!;
    const others = writers.get(resolved.history.opKey[op]!)!;
    const fits = candidates.filter((write) => {
      if (write === initialState)
        return !causal || others.length > 1000 || !others.some((other) => isBefore(other, reader));
      const writer = resolved.opTx[write]!;
      if (isBefore(reader, writer)) return false;
      if (!causal || others.length > 1000) return true;
      return !others.some((other) => other !== writer && isBefore(writer, other) && isBefore(other, reader));
    });
    // With none left the level is broken, and the decision says by whom.
    if (fits.length === 0) return { op, candidates };
    // The latest writer that comes before the read is the likeliest.
    const distance = (write: number): number => {
      const ahead = place(reader) - (write === initialState ? -1 : place(resolved.opTx[write]!));
      return ahead > 0 ? ahead : edges.nodeCount - ahead;
    };
    return { op, candidates: fits.sort((a, b) => distance(a) - distance(b)) };
  });
}

/** Where transactions stand in the file if that agrees with what is known, else in a likely order. */
function placesIn(resolved: ResolvedKv, edges: EdgeList): (tx: number) => number {
  const known = copyEdges(edges, kindMask(ww, wr, sessionOrder));
  let asWritten = true;
  for (let e = 0; e < known.length && asWritten; e++) asWritten = known.sources[e]! < known.targets[e]!;
  const order = asWritten ? undefined : likelyOrder(groupBySession(resolved), known);
  if (order === undefined) return (tx) => tx;
  const places = new Int32Array(order.length);
  for (let i = 0; i < order.length; i++) places[order[i]!] = i;
  return (tx) => places[tx]!;
}

function writersOfOpenKeys({
  history,
  finalWrite,
  counts,
  opTx,
  openReads,
}: ResolvedKv): Map<number, number[]> {
  const writers = new Map<number, number[]>(openReads.map(({ op }) => [history.opKey[op]!, []]));
  for (let op = 0; op < history.opCount; op++) {
    if (finalWrite[op] === 1 && counts[opTx[op]!] === 1) writers.get(history.opKey[op]!)?.push(opTx[op]!);
  }
  return writers;
}
