/**
 * Families of cycles as automata over edge kinds (Adya 1999; the exact shapes follow Elle, VLDB 2020, and Cerone &
 * Gotsman for non-adjacency).
 *
 * G0 only ww; G1c ww and at least one wr; G-single exactly one rw; G-nonadjacent two or more rw, never one after the
 * other; G2-item at least two rw one after the other; G2 the same with at least one rw through a predicate. Each may
 * use session order, or session and real-time order, and then must.
 */
import { kindMask, predicateRw, realTime, rw, sessionOrder, wr, ww } from './graph.js';

export type Family = 'G0' | 'G1c' | 'G-single' | 'G-nonadjacent' | 'G2-item' | 'G2';
export type OrderUsed = 'none' | 'session' | 'real-time';

export const families: readonly Family[] = ['G0', 'G1c', 'G-single', 'G-nonadjacent', 'G2-item', 'G2'];
export const orders: readonly OrderUsed[] = ['none', 'session', 'real-time'];

const dependencies = kindMask(ww, wr);
export const familyMasks: Readonly<Record<Family, number>> = {
  G0: kindMask(ww),
  G1c: dependencies,
  'G-single': dependencies | kindMask(rw, predicateRw),
  'G-nonadjacent': dependencies | kindMask(rw, predicateRw),
  'G2-item': dependencies | kindMask(rw),
  G2: dependencies | kindMask(rw, predicateRw),
};
export const orderMasks: Readonly<Record<OrderUsed, number>> = {
  none: 0,
  session: kindMask(sessionOrder),
  'real-time': kindMask(sessionOrder, realTime),
};

/** Bits of an automaton's state. */
const sawWr = 1;
const sawOrder = 2;
const sawSecondRw = 4;
const sawPredicate = 8;
const lastWasRw = 16;
export const stateCount = 32;

export const isRw = (kind: number): boolean => kind === rw || kind === predicateRw;

/**
 * The state after an edge, or -1 if the family does not allow it. Every rw family starts with its rw edge. Called for every
 * edge that a search looks at, so its parameters are no object.
 */
export function step(family: Family, order: OrderUsed, state: number, kind: number, first: boolean): number {
  let next = state & ~lastWasRw;
  if (kind === wr) next |= sawWr;
  if (kind === realTime || (kind === sessionOrder && order === 'session')) next |= sawOrder;
  if (isRw(kind)) {
    if (!first) {
      if (family === 'G-single') return -1;
      if (family === 'G-nonadjacent' && (state & lastWasRw) !== 0) return -1;
      next |= sawSecondRw;
    }
    if (kind === predicateRw) next |= sawPredicate;
    next |= lastWasRw;
  } else if (first && family !== 'G0' && family !== 'G1c') return -1;
  return next;
}

/** May a cycle end in this state? */
export function accepts(family: Family, order: OrderUsed, state: number): boolean {
  if (order !== 'none' && (state & sawOrder) === 0) return false;
  const rwLast = (state & lastWasRw) !== 0;
  switch (family) {
    case 'G0':
      return true;
    case 'G1c':
      return (state & sawWr) !== 0;
    case 'G-single':
      return true;
    case 'G-nonadjacent':
      return (state & sawSecondRw) !== 0 && !rwLast;
    case 'G2-item':
      return rwLast;
    case 'G2':
      return rwLast && (state & sawPredicate) !== 0;
  }
}
