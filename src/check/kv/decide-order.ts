/**
 * Decides serializability, snapshot isolation, prefix consistency and cursor stability by looking for an order of points
 * (`order/order-problem.ts`):
 *
 * 1. Run the history once: by the clock where it has times, else in a likely order (`likely-order.ts`).
 * 2. Saturate: draw what the level forces. A cycle refutes.
 * 3. Run again with what is known now, learning where a run is stuck. A finished run is a proof.
 * 4. Search.
 *
 * Where a level keeps no order of sessions, the order that keeps it is looked for first: if it is found, so much the
 * better. If it is not, nothing follows, and chains of reads take the place of sessions.
 *
 * A refutation is brought down to a few transactions that break the level by themselves, and reported as a finding.
 */
import type { Finding } from '../finding.js';
import type { FamilyCycle } from '../graph/cycle-search.js';
import { copyEdges, EdgeList, kindMask, sessionOrder, wr, ww } from '../graph/graph.js';
import { nameCycle, nameWithOrder } from '../graph/name-cycle.js';
import { chainsAlong, groupBySession, type Sessions } from '../graph/sessions.js';
import type { CheckLevel } from '../levels.js';
import type { Effort } from './effort.js';
import { breaksMode, forcedFinding } from './forced-finding.js';
import { addKvDependencies } from './kv-edges.js';
import { cycleFinding, noOrderFinding } from './kv-findings.js';
import { likelyOrder } from './likely-order.js';
import { mildestCycle } from './mildest-cycle.js';
import { forceChoices } from './order/force-choices.js';
import { buildOrderProblem, type OrderMode, type OrderProblem } from './order/order-problem.js';
import { PointEdges } from './order/point-edges.js';
import { minimalCore, Refutation, withSources } from './order/refutation.js';
import { clockPriority, runOrder } from './order/run-order.js';
import { type Saturated, saturateOrder } from './order/saturate-order.js';
import { searchOrder } from './order/search-order.js';
import { dependencyKinds, orderKinds, type PreparedKv, prepareKv } from './prepared-kv.js';
import { renamedHistory } from './renamed-history.js';
import { resolveReads } from './resolve-reads.js';
import { initialState, noSource, type ResolvedKv } from './resolved-kv.js';

/** What is asked: which points transactions have, and which order besides their dependencies is kept. */
export interface OrderQuestion {
  readonly mode: OrderMode;
  readonly order: keyof typeof orderKinds;
}

/** The order of points that proves a level: points below `txCount` read (or are all of a transaction), others commit. */
export interface PointOrder {
  readonly split: boolean;
  readonly points: Int32Array;
}

export type OrderDecision =
  | { readonly outcome: 'holds'; readonly proof: PointOrder }
  /** `txs`: whoever took part in the refutation. */
  | { readonly outcome: 'broken'; readonly txs: readonly number[] }
  | { readonly outcome: 'unknown'; readonly reason: string };

export function decideOrder(prepared: PreparedKv, question: OrderQuestion, effort: Effort): OrderDecision {
  if (question.order === 'none') {
    const problem = problemOf(prepared, question.mode, orderKinds.session);
    const proved = problem === undefined ? undefined : proveByRunning(prepared, problem, effort.share(0.5));
    if (proved !== undefined) return { outcome: 'holds', proof: proved };
  }
  const problem = problemOf(prepared, question.mode, orderKinds[question.order]);
  // A cycle of reads-from is one of the known edges; any chains will do to show it.
  return decideProblem(prepared, problem ?? plainProblem(prepared, question), effort);
}

