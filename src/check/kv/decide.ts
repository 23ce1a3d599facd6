/**
 * Decides one level for one key-value history: holds (with an order that proves it), is broken (with a finding), or
 * cannot be said (with a reason). Exact for every level: the graph levels by cycles, the axiomatic ones by saturation,
 * the rest by looking for an order of points (`decide-order.ts`).
 */

import { kvCommitted } from '../../histories/index.js';
import type { Finding } from '../finding.js';
import { cyclicComponents } from '../graph/components.js';
import { findCycles } from '../graph/cycles.js';
import { buildGraph, copyEdges, kindMask, sessionOrder, sortNodes, wr, ww } from '../graph/graph.js';
import { baseOf, type CheckLevel, orderOf } from '../levels.js';
import { decideOrder, orderCore, orderFinding, type PointOrder } from './decide-order.js';
import type { Effort } from './effort.js';
import { cycleFinding, noOrderFinding } from './kv-findings.js';
import type { OrderMode } from './order/order-problem.js';
import { orderKinds, type PreparedKv, prepareKv } from './prepared-kv.js';
import { type SaturatedLevel, saturate } from './saturation.js';
import { saturationFinding } from './saturation-finding.js';

export type Decision =
  | { readonly outcome: 'holds'; readonly proof: PointOrder }
  | { readonly outcome: 'broken'; readonly findings: readonly Finding[]; readonly core?: readonly number[] }
  | { readonly outcome: 'unknown'; readonly reason: string };

export function decideLevel(prepared: PreparedKv, level: CheckLevel, effort: Effort): Decision {
  const order = orderOf(level);
  if (order === 'real-time' && prepared.times === undefined) {
    return { outcome: 'unknown', reason: 'the history has no times, so its real-time order is not known' };
  }
  const kinds = orderKinds[order];
  switch (baseOf(level)) {
    case 'read uncommitted':
      return decideByCycle(committedOnly(prepared), level, kinds | kindMask(ww));
    case 'read committed':
      return decideByCycle(prepared, level, kinds | kindMask(ww, wr));
    case 'monotonic atomic view':
    case 'read atomic':
    case 'causal':
      return decideBySaturation(prepared, baseOf(level) as SaturatedLevel, effort);
    // Without predicates G2 is G2-item.
    case 'repeatable read':
    case 'serializable':
      return decideByOrder(prepared, level, 'serializable', effort);
    case 'snapshot':
      return decideByOrder(prepared, level, 'snapshot', effort);
    case 'prefix':
      return decideByOrder(prepared, level, 'prefix', effort);
    case 'cursor stability':
      return decideByOrder(prepared, level, 'cursor stability', effort);
  }
}

/** At read uncommitted, that a transaction was seen does not mean that it committed. */
function committedOnly(prepared: PreparedKv): PreparedKv {
  const { resolved } = prepared;
  const { txStatus } = resolved.history;
  const maybe = resolved.counts.some((counts, tx) => counts === 1 && txStatus[tx] !== kvCommitted);
  if (!maybe) return prepared;
  return prepareKv({
    ...resolved,
    counts: resolved.counts.map((counts, tx) => (txStatus[tx] === kvCommitted ? counts : 0)),
  });
}

/** Levels whose open version orders can always follow a graph without cycles. */
function decideByCycle(prepared: PreparedKv, level: CheckLevel, kinds: number): Decision {
  const graph = buildGraph(prepared.edges, kinds);
  const order = sortNodes(graph);
  if (order !== undefined) return { outcome: 'holds', proof: commitOrder(prepared, order) };
  const { cycles } = findCycles(graph);
  return broken(
    prepared,
    level,
    cycles.map((cycle) => cycleFinding(prepared.resolved, cycle)),
  );
}

/** Transactions that count, in an order of nodes. */
export function commitOrder({ resolved }: PreparedKv, order: Int32Array): PointOrder {
  const { counts, history } = resolved;
  return { split: false, points: order.filter((node) => node < history.txCount && counts[node] === 1) };
}

function decideBySaturation(prepared: PreparedKv, level: SaturatedLevel, effort: Effort): Decision {
  const { resolved, edges } = prepared;
  const kinds = kindMask(ww, wr, sessionOrder);
  const base = copyEdges(edges, kinds);
  const known = base.length;
  const saturated = saturate(resolved, level, {
    base,
    forced: base,
    memoryBytes: effort.limits.memoryBytes,
  });
  const { initialReads, unknown } = saturated;
  if (unknown !== undefined) return { outcome: 'unknown', reason: unknown };
  const order = saturated.order ?? (initialReads.length === 0 ? sortNodes(buildGraph(base)) : undefined);
  if (order !== undefined) return { outcome: 'holds', proof: commitOrder(prepared, order) };
  const findings = saturationFinding(resolved, level, { edges: base, known, initialReads });
  return { outcome: 'broken', findings };
}

function decideByOrder(prepared: PreparedKv, level: CheckLevel, mode: OrderMode, effort: Effort): Decision {
  const question = { mode, order: orderOf(level) };
  const decision = decideOrder(prepared, question, effort);
  if (decision.outcome !== 'broken') return decision;
  const { resolved } = prepared;
  effort.progress(`looking for the fewest of ${decision.txs.length} transactions that break ${level}`);
  const core = orderCore(resolved, question, decision.txs, effort);
  if (core === undefined) {
    return { outcome: 'broken', findings: [noOrderFinding(resolved, decision.txs, level)] };
  }
  return { outcome: 'broken', findings: [orderFinding(resolved, level, question, core)], core };
}

function broken(prepared: PreparedKv, level: CheckLevel, findings: readonly Finding[]): Decision {
  if (findings.length > 0) return { outcome: 'broken', findings };
  const txs = cyclicComponents(buildGraph(prepared.edges))[0] ?? [];
  return { outcome: 'broken', findings: [noOrderFinding(prepared.resolved, [...txs], level)] };
}
