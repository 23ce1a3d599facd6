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
import { baseOf, type CheckLevel, checkLevels, implies, orderOf, weakestOf, withOrder } from '../levels.js';
import { decideOrder, orderCore, orderFinding, type PointOrder } from './decide-order.js';
import type { Effort } from './effort.js';
import { cycleFinding, noOrderFinding } from './kv-findings.js';
import type { OrderMode } from './order/order-problem.js';
import { withSources } from './order/refutation.js';
import { orderKinds, type PreparedKv, prepareKv } from './prepared-kv.js';
import { listsShorten, renamedHistory } from './renamed-history.js';
import { resolveReads } from './resolve-reads.js';
import type { ResolvedKv } from './resolved-kv.js';
import { type SaturatedLevel, saturate } from './saturation.js';
import { saturationFinding } from './saturation-finding.js';

export type Decision =
  | { readonly outcome: 'holds'; readonly proof: PointOrder }
  | {
      readonly outcome: 'broken';
      /** Some transactions that took part in the refutation; they need not break the level alone. */
      readonly txs: readonly number[];
      /** The argument, worked out when it is asked for: that may take longer than to decide. */
      readonly findings: () => readonly Finding[];
    }
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
  const { resolved } = prepared;
  const [part = []] = cyclicComponents(graph);
  const txs = [...part].filter((node) => node < resolved.history.txCount);
  const findings = (): readonly Finding[] => {
    const { cycles } = findCycles(graph);
    if (cycles.length === 0) return [noOrderFinding(resolved, txs, level)];
    return cycles.map((cycle) => cycleFinding(resolved, cycle));
  };
  return { outcome: 'broken', txs, findings };
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
  const saturated = saturate(resolved, level, { base, forced: base, effort });
  const { initialReads, unknown } = saturated;
  if (unknown !== undefined) return { outcome: 'unknown', reason: unknown };
  const order = saturated.order ?? (initialReads.length === 0 ? sortNodes(buildGraph(base)) : undefined);
  if (order !== undefined) return { outcome: 'holds', proof: commitOrder(prepared, order) };
  const findings = (): readonly Finding[] =>
    saturationFinding(resolved, level, { edges: base, known, initialReads }).map((finding) => {
      const txs = finding.transactions.map(({ id }) => id);
      return { ...finding, rulesOut: brokenAlone(resolved, withSources(resolved, txs), level, effort) };
    });
  return { outcome: 'broken', txs: [], findings };
}

function decideByOrder(prepared: PreparedKv, level: CheckLevel, mode: OrderMode, effort: Effort): Decision {
  const question = { mode, order: orderOf(level) };
  const decision = decideOrder(prepared, question, effort);
  if (decision.outcome !== 'broken') return decision;
  const { resolved } = prepared;
  const { txs } = decision;
  const findings = (): readonly Finding[] => {
    effort.progress(`looking for the fewest of ${txs.length} transactions that break ${level}`);
    const core = orderCore(resolved, question, txs, effort);
    const finding =
      core === undefined
        ? noOrderFinding(resolved, txs, level)
        : orderFinding(resolved, level, question, core);
    return [{ ...finding, rulesOut: brokenAlone(resolved, core ?? [], level, effort) }];
  };
  return { outcome: 'broken', txs, findings };
}

/** The weakest level that is the same question: repeatable read is that of serializable, since nothing here searches. */
export const sameQuestion = (level: CheckLevel): CheckLevel =>
  baseOf(level) === 'serializable' ? withOrder('repeatable read', orderOf(level)) : level;

const fewAlone = 50;
const secondsAlone = 5;

/**
 * The weakest levels that a few transactions break by themselves, among them the one that led to them: what a finding proves does
 * not depend on what was asked.
 */
function brokenAlone(
  resolved: ResolvedKv,
  txs: readonly number[],
  level: CheckLevel,
  effort: Effort,
): readonly CheckLevel[] {
  const asked = sameQuestion(level);
  if (txs.length === 0 || txs.length > fewAlone) return [asked];
  const [shortened, whole] = [true, false].map((shorten) =>
    prepareKv(resolveReads(renamedHistory(resolved, txs, { shorten }))),
  );
  const limit = effort.again(secondsAlone);
  // Where uncommitted data may be read, that somebody saw a transaction of unknown outcome does not mean that it committed.
  const committed = txs.every((tx) => resolved.history.txStatus[tx] === kvCommitted);
  const broken: CheckLevel[] = [];
  for (const other of checkLevels) {
    if (broken.some((weak) => implies(other, weak))) continue;
    if (!committed && baseOf(other) === 'read uncommitted') continue;
    const alone = listsShorten(other) ? shortened! : whole!;
    if (decideLevel(alone, other, limit).outcome === 'broken') broken.push(other);
  }
  return weakestOf([...broken, asked]);
}
