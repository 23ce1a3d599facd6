/**
 * Names a cycle by its shape, and says which levels it rules out. Works for dependencies of any origin: it sees only
 * the kinds of the edges and the objects they go through.
 */

import type { CycleAnomaly, GraphAnomaly } from '../finding.js';
import { type CheckLevel, weakestOf, withOrder } from '../levels.js';
import type { FamilyCycle } from './cycle-search.js';
import type { Family, OrderUsed } from './families.js';
import { predicateRw, realTime, rw, sessionOrder, wr, ww } from './graph.js';

const isRw = (kind: number): boolean => kind === rw || kind === predicateRw;

/** The published name, with `-session` or `-realtime` when the cycle needs that order. */
export function nameCycle(cycle: FamilyCycle): GraphAnomaly {
  const base = baseName(cycle.family, cycle.kinds, cycle.refs);
  if (cycle.order === 'none') return base;
  return cycle.order === 'session' ? `${base}-session` : `${base}-realtime`;
}

function baseName(family: Family, kinds: readonly number[], refs: readonly number[]): CycleAnomaly {
  if (kinds.length !== 2 || kinds.includes(predicateRw)) return family;
  const sameObject = refs[0] === refs[1];
  const other = kinds[kinds[0] === rw ? 1 : 0];
  if (family === 'G-single') {
    if (other === ww) return sameObject ? 'lost-update' : 'read-write-skew';
    if (other === wr && !sameObject) return 'read-skew';
  }
  // Two transactions that both read and both write one object: whichever wrote first, its update was lost.
  if (family === 'G2-item') return sameObject ? 'lost-update' : 'write-skew';
  return family;
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
  if (baseName(cycle.family, kinds, refs) === 'lost-update') levels.push('cursor stability', 'snapshot');
  return weakestOf(levels);
}

export function orderUsed(kinds: readonly number[]): OrderUsed {
  if (kinds.includes(realTime)) return 'real-time';
  return kinds.includes(sessionOrder) ? 'session' : 'none';
}
