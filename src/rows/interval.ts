/** Spans of client time. The truth lies somewhere inside; both ends count. */
import type { Operation } from '../histories/index.js';

export interface Interval {
  readonly start: number;
  readonly end: number;
}

/** From sending to answer; what was never answered may still take effect. */
export function intervalOf(operation: Operation): Interval {
  return { start: operation.start, end: operation.end ?? Number.POSITIVE_INFINITY };
}

export const never: Interval = { start: Number.POSITIVE_INFINITY, end: Number.POSITIVE_INFINITY };
export const always: Interval = { start: Number.NEGATIVE_INFINITY, end: Number.NEGATIVE_INFINITY };
