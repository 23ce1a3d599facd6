/**
 * Names a cycle by its shape, and says which levels it rules out. Works for dependencies of any origin: it sees only
 * the kinds of the edges and the objects they go through. Nothing else names cycles, or says which name is milder.
 */

import { baseKind, describeKind } from '../../contracts/index.js';
import type { CycleAnomaly, EdgeName, FindingKind, GraphAnomaly } from '../finding.js';
import { type CheckLevel, weakestOf, withOrder } from '../levels.js';
import type { FamilyCycle } from './cycle-search.js';
import { families, type OrderUsed } from './families.js';
import { edgeNames, predicateRw, realTime, rw, sessionOrder, wr, ww } from './graph.js';

const isRw = (kind: number): boolean => kind === rw || kind === predicateRw;

/** An edge as far as names depend on it; equal objects are one key or row. */
export interface ShapeEdge {
  readonly kind: EdgeName;
  readonly object?: string | number | undefined;
}

/** The published name, with `-session` or `-realtime` when the cycle needs that order. */
export function nameCycle({ kinds, refs }: Pick<FamilyCycle, 'kinds' | 'refs'>): GraphAnomaly {
  const edges = shapeOf(kinds, refs);
  return addOrder(baseName(edges), edges);
}

/** A name with the order that the edges of its cycle need. */
export function addOrder(base: CycleAnomaly, edges: readonly ShapeEdge[]): GraphAnomaly {
  const uses = (order: EdgeName): boolean => edges.some(({ kind }) => kind === order);
  return nameWithOrder(base, uses('real-time') ? 'real-time' : uses('session') ? 'session' : 'none');
}

const suffixes = { session: '-session', 'real-time': '-realtime' } as const;

/** A name with the order that its cycle needs; one that has an order keeps it. */
export function nameWithOrder(name: GraphAnomaly, order: OrderUsed): GraphAnomaly {
  const base = baseKind(name);
  return order === 'none' || base !== name ? name : `${base as CycleAnomaly}${suffixes[order]}`;
}

/**
 * How mild a finding is: the greater, the less it says of the database. What weaker levels forbid is worse, by families of cycles; a cycle
 * that needs an order besides its dependencies is milder than one that does not. What single reads show is forbidden where G1c is.
 * That no order exists says least: no cycle tells what happened.
 */
export function mildnessOf(kind: FindingKind): number {
  if (kind === 'no-order') return families.length;
  const base = baseKind(kind);
  const { partOf } = describeKind(base);
  const family = families.find((each) => each === base || partOf.includes(each)) ?? 'G1c';
  return families.indexOf(family) + (base === kind ? 0 : 0.5);
}

function shapeOf(kinds: readonly number[], refs: readonly number[]): ShapeEdge[] {
  return kinds.map((kind, i) => ({ kind: edgeNames[kind]!, object: refs[i]! < 0 ? undefined : refs[i] }));
}

/** The name without the order it needs; each edge starts where the one before ends. */
export function baseName(edges: readonly ShapeEdge[]): CycleAnomaly {
  const isRead = ({ kind }: ShapeEdge): boolean => kind === 'rw' || kind === 'predicate-rw';
  const reads = edges.filter(isRead);
  if (reads.length === 0) return edges.some(({ kind }) => kind === 'wr') ? 'G1c' : 'G0';
  const adjacent = edges.some((edge, i) => isRead(edge) && isRead(edges[(i + 1) % edges.length]!));
  if (reads.length > 1 && !adjacent) return 'G-nonadjacent';
  const predicate = reads.some(({ kind }) => kind === 'predicate-rw');
  const [first, second] = edges;
  const sameObject = first!.object !== undefined && first!.object === second?.object;
  if (reads.length > 1) {
    if (predicate) return 'G2';
    if (edges.length > 2) return 'G2-item';
    // Two transactions that both read and both write one object: whichever wrote first, its update was lost.
    return sameObject ? 'lost-update' : 'write-skew';
  }
  if (predicate || edges.length > 2) return 'G-single';
  const other = edges.find((edge) => !isRead(edge));
  if (other?.kind === 'ww') return sameObject ? 'lost-update' : 'read-write-skew';
  return other?.kind === 'wr' && !sameObject ? 'read-skew' : 'G-single';
}

/**
 * The weakest levels a cycle rules out. With one rw or more: serializable always; repeatable read if no predicate is
 * involved; snapshot if no two rw are adjacent; prefix if every rw follows a reads-from or order edge, because only
 * those end where a transaction reads; causal if the one rw is answered by nothing but what its transaction sees.
 */
export function cycleRulesOut(cycle: FamilyCycle): CheckLevel[] {
  const { kinds, refs } = cycle;
  const order = orderUsed(kinds);
  const add = (level: CheckLevel): CheckLevel => withOrder(level, order);
  const rwCount = kinds.filter(isRw).length;
  if (rwCount === 0) return [add(kinds.includes(wr) ? 'read committed' : 'read uncommitted')];
  const levels: CheckLevel[] = [add('serializable')];
  if (!kinds.includes(predicateRw)) levels.push(add('repeatable read'));
  const before = (i: number): number => kinds[(i + kinds.length - 1) % kinds.length]!;
  const places = kinds.map((_, i) => i).filter((i) => isRw(kinds[i]!));
  if (places.every((i) => !isRw(before(i)))) levels.push(add('snapshot'));
  if (places.every((i) => !isRw(before(i)) && before(i) !== ww)) levels.push(add('prefix'));
  const seen = kinds.every((kind) => isRw(kind) || kind === wr || kind === sessionOrder);
  if (rwCount === 1 && seen) levels.push(kinds.length === 2 ? 'read atomic' : 'causal');
  if (baseName(shapeOf(kinds, refs)) === 'lost-update') levels.push('cursor stability', 'snapshot');
  return weakestOf(levels);
}

export function orderUsed(kinds: readonly number[]): OrderUsed {
  if (kinds.includes(realTime)) return 'real-time';
  return kinds.includes(sessionOrder) ? 'session' : 'none';
}
