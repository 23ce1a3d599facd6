/**
 * Decides one level for one key-value history: holds, is broken (with a finding), or cannot be said (with a reason).
 * Exact for every level: the graph levels by cycles, the axiomatic ones by saturation, the rest by looking for an
 * order, first by running the history and then by search.
 */

import { kvCommitted } from '../../histories/index.js';
import type { Finding } from '../finding.js';
import { cyclicComponents } from '../graph/components.js';
import { findCycles } from '../graph/cycles.js';
import {
  buildGraph,
  copyEdges,
  EdgeList,
  kindMask,
  predicateRw,
  realTime,
  rw,
  sessionOrder,
  wr,
  ww,
} from '../graph/graph.js';
import { addRealTimeOrder, addSessionOrder } from '../graph/real-time.js';
import { groupBySession, withoutSessions } from '../graph/sessions.js';
import { baseOf, type CheckLevel, orderOf } from '../levels.js';
import { forcedFinding } from './forced-finding.js';
import { depths, guessOrder } from './guess-order.js';
import { addKvDependencies, type KvDependencies } from './kv-edges.js';
import { cycleFinding, noOrderFinding } from './kv-findings.js';
import { buildPolygraph, entersAt, leavesFrom, type Polygraph, type PolygraphMode } from './polygraph.js';
import type { ResolvedKv } from './resolved-kv.js';
import { type SaturatedLevel, saturate } from './saturation.js';
import { saturationFinding } from './saturation-finding.js';
import { defaultLimits, type ForcedChoice, type SearchLimits, searchOrder } from './search-order.js';
import { type SerialSaturation, saturateSerially } from './serial-saturation.js';

export type Decision =
  | { readonly outcome: 'holds' }
  | { readonly outcome: 'broken'; readonly findings: readonly Finding[] }
  | { readonly outcome: 'unknown'; readonly reason: string };

/** A history made ready for any number of questions. */
export interface PreparedKv {
  readonly resolved: ResolvedKv;
  readonly edges: EdgeList;
  readonly dependencies: KvDependencies;
  readonly hasTimes: boolean;
  readonly times: { readonly start?: Float64Array; readonly end?: Float64Array };
}

const orderKinds = {
  none: 0,
  session: kindMask(sessionOrder),
  'real-time': kindMask(sessionOrder, realTime),
} as const;
const dependencyKinds = kindMask(ww, wr, rw, predicateRw);

export function prepareKv(resolved: ResolvedKv): PreparedKv {
  const { history, counts } = resolved;
  const edges = new EdgeList(history.txCount, 2 * history.opCount + 4 * history.txCount);
  const dependencies = addKvDependencies(resolved, edges);
  addSessionOrder(edges, history.txSession, counts);
  const times = usableTimes(resolved);
  if (times.start !== undefined && times.end !== undefined) {
    addRealTimeOrder(edges, times.start, times.end, counts);
  }
  return { resolved, edges, dependencies, hasTimes: times.start !== undefined, times };
}

/** The times of a transaction that ends before it starts say nothing. */
function usableTimes(resolved: ResolvedKv): { start?: Float64Array; end?: Float64Array } {
  const { txStart: start, txEnd: end } = resolved.history;
  if (start === undefined || end === undefined) return {};
  if (!start.some((time, tx) => end[tx]! < time)) return { start, end };
  const blank = (times: Float64Array): Float64Array =>
    times.map((time, tx) => (end[tx]! < start[tx]! ? Number.NaN : time));
  return { start: blank(start), end: blank(end) };
}

