/** What a row holds at some moment, as far as it is known, and how that compares with conditions and results. */
import { type Evaluated, type EvaluatedRow, isUndecidable, showValue } from '../sql/index.js';
import type { Satisfies } from './plan-types.js';

/** A row's values in column order (single ones may be undecidable), or that there is no row, or that nothing is known. */
export type Image = EvaluatedRow | 'absent' | 'unknown';

/** A cell that nobody recorded. */
export const unknownCell: Evaluated = { undecidable: 'not recorded' };

/** Whether something of the row is not known. */
export function isVague(image: Image): boolean {
  return image === 'unknown' || (image !== 'absent' && image.some((cell) => isUndecidable(cell)));
}

/** Whether there is a row and it satisfies a condition; undefined: cannot be known. */
export function isHit(image: Image, where: Satisfies): boolean | undefined {
  if (image === 'absent') return false;
  return image === 'unknown' ? undefined : where(image);
}

const imageLimit = 16;

/** Each image once; too many of them are `unknown`. */
export function mergeImages(images: readonly Image[]): readonly Image[] {
  if (images.length === 1) return images;
  if (images.includes('unknown')) return ['unknown'];
  const byKey = new Map<string, Image>();
  for (const image of images) byKey.set(imageKey(image), image);
  return byKey.size > imageLimit ? ['unknown'] : [...byKey.values()];
}

export function imageKey(image: Image): string {
  return typeof image === 'string' ? image : JSON.stringify(image);
}

/** The row after a write that tells only some of its cells. */
export function overlay(base: Image, cells: readonly Evaluated[]): Image {
  if (typeof base === 'string') return cells;
  const width = Math.max(base.length, cells.length);
  return Array.from({ length: width }, (_, i) => {
    const cell = cells[i];
    return cell === undefined || isUndecidable(cell) ? (base[i] ?? unknownCell) : cell;
  });
}

/**
 * Whether a stored cell is what a result shows. Only NULL, texts and numbers are told apart for certain; other types
 * have several spellings.
 */
export function sameCell(stored: Evaluated, shown: Evaluated): boolean | undefined {
  if (stored === shown) return true;
  if (isUndecidable(stored) || isUndecidable(shown)) return undefined;
  if (stored === null || shown === null) return false;
  const a = typeof stored;
  const b = typeof shown;
  if (a === 'number' && b === 'number') return false;
  if (a === 'object' || b === 'object' || a === 'boolean' || b === 'boolean')
    return showValue(stored) === showValue(shown) ? true : undefined;
  return String(stored) === String(shown);
}

/** Rows without their order: equal for results that hold the same rows equally often. */
export function bagOf(rows: readonly EvaluatedRow[]): string {
  return rows.map(rowText).sort().join('\n');
}

/** A row of a result as text. A whole number is one text, whether it is an integer or a decimal: engines differ in what a sum of integers is (HSQLDB). */
export function rowText(row: EvaluatedRow): string {
  return JSON.stringify(row.some(isDecimal) ? row.map(wholeNumber) : row);
}

function isDecimal(cell: Evaluated): cell is { readonly decimal: string } {
  return typeof cell === 'object' && cell !== null && 'decimal' in cell;
}

function wholeNumber(cell: Evaluated): Evaluated {
  if (!isDecimal(cell) || !/^-?\d+(\.0+)?$/.test(cell.decimal)) return cell;
  const whole = BigInt(cell.decimal.replace(/\..*/, ''));
  return Number.isSafeInteger(Number(whole)) ? Number(whole) : { int: String(whole) };
}
