/**
 * Shows what saturation found: a cycle in which some ww edges are not read off the history but forced by the level's
 * axiom. Such an edge says which read forces it; so does the finding.
 */
import { printKvOp, printName } from '../../histories/index.js';
import { ofData, ofRow, phrase } from '../explanation.js';
import type { Finding } from '../finding.js';
import { cyclicComponents } from '../graph/components.js';
import type { FamilyCycle } from '../graph/cycle-search.js';
import { findCycles } from '../graph/cycles.js';
import { buildGraph, EdgeList, kindMask, rw, sessionOrder, wr, ww } from '../graph/graph.js';
import { baseName, nameWithOrder, type ShapeEdge } from '../graph/name-cycle.js';
import { cycleFinding, noOrderFinding, ofTx, type WhyForced } from './kv-findings.js';
import type { ResolvedKv } from './resolved-kv.js';
import type { SaturatedLevel, Saturation } from './saturation.js';

/** `edges` up to `known` are facts; the ww edges after that are forced, with the read as `ref`. */
export function saturationFinding(
  resolved: ResolvedKv,
  level: SaturatedLevel,
  {
    edges,
    known,
    initialReads,
  }: { readonly edges: EdgeList; readonly known: number } & Pick<Saturation, 'initialReads'>,
): Finding[] {
  const { history, opTx } = resolved;
  const missed = initialReads[0];
  if (missed !== undefined) {
    const reader = opTx[missed.read]!;
    const seen = edgesFrom(edges, known, (e) => edges.kinds[e] === wr || edges.kinds[e] === sessionOrder);
    seen.add(reader, missed.writer, rw, history.opKey[missed.read]!);
    const cycle = shortestWithRw(seen);
    if (cycle !== undefined) return [cycleFinding(resolved, cycle, { rulesOut: [level] })];
  }
  // For the picture the axiom's edges go through the key of the read that forces them.
  const shown = edgesFrom(edges, edges.length, () => true);
  for (let e = known; e < edges.length; e++) shown.refs[e] = history.opKey[edges.refs[e]!]!;
  const { cycles } = findCycles(buildGraph(shown));
  const cycle = cycles.reduce<FamilyCycle | undefined>(
    (best, next) => (best === undefined || next.nodes.length < best.nodes.length ? next : best),
    undefined,
  );
  if (cycle === undefined) {
    const txs = cyclicComponents(buildGraph(shown))[0] ?? [];
    return [noOrderFinding(resolved, [...txs], level)];
  }
  const forcedBy = (from: number, to: number): number => {
    for (let e = known; e < edges.length; e++) {
      if (edges.sources[e] === from && edges.targets[e] === to) return edges.refs[e]!;
    }
    return -1;
  };
  const isFact = (from: number, to: number, kind: number, key: number): boolean => {
    for (let e = 0; e < known; e++) {
      const same = edges.sources[e] === from && edges.targets[e] === to && edges.kinds[e] === kind;
      if (same && edges.refs[e] === key) return true;
    }
    return false;
  };
  const readers = new Set<number>();
  let direct = true;
  let forced = 0;
  let session = cycle.kinds.includes(sessionOrder);
  const whyForced: WhyForced = (from, to, kind, ref) => {
    if (kind !== ww || isFact(from, to, kind, ref)) return undefined;
    const read = forcedBy(from, to);
    if (read < 0) return undefined;
    forced++;
    const reader = opTx[read]!;
    readers.add(reader);
    const how = howSeen(resolved, from, reader);
    if (how !== 'read') direct = false;
    if (how === 'causal') for (const tx of between(edges, known, from, reader)) readers.add(tx);
    if (how === 'session') session = true;
    const object = ofRow(printName(history.keyNames[history.opKey[read]!]!));
    const sees = { read: 'read from', session: 'came in its session after', causal: 'depends on' }[how];
    return phrase`${ofTx(history, reader)} ${sees} ${ofTx(history, from)} and yet read ${object} from ${ofTx(history, to)}: ${ofData(printKvOp(history, read))}`;
  };
  const finding = cycleFinding(resolved, cycle, { rulesOut: [level], whyForced, alsoShow: () => readers });
  if (forced === 0) return [finding];
  // Whatever order the versions have, somebody saw a transaction and missed one of its writes.
  const [sees, misses]: readonly [ShapeEdge, ShapeEdge] = [{ kind: 'wr' }, { kind: 'rw' }];
  const name = baseName(direct ? [sees, misses] : [sees, sees, misses]);
  return [{ ...finding, kind: nameWithOrder(name, session ? 'session' : 'none') }];
}

function howSeen(resolved: ResolvedKv, writer: number, reader: number): 'read' | 'session' | 'causal' {
  const { history, opTx, readsFrom } = resolved;
  for (let op = history.opOffsets[reader]!; op < history.opOffsets[reader + 1]!; op++) {
    if (readsFrom[op]! >= 0 && opTx[readsFrom[op]!] === writer) return 'read';
  }
  const sameSession = history.txSession[writer] === history.txSession[reader];
  return sameSession && writer < reader ? 'session' : 'causal';
}

/** Through whom `reader` depends on `writer`; of a stretch along a session only its ends. */
function between(edges: EdgeList, known: number, writer: number, reader: number): number[] {
  const isSight = (e: number): boolean => edges.kinds[e] === wr || edges.kinds[e] === sessionOrder;
  const { offsets, targets, kinds } = buildGraph(edgesFrom(edges, known, isSight));
  const cameFrom = new Int32Array(edges.nodeCount).fill(-1);
  const cameBy = new Uint8Array(edges.nodeCount);
  const queue = [writer];
  for (let i = 0; i < queue.length && cameFrom[reader] === -1; i++) {
    for (let e = offsets[queue[i]!]!; e < offsets[queue[i]! + 1]!; e++) {
      const target = targets[e]!;
      if (cameFrom[target] !== -1 || target === writer) continue;
      cameFrom[target] = queue[i]!;
      cameBy[target] = kinds[e]!;
      queue.push(target);
    }
  }
  const path: number[] = [];
  for (let next = reader, tx = cameFrom[reader]!; tx >= 0 && tx !== writer; next = tx, tx = cameFrom[tx]!) {
    const inSession = cameBy[next] === sessionOrder && cameBy[tx] === sessionOrder;
    if (!inSession && tx < edges.txCount) path.push(tx);
  }
  return path;
}

function edgesFrom(edges: EdgeList, length: number, keep: (e: number) => boolean): EdgeList {
  const copy = new EdgeList(edges.txCount);
  while (copy.nodeCount < edges.nodeCount) copy.addAux();
  for (let e = 0; e < length; e++) {
    if (keep(e)) copy.add(edges.sources[e]!, edges.targets[e]!, edges.kinds[e]!, edges.refs[e]!);
  }
  return copy;
}

function shortestWithRw(edges: EdgeList): FamilyCycle | undefined {
  const graph = buildGraph(edges, kindMask(wr, rw, sessionOrder));
  return findCycles(graph).cycles.find((cycle) => cycle.family === 'G-single');
}
