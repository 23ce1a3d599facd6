/**
 * Comparing two non-NULL values.
 *
 * Text is where dialects differ most. Equality is bytewise in PostgreSQL (deterministic collations), SQLite and DuckDB; in MySQL
 * the collation usually ignores case and trailing blanks, so two texts are surely equal only when identical and surely
 * different only when they differ beyond case and blanks. Order is bytewise in SQLite and DuckDB; elsewhere it
 * is the collation's, of which we use only what the root collation, C and their relatives share: the order of lower-case
 * ASCII letters and digits. An engine that only speaks a dialect may ignore case or trailing blanks, too (HSQLDB and Derby do the
 * latter). Databases with a language's own collation must say `textOrder: 'unknown'`.
 */
import type { Dialect } from '../dialect.js';
import type { Value } from '../value.js';
import { compareDecimals, toDecimal, toDouble } from './number.js';
import { isNumeric, type SqlType } from './types.js';
import { type Undecidable, undecidable } from './undecidable.js';

export type TextOrder = 'binary' | 'root' | 'unknown';

/** How values of two types compare: negative, zero, positive, or undecidable. */
export type Comparison = (a: Value, b: Value) => number | Undecidable;

const mixed = undecidable('values of different types are compared');
const collation = undecidable('the collation decides');

export function defaultTextOrder(dialect: Dialect): TextOrder {
  return dialect === 'sqlite' || dialect === 'duckdb' ? 'binary' : 'root';
}

/** The comparison for two static types. With `equality`, only whether the result is zero matters. */
export function comparison(
  a: SqlType,
  b: SqlType,
  {
    dialect,
    textOrder,
    borrowed = false,
  }: { readonly dialect: Dialect; readonly textOrder: TextOrder; readonly borrowed?: boolean },
  equality: boolean,
): Comparison {
  const doubtful = a.family === 'unknown' || b.family === 'unknown';
  const rules: Rules = {
    dialect,
    order: doubtful ? 'unknown' : textOrder,
    equality,
    asDouble: a.family === 'double' || b.family === 'double',
    doubtful,
    borrowed,
    numericSide: isNumeric(a) || isNumeric(b),
  };
  const general: Comparison = (x, y) => compareValues(x, y, rules);
  if (a.family !== 'int' || b.family !== 'int') return general;
  return (x, y) => (typeof x === 'number' && typeof y === 'number' ? x - y : general(x, y));
}

interface Rules {
  readonly dialect: Dialect;
  readonly order: TextOrder;
  readonly equality: boolean;
  readonly asDouble: boolean;
  /** A type is not known: it may ignore case or blanks, have its own order, or hold floats of four bytes. */
  readonly doubtful: boolean;
  /** The engine only speaks the dialect. */
  readonly borrowed: boolean;
  /** One side is declared a number: SQLite then reads texts that look like numbers as numbers. */
  readonly numericSide: boolean;
}

function compareValues(a: Value, b: Value, rules: Rules): number | Undecidable {
  if (typeof a === 'string' || typeof b === 'string') {
    if (typeof a !== 'string' || typeof b !== 'string') return mixed;
    return rules.numericSide && (looksNumeric(a) || looksNumeric(b)) ? mixed : compareTexts(a, b, rules);
  }
  if (typeof a === 'boolean' && typeof b === 'boolean') return Number(a) - Number(b);
  if (typeof a === 'boolean' || typeof b === 'boolean') {
    if (rules.dialect === 'postgres' || rules.dialect === 'duckdb') return mixed;
  }
  if (rules.doubtful && (isFraction(a) || isFraction(b))) return undecidable('a float of unknown width');
  return compareNumbers(a, b, rules) ?? compareTagged(a, b);
}

function looksNumeric(text: string): boolean {
  return text.trim() !== '' && !Number.isNaN(Number(text));
}

function isFraction(value: Value): boolean {
  return typeof value === 'number' && !Number.isInteger(value);
}