function decideProblem(prepared: PreparedKv, problem: OrderProblem, effort: Effort): OrderDecision {
  const byClock = runByClock(prepared, problem, effort);
  if (byClock !== undefined) return { outcome: 'holds', proof: proofOf(prepared, problem, byClock) };
  const saturated = saturateOrder(problem, effort);
  const { edges } = saturated;
  const refuted = (collect: (refutation: Refutation) => void): OrderDecision => {
    const refutation = new Refutation(problem, edges);
    collect(refutation);
    return { outcome: 'broken', txs: [...refutation.txs] };
  };
  if (saturated.outcome === 'cyclic') return refuted((refutation) => refutation.addCycle());
  const order = runOrder(problem, edges, { effort: effort.share(0.4) });
  if (order !== undefined) return { outcome: 'holds', proof: proofOf(prepared, problem, order) };
  if (effort.spent()) {
    return { outcome: 'unknown', reason: `no order was found in ${effort.limits.seconds} s` };
  }
  const search = searchOrder(problem, saturated, effort);
  switch (search.outcome) {
    case 'possible':
      return { outcome: 'holds', proof: proofOf(prepared, problem, search.order) };
    case 'impossible':
      return refuted((refutation) => {
        for (const conflict of search.conflicts) refutation.addConflict(conflict);
      });
    case 'unknown':
      return { outcome: 'unknown', reason: search.reason };
  }
}

/** An order that a run proves; undefined says nothing. */
function proveByRunning(prepared: PreparedKv, problem: OrderProblem, effort: Effort): PointOrder | undefined {
  const byClock = runByClock(prepared, problem, effort);
  if (byClock !== undefined) return proofOf(prepared, problem, byClock);
  const saturated: Saturated = saturateOrder(problem, effort);
  if (saturated.outcome === 'cyclic') return undefined;
  const order = runOrder(problem, saturated.edges, { effort });
  return order === undefined ? undefined : proofOf(prepared, problem, order);
}

function runByClock(prepared: PreparedKv, problem: OrderProblem, effort: Effort): Int32Array | undefined {
  const times = prepared.times ?? likelyTimes(prepared);
  if (times === undefined) return undefined;
  const priority = clockPriority(problem, times);
  return runOrder(problem, new PointEdges(problem), { priority, effort, attempts: 1 });
}

/** A clock that nobody has read: the places of transactions in a likely order; undefined if what is known has a cycle. */
function likelyTimes({ resolved, edges }: PreparedKv): PreparedKv['times'] {
  const order = likelyOrder(groupBySession(resolved), copyEdges(edges, kindMask(ww, wr, sessionOrder)));
  if (order === undefined) return undefined;
  const places = new Float64Array(order.length);
  for (let i = 0; i < order.length; i++) places[order[i]!] = i;
  return { start: places, end: places };
}

function proofOf({ resolved }: PreparedKv, { split, txCount }: OrderProblem, order: Int32Array): PointOrder {
  const points = split ? 2 * txCount : txCount;
  const isPart = (point: number): boolean => point < points && resolved.counts[point % txCount] === 1;
  return { split, points: order.filter(isPart) };
}

/** Undefined where no chains could be found, because reads-from has a cycle. */
function problemOf(prepared: PreparedKv, mode: OrderMode, order: number): OrderProblem | undefined {
  const { resolved } = prepared;
  const sessions = groupBySession(resolved);
  const enough = (order & kindMask(sessionOrder)) !== 0 && sessions.count <= manySessions;
  const chains = enough
    ? sessions
    : chainsAlong(resolved, prepared.edges, kindMask(wr) | (order & kindMask(sessionOrder)));
  if (chains === undefined) return undefined;
  const shorter = (order & kindMask(sessionOrder)) !== 0 && sessions.count <= chains.count;
  return buildProblem(prepared, mode, order, shorter ? sessions : chains);
}

const manySessions = 256;

function plainProblem(prepared: PreparedKv, { mode, order }: OrderQuestion): OrderProblem {
  return buildProblem(prepared, mode, orderKinds[order], groupBySession(prepared.resolved));
}

function buildProblem(prepared: PreparedKv, mode: OrderMode, order: number, chains: Sessions): OrderProblem {
  const kinds = dependencyKinds | order;
  return buildOrderProblem(
    prepared.resolved,
    mode,
    { ...questionEdges(prepared, mode, order), kinds },
    chains,
  );
}

