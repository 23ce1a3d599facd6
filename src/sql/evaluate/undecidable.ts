/** The answer "not decided here", with its reason. It flows through evaluation like NULL does, but never becomes a value. */
import type { Value } from '../value.js';

export interface Undecidable {
  readonly undecidable: string;
}

/** A value of SQL, or that it cannot be known exactly. */
export type Evaluated = Value | Undecidable;

/** A row of which some cells may not be known. */
export type EvaluatedRow = readonly Evaluated[];

/** SQL's three truth values, or that it cannot be known. */
export type Truth = boolean | null | Undecidable;

export function undecidable(reason: string): Undecidable {
  return { undecidable: reason };
}

export function isUndecidable(thing: Evaluated | Truth | object | undefined): thing is Undecidable {
  return typeof thing === 'object' && thing !== null && 'undecidable' in thing;
}

/** Thrown while an expression is compiled, when no row could ever make it decidable. */
export class NotDecidable extends Error {}

/** Turns `NotDecidable` into data. */
export function decide<T>(work: () => T): T | Undecidable {
  try {
    return work();
  } catch (error) {
    if (error instanceof NotDecidable) return undecidable(error.message);
    throw error;
  }
}