function compareNumbers(
  a: Value,
  b: Value,
  { asDouble, dialect }: Pick<Rules, 'asDouble' | 'dialect'>,
): number | undefined {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  // SQLite compares a large integer with a float exactly; the others make the integer a float.
  if (dialect === 'sqlite' && typeof a === 'object' && a !== null && 'int' in a && typeof b === 'number')
    return BigInt(a.int) < b ? -1 : BigInt(a.int) > b ? 1 : 0;
  if (dialect === 'sqlite' && typeof a === 'number') {
    const swapped = compareNumbers(b, a, { asDouble, dialect });
    return swapped === undefined ? undefined : -swapped;
  }
  const x = toDecimal(a);
  const y = toDecimal(b);
  if (x !== undefined && y !== undefined && !asDouble) return compareDecimals(x, y);
  const left = toDouble(a);
  const right = toDouble(b);
  return left === undefined || right === undefined ? undefined : left - right;
}

function compareTagged(a: Value, b: Value): number | Undecidable {
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return mixed;
  if ('bytes' in a && 'bytes' in b) return compareCodeUnits(a.bytes, b.bytes);
  if ('date' in a && 'date' in b) return compareMoments(a.date, b.date);
  if ('time' in a && 'time' in b) return compareMoments(a.time, b.time);
  const left = timestampText(a);
  const right = timestampText(b);
  if (left === undefined || right === undefined) return mixed;
  const zoneA = zoneOf(left);
  // One zone's texts order like their instants; across zones (and with none) the session's zone would be needed.
  return zoneA === zoneOf(right)
    ? compareMoments(left.slice(0, left.length - zoneA.length), right.slice(0, right.length - zoneA.length))
    : mixed;
}

function timestampText(value: object): string | undefined {
  if ('timestamp' in value) return value.timestamp as string;
  return 'date' in value ? `${value.date as string} 00:00:00` : undefined;
}

function zoneOf(text: string): string {
  return /([+-]\d\d(:?\d\d)?|Z)$/.exec(text.slice(10))?.[0] ?? '';
}

const moment = /^(\d{4}-\d\d-\d\d)?[ T]?(\d\d:\d\d:\d\d(\.\d+)?)?$/;

/** ISO texts order like the moments they name, once fractions have the same length. */
function compareMoments(a: string, b: string): number | Undecidable {
  if (!moment.test(a) || !moment.test(b)) return undecidable('a date is not in ISO form');
  return compareCodeUnits(withoutZeros(a), withoutZeros(b));
}

function withoutZeros(text: string): string {
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text;
}

function compareCodeUnits(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

const rootOrdered = /^[a-z0-9]*$/;
const ascii = /^[\x20-\x7e]*$/;

function compareTexts(
  a: string,
  b: string,
  { dialect, order, equality, doubtful, borrowed }: Rules,
): number | Undecidable {
  if (a === b) return 0;
  if (dialect === 'mysql' || doubtful || borrowed) {
    const sure = ascii.test(a) && ascii.test(b) && fold(a) !== fold(b);
    if (!sure) return collation;
    if (equality) return 1;
    const [x, y] = borrowed ? [a, b] : [fold(a), fold(b)];
    return order !== 'unknown' && rootOrdered.test(x) && rootOrdered.test(y)
      ? compareCodeUnits(x, y)
      : collation;
  }
  if (equality) return 1;
  if (order === 'binary') return compareUtf8(a, b);
  return order === 'root' && rootOrdered.test(a) && rootOrdered.test(b) ? compareCodeUnits(a, b) : collation;
}

function fold(text: string): string {
  return text.toLowerCase().trimEnd();
}

/** Bytewise in UTF-8, which is by code point; JavaScript's own order is by UTF-16 unit. */
function compareUtf8(a: string, b: string): number {
  return ascii.test(a) && ascii.test(b)
    ? compareCodeUnits(a, b)
    : Buffer.compare(Buffer.from(a), Buffer.from(b));
}
