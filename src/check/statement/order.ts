/**
 * From a graph with cycles to orders of its statements (TxCheck §3.3).
 *
 * Decycling: while there is a cycle, the statement with the most dependencies inside it goes. A read goes without further ado: it
 * changes nothing, so all others gave what they gave with or without it. A write must not have run at all, so the case is
 * executed again without it, and everything begins anew: then the reads are back.
 *
 * Orders: of the statements that nothing left stands before, the one that ran first is taken; for a second order, the
 * one that ran last.
 */
import { cyclicComponents } from '../graph/components.js';
import { buildGraph, EdgeList, ww } from '../graph/graph.js';
import type { StatementGraph } from './statement-graph.js';

export interface Decycled {
  /** Nodes that are left, in the order in which they ran. */
  readonly kept: readonly number[];
  readonly droppedReads: readonly number[];
  /** Not empty: the case must run again without these. */
  readonly droppedWrites: readonly number[];
}

export function decycle({ nodes, edges }: StatementGraph): Decycled {
  const list = new EdgeList(nodes.length, edges.length);
  for (const { from, to } of edges) list.add(from, to, ww);
  const graph = buildGraph(list);
  const left = new Set(nodes.keys());
  const droppedReads: number[] = [];
  const droppedWrites: number[] = [];
  const isRead = (node: number) => nodes[node]!.token === undefined;
  for (;;) {
    const cycles = cyclicComponents(graph, -1, Int32Array.from(left));
    if (cycles.length === 0) break;
    for (const cycle of cycles) {
      const members = [...cycle];
      const reads = members.filter(isRead);
      const node = mostJoined(reads.length > 0 ? reads : members, new Set(members), edges);
      left.delete(node);
      (isRead(node) ? droppedReads : droppedWrites).push(node);
    }
  }
  return { kept: [...left].sort((a, b) => a - b), droppedReads, droppedWrites };
}

/** The candidate with the most edges among the members; of several the last. */
function mostJoined(
  candidates: readonly number[],
  members: ReadonlySet<number>,
  edges: StatementGraph['edges'],
): number {
  const degrees = new Map(candidates.map((node) => [node, 0]));
  for (const { from, to } of edges) {
    if (!members.has(from) || !members.has(to)) continue;
    for (const end of [from, to]) if (degrees.has(end)) degrees.set(end, degrees.get(end)! + 1);
  }
  return [...degrees].reduce((best, each) => (each[1] >= best[1] ? each : best))[0];
}

/** The nodes in an order that follows every edge between them; `latest` takes the last possible one each time. */
export function orderNodes(
  nodes: readonly number[],
  edges: StatementGraph['edges'],
  take: 'earliest' | 'latest',
): number[] {
  const left = new Set(nodes);
  const incoming = new Map(nodes.map((node) => [node, new Set<number>()]));
  for (const { from, to } of edges) if (left.has(from)) incoming.get(to)?.add(from);
  const order: number[] = [];
  while (left.size > 0) {
    const free = [...left].filter((node) => ![...incoming.get(node)!].some((before) => left.has(before)));
    const node = take === 'earliest' ? free[0] : free.at(-1);
    if (node === undefined) throw new Error('the graph has a cycle');
    order.push(node);
    left.delete(node);
  }
  return order;
}
