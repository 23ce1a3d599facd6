/**
 * Which findings of one identity are pursued: the first, the second, the fourth, the eighth … Two bugs can share an identity, and a thousand
 * findings of one bug must not eat the hunt.
 *
 * A statement that is never answered costs its whole time limit in every trial of its reduction. Once a bug of that identity is confirmed,
 * others are counted, not reduced again.
 */
import type { Finding } from '../check/index.js';
import { describeKind } from '../contracts/index.js';

/** What a hunt knows of an identity. */
export interface Met {
  /** Findings so far, the one in question included. */
  readonly count: number;
  /** The bug that the last pursuit ended with. */
  readonly bug?: string;
}

export function isPursued({ count, bug }: Met, { kind }: Pick<Finding, 'kind'>): boolean {
  if (bug !== undefined && describeKind(kind).takesTimeLimit === true) return false;
  return isPowerOfTwo(count);
}

function isPowerOfTwo(count: number): boolean {
  return (count & (count - 1)) === 0;
}