/** The dependencies a mode counts, and the order it keeps. */
function questionEdges(
  prepared: PreparedKv,
  mode: OrderMode,
  order: number,
): Pick<PreparedKv, 'edges' | 'dependencies'> {
  if (mode !== 'cursor stability') return prepared;
  const edges = new EdgeList(prepared.edges.txCount);
  const dependencies = addKvDependencies(prepared.resolved, edges, { onlyFromWriters: true });
  const ordered = copyEdges(prepared.edges, order);
  while (edges.nodeCount < ordered.nodeCount) edges.addAux();
  for (let e = 0; e < ordered.length; e++) {
    edges.add(ordered.sources[e]!, ordered.targets[e]!, ordered.kinds[e]!);
  }
  return { edges, dependencies };
}

const coreSeconds = 10;

/** The fewest of `txs`, which broke a level, that break it alone. */
export function orderCore(
  resolved: ResolvedKv,
  question: OrderQuestion,
  txs: readonly number[],
  effort: Effort,
): readonly number[] | undefined {
  const all = withSources(resolved, txs);
  const limit = effort.again(coreSeconds);
  const breaks = (some: readonly number[]): boolean => {
    const prepared = prepareKv(resolveReads(renamedHistory(resolved, some, { shorten: true })));
    return decideOrder(prepared, question, limit).outcome === 'broken';
  };
  if (!breaks(all)) return undefined;
  return minimalCore(all, breaks, () => limit.spent());
}

/** The argument that these transactions break a level, as far as possible as a cycle. */
export function orderFinding(
  resolved: ResolvedKv,
  level: CheckLevel,
  { mode, order }: OrderQuestion,
  core: readonly number[],
): Finding {
  const prepared = prepareKv(onlyAmong(resolved, core));
  const { forced } = forceChoices(plainProblem(prepared, { mode, order }));
  const { edges } = questionEdges(prepared, mode, orderKinds[order]);
  const known = copyEdges(edges, dependencyKinds | orderKinds[order]);
  const finding =
    forcedFinding(resolved, level, { mode, known, forced }) ?? noOrderFinding(resolved, core, level);
  const breaks = (cycle: FamilyCycle): boolean => breaksMode(cycle, mode);
  const withoutOrder = mildestCycle(prepared.resolved, copyEdges(known, dependencyKinds), breaks);
  const mildest = withoutOrder === 'none' ? mildestCycle(prepared.resolved, known, breaks) : withoutOrder;
  if (mildest === undefined || mildest === 'none') return finding;
  // What holds without the order of sessions or of the clock has a name that says so.
  const kind = withoutOrder === 'none' ? nameWithOrder(nameCycle(mildest), order) : nameCycle(mildest);
  if (kind === finding.kind) return finding;
  const isKnown = edgeTest(known);
  const named = cycleFinding(resolved, mildest, {
    rulesOut: [level],
    whyForced: (from, to, kind, key) =>
      isKnown(from, to, kind, key) ? undefined : ['in the order of versions that breaks the least'],
    alsoShow: () => core,
  });
  const tried = noOrderFinding(resolved, core, level).explanation.at(-1)!;
  return { ...named, kind, certainty: 'proved-by-search', explanation: [...named.explanation, tried] };
}

/** Which edges are in a list. */
function edgeTest(edges: EdgeList): (from: number, to: number, kind: number, key: number) => boolean {
  const all = new Set<string>();
  for (let e = 0; e < edges.length; e++) {
    all.add(`${edges.sources[e]} ${edges.targets[e]} ${edges.kinds[e]} ${edges.refs[e]}`);
  }
  return (from, to, kind, key) => all.has(`${from} ${to} ${kind} ${key}`);
}

/** The history as it is, but only what these transactions did and read of each other counts. */
function onlyAmong(resolved: ResolvedKv, txs: readonly number[]): ResolvedKv {
  const { history, opTx } = resolved;
  const counts = new Uint8Array(history.txCount);
  for (const tx of txs) counts[tx] = resolved.counts[tx]!;
  const readsFrom = new Int32Array(history.opCount).fill(noSource);
  for (const tx of txs) {
    for (let op = history.opOffsets[tx]!; op < history.opOffsets[tx + 1]!; op++) {
      const source = resolved.readsFrom[op]!;
      if (source === initialState || (source >= 0 && counts[opTx[source]!] === 1)) readsFrom[op] = source;
    }
  }
  return { ...resolved, counts, readsFrom };
}
