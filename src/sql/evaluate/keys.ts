/** When two values fall into one group: the equality of GROUP BY, DISTINCT and set operations, where NULL equals NULL. */
import { type Value, valueKey } from '../value.js';
import { numericKey } from './number.js';
import type { Context } from './scope.js';
import type { SqlType } from './types.js';
import { type Evaluated, isUndecidable, NotDecidable } from './undecidable.js';

const ascii = /^[\x20-\x7e]*$/;

/** Gives rows keys; one keeper per operation, because what is certain depends on all texts seen. */
export class KeyKeeper {
  /** Texts as first seen, by their folded form. */
  private readonly seen = new Map<string, string>();
  private beyondAscii = false;

  constructor(
    private readonly ctx: Pick<Context, 'dialect' | 'borrowed'>,
    private readonly types: readonly SqlType[],
  ) {}

  key(row: readonly Evaluated[]): string {
    let key = '';
    for (const [i, cell] of row.entries()) {
      if (isUndecidable(cell)) throw new NotDecidable(cell.undecidable);
      key += `${this.cellKey(cell, this.types[i]?.family === 'unknown')}\n`;
    }
    return key;
  }

  private cellKey(value: Value, doubtful: boolean): string {
    if (typeof value === 'string') {
      const collated = this.ctx.dialect === 'mysql' || this.ctx.borrowed || doubtful;
      return JSON.stringify(collated ? this.collated(value) : value);
    }
    if (value === null || typeof value === 'boolean') return String(value);
    return numericKey(value) ?? valueKey(value);
  }

  /** MySQL's collation, an engine with rules of its own, or a type we do not know, may take two texts for one; only texts that differ beyond doubt have keys. */
  private collated(text: string): string {
    const folded = text.toLowerCase().trimEnd();
    const first = this.seen.get(folded);
    this.beyondAscii ||= !ascii.test(text);
    if (first !== undefined && first !== text)
      throw new NotDecidable('the collation decides which texts are equal');
    this.seen.set(folded, text);
    if (this.beyondAscii && this.seen.size > 1)
      throw new NotDecidable('the collation decides which texts are equal');
    return text;
  }
}