export function decideLevel(
  prepared: PreparedKv,
  level: CheckLevel,
  limits: SearchLimits = defaultLimits,
): Decision {
  const order = orderOf(level);
  if (order === 'real-time' && !prepared.hasTimes) {
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
      return decideBySaturation(prepared, baseOf(level) as SaturatedLevel);
    // Without predicates G2 is G2-item.
    case 'repeatable read':
    case 'serializable':
      return decideByOrder(prepared, level, 'serializable', kinds, limits);
    case 'snapshot':
      return decideByOrder(prepared, level, 'snapshot', kinds, limits);
    case 'prefix':
      return decideByOrder(prepared, level, 'prefix', kinds, limits);
    case 'cursor stability':
      return decideByOrder(prepared, level, 'cursor stability', kinds, limits);
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
  if (cyclicComponents(graph).length === 0) return { outcome: 'holds' };
  const { cycles } = findCycles(graph);
  return broken(
    prepared,
    level,
    cycles.map((cycle) => cycleFinding(prepared.resolved, cycle)),
  );
}

function decideBySaturation(prepared: PreparedKv, level: SaturatedLevel): Decision {
  const { resolved, edges } = prepared;
  const kinds = kindMask(ww, wr, sessionOrder);
  const base = copyEdges(edges, kinds);
  const known = base.length;
  const { initialReads, unknown } = saturate(resolved, level, base, base);
  if (unknown !== undefined) return { outcome: 'unknown', reason: unknown };
  if (initialReads.length === 0 && cyclicComponents(buildGraph(base)).length === 0)
    return { outcome: 'holds' };
  return { outcome: 'broken', findings: saturationFinding(resolved, level, base, known, initialReads) };
}

function decideByOrder(
  prepared: PreparedKv,
  level: CheckLevel,
  mode: PolygraphMode,
  orders: number,
  limits: SearchLimits,
): Decision {
  const { resolved } = prepared;
  let { edges, dependencies } = prepared;
  if (mode === 'cursor stability') {
    edges = new EdgeList(resolved.history.txCount);
    dependencies = addKvDependencies(resolved, edges, { onlyFromWriters: true });
  }
  const kinds = dependencyKinds | orders;
  const plain = buildPolygraph(resolved, mode, edges, kinds, dependencies);
  const hints = { ...prepared.times, position: groupBySession(resolved).position };
  if (guessOrder(plain, hints)) return { outcome: 'holds' };
  const serial = forcedBySerial(prepared, orders);
  if (!serial.cyclic) {
    // Whoever is serializable is everything below, too.
    const serialGraph =
      mode === 'serializable'
        ? plain
        : buildPolygraph(
            resolved,
            'serializable',
            prepared.edges,
            dependencyKinds | orders,
            prepared.dependencies,
          );
    const further = withPoints(serialGraph, serial.choices);
    if (guessOrder(further, { ...prepared.times, position: depths(further) })) return { outcome: 'holds' };
  } else if (mode === 'serializable') {
    const finding = forcedFinding(resolved, level, mode, copyEdges(edges, kinds), serial.choices);
    if (finding !== undefined) return { outcome: 'broken', findings: [finding] };
  }
  const forced =
    mode === 'cursor stability'
      ? []
      : mode === 'serializable'
        ? serial.choices
        : forcedByCausal(prepared, orders);
  if (forced === undefined) return decideBySaturation(prepared, 'causal');
  const graph = withPoints(plain, forced);
  if (guessOrder(graph, { ...prepared.times, position: depths(graph) })) return { outcome: 'holds' };
  const search = searchOrder(graph, limits);
  if (search.outcome === 'possible') return { outcome: 'holds' };
  if (search.outcome === 'unknown') {
    // What is known by now may lead the run past the place where it was stuck.
    const further = withPoints(graph, search.forced);
    if (guessOrder(further, { ...prepared.times, position: depths(further) })) return { outcome: 'holds' };
    return { outcome: 'unknown', reason: search.reason };
  }
  const findings = search.byForce
    ? forcedFinding(resolved, level, mode, copyEdges(edges, kinds), [...forced, ...search.forced])
    : undefined;
  return { outcome: 'broken', findings: [findings ?? noOrderFinding(resolved, search.txs, level)] };
}

function broken(prepared: PreparedKv, level: CheckLevel, findings: readonly Finding[]): Decision {
  if (findings.length > 0) return { outcome: 'broken', findings };
  const txs = cyclicComponents(buildGraph(prepared.edges))[0] ?? [];
  return { outcome: 'broken', findings: [noOrderFinding(prepared.resolved, [...txs], level)] };
}

const ownSessionsLimit = 5_000;

/** What serializability forces; nothing where there are too many transactions to compare each with each. */
function forcedBySerial(prepared: PreparedKv, orders: number): SerialSaturation {
  const { resolved, edges } = prepared;
  const inSessions = orders !== 0;
  if (!inSessions && resolved.history.txCount > ownSessionsLimit) return { choices: [], cyclic: false };
  const sessions = inSessions ? groupBySession(resolved) : withoutSessions(resolved);
  return saturateSerially(resolved, sessions, copyEdges(edges, dependencyKinds | orders));
}

/**
 * The pairs of versions that causal consistency orders: prefix and everything above it order them too. Undefined if
 * that already has a cycle.
 */
function forcedByCausal(prepared: PreparedKv, orders: number): ForcedChoice[] | undefined {
  const { resolved, edges } = prepared;
  const { history } = resolved;
  const inSessions = orders !== 0;
  if (!inSessions && history.txCount > ownSessionsLimit) return [];
  const base = copyEdges(edges, kindMask(ww, wr) | (inSessions ? kindMask(sessionOrder) : 0));
  const known = base.length;
  const sessions = inSessions ? groupBySession(resolved) : withoutSessions(resolved);
  const { initialReads, unknown } = saturate(resolved, 'causal', base, base, sessions);
  if (unknown !== undefined) return [];
  if (inSessions && (initialReads.length > 0 || cyclicComponents(buildGraph(base)).length > 0))
    return undefined;
  const choices: ForcedChoice[] = [];
  for (let e = known; e < base.length; e++) {
    const key = history.opKey[base.refs[e]!]!;
    choices.push({ key, first: base.sources[e]!, second: base.targets[e]!, readersOfFirst: [] });
  }
  return choices;
}

/** The polygraph with further choices made. */
function withPoints(graph: Polygraph, choices: readonly ForcedChoice[]): Polygraph {
  const points: number[] = [];
  for (const { first, second, readersOfFirst } of choices) {
    points.push(leavesFrom(graph, first, ww), entersAt(graph, second, ww));
    for (const reader of readersOfFirst) {
      if (reader !== second) points.push(leavesFrom(graph, reader, rw), entersAt(graph, second, rw));
    }
  }
  const grow = (old: Int32Array, offset: number): Int32Array => {
    const grown = new Int32Array(old.length + points.length / 2);
    grown.set(old);
    for (let i = 0; i < points.length / 2; i++) grown[old.length + i] = points[2 * i + offset]!;
    return grown;
  };
  return { ...graph, sources: grow(graph.sources, 0), targets: grow(graph.targets, 1) };
}
