/** A history made ready for any number of questions: its reads traced, its dependencies and orders drawn. */
import { EdgeList, kindMask, predicateRw, realTime, rw, sessionOrder, wr, ww } from '../graph/graph.js';
import { addRealTimeOrder, addSessionOrder } from '../graph/real-time.js';
import { type BaseLevel, baseOf, type CheckLevel, type LevelOrder, orderOf } from '../levels.js';
import { addKvDependencies, type KvDependencies } from './kv-edges.js';
import type { ResolvedKv } from './resolved-kv.js';

export interface PreparedKv {
  readonly resolved: ResolvedKv;
  readonly edges: EdgeList;
  readonly dependencies: KvDependencies;
  /** Absent where the history has no times. */
  readonly times?: { readonly start: Float64Array; readonly end: Float64Array };
}

/** The kinds of edges that an order consists of. */
export const orderKinds: Readonly<Record<LevelOrder, number>> = {
  none: 0,
  session: kindMask(sessionOrder),
  'real-time': kindMask(sessionOrder, realTime),
};
export const dependencyKinds = kindMask(ww, wr, rw, predicateRw);

/** Levels that are decided without anti-dependencies. */
const shallowLevels: readonly BaseLevel[] = [
  'read uncommitted',
  'read committed',
  'monotonic atomic view',
  'read atomic',
  'causal',
];

/** Only the dependencies that a level needs; see `prepareKv`. */
export const isShallow = (level: CheckLevel): boolean => shallowLevels.includes(baseOf(level));

/** Made ready for questions about this level alone. */
export function prepareFor(resolved: ResolvedKv, level: CheckLevel): PreparedKv {
  const shallow = isShallow(level) ? { realTime: orderOf(level) === 'real-time' } : undefined;
  return prepareKv(resolved, shallow);
}

/** `shallow`: without anti-dependencies, and real time only if asked for; enough for the levels up to causal. */
export function prepareKv(resolved: ResolvedKv, shallow?: { readonly realTime: boolean }): PreparedKv {
  const { history, counts } = resolved;
  const expected = (shallow === undefined ? 2 : 1) * history.opCount + 4 * history.txCount;
  const edges = new EdgeList(history.txCount, expected);
  const dependencies = addKvDependencies(resolved, edges, { withoutRw: shallow !== undefined });
  addSessionOrder(edges, history.txSession, counts);
  const times = usableTimes(resolved);
  if (times === undefined) return { resolved, edges, dependencies };
  if (shallow?.realTime !== false) addRealTimeOrder(edges, times.start, times.end, counts);
  return { resolved, edges, dependencies, times };
}

/** The times of a transaction that ends before it starts say nothing. */
function usableTimes({ history }: ResolvedKv): PreparedKv['times'] {
  const { txStart: start, txEnd: end } = history;
  if (start === undefined || end === undefined) return undefined;
  if (!start.some((time, tx) => end[tx]! < time)) return { start, end };
  const blank = (times: Float64Array): Float64Array =>
    times.map((time, tx) => (end[tx]! < start[tx]! ? Number.NaN : time));
  return { start: blank(start), end: blank(end) };
}
