/**
 * What an operation showed of a row, or should have shown: as data, so that duplicate detection
 * compares what it is, not how it is worded.
 */
import type { TransactionId } from '../ids.js';
import { counted } from '../words.js';

/** A number of rows, or the least and the most. */
export type RowCount = number | readonly [least: number, most: number];

export type Observation =
  /** Values of the row, or a result; `width`: how many values, where it is one whole row. */
  | { readonly as: 'values'; readonly text: string; readonly width?: number }
  | { readonly as: 'absent' }
  /** How many rows a write matched, or from how many to how many it may have. */
  | { readonly as: 'matched'; readonly count: RowCount }
  | { readonly as: 'written' | 'not-written' | 'conflict-error' | 'wait' }
  | { readonly as: 'lock'; readonly mode: 'share' | 'exclusive' }
  /** The state right before or after the commit of a transaction. */
  | {
      readonly as: 'before-commit' | 'after-commit';
      readonly transaction: TransactionId;
      readonly name: string;
    };

export const values = (text: string, width?: number): Observation => ({
  as: 'values',
  text,
  ...(width !== undefined && { width }),
});
/** The text of values that do not follow from anything. */
export const unknownValues = 'values not known';
export const absent: Observation = { as: 'absent' };

/** The observation in words. */
export function showObservation(seen: Observation): string {
  switch (seen.as) {
    case 'values':
      return seen.text;
    case 'absent':
      return 'no row';
    case 'matched':
      return `${counted(typeof seen.count === 'number' ? seen.count : seen.count.join(' to '), 'row')} matched`;
    case 'written':
      return 'written without an error';
    case 'not-written':
      return 'not written';
    case 'conflict-error':
      return 'a serialization error';
    case 'wait':
      return 'a wait for the first to end';
    case 'lock':
      return `${seen.mode} lock granted`;
    case 'before-commit':
      return `as before ${seen.name} committed`;
    case 'after-commit':
      return `as after ${seen.name} committed`;
    default:
      return seen satisfies never;
  }
}

/** Whether it says how a statement was answered, not what a row looked like. */
export function speaksOfAnswer({ as }: Observation): boolean {
  return as === 'written' || as === 'conflict-error' || as === 'wait' || as === 'matched';
}
