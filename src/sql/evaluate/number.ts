/** Exact numbers: integers of any size and decimals as digits and scale. */
import type { Value } from '../value.js';

export interface Decimal {
  readonly digits: bigint;
  readonly scale: number;
}

/** A numeric value as exact digits; `undefined` for what is not a finite exact number. */
export function toDecimal(value: Value): Decimal | undefined {
  if (typeof value === 'number') {
    return Number.isSafeInteger(value) ? { digits: BigInt(value), scale: 0 } : undefined;
  }
  if (typeof value === 'boolean') return { digits: value ? 1n : 0n, scale: 0 };
  if (typeof value !== 'object' || value === null) return undefined;
  if ('int' in value) return { digits: BigInt(value.int), scale: 0 };
  return 'decimal' in value ? parseDecimal(value.decimal) : undefined;
}

export function parseDecimal(text: string): Decimal | undefined {
  const match = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text);
  if (match === null) return undefined;
  const [, sign, whole, fraction = ''] = match;
  return { digits: BigInt(`${sign}${whole}${fraction}`), scale: fraction.length };
}

/** `1.5e3` as PostgreSQL reads it: a decimal, with as many digits after the point as remain. */
export function expandExponent(text: string): Decimal | undefined {
  const match = /^(-?)(\d*)\.?(\d*)[eE]([+-]?\d+)$/.exec(text);
  if (match === null) return undefined;
  const [, sign, whole = '', fraction = '', exponent] = match;
  const scale = fraction.length - Number(exponent);
  if (Math.abs(scale) > 100) return undefined;
  const digits = BigInt(`${sign}${whole}${fraction}`);
  return scale >= 0 ? { digits, scale } : { digits: digits * 10n ** BigInt(-scale), scale: 0 };
}

export function decimalText({ digits, scale }: Decimal): string {
  const negative = digits < 0n;
  const text = (negative ? -digits : digits).toString().padStart(scale + 1, '0');
  const cut = text.length - scale;
  const shown = scale === 0 ? text : `${text.slice(0, cut)}.${text.slice(cut)}`;
  return negative ? `-${shown}` : shown;
}

export function decimalValue(decimal: Decimal): Value {
  return { decimal: decimalText(decimal) };
}

/** The same number with more digits after the point, or with fewer when only zeros fall off. */
export function rescale({ digits, scale }: Decimal, to: number): Decimal | undefined {
  if (to >= scale) return { digits: digits * 10n ** BigInt(to - scale), scale: to };
  const factor = 10n ** BigInt(scale - to);
  return digits % factor === 0n ? { digits: digits / factor, scale: to } : undefined;
}

export function compareDecimals(a: Decimal, b: Decimal): number {
  const scale = Math.max(a.scale, b.scale);
  const left = a.digits * 10n ** BigInt(scale - a.scale);
  const right = b.digits * 10n ** BigInt(scale - b.scale);
  return left < right ? -1 : left > right ? 1 : 0;
}

export function addDecimals(a: Decimal, b: Decimal, sign: 1n | -1n): Decimal {
  const scale = Math.max(a.scale, b.scale);
  const left = a.digits * 10n ** BigInt(scale - a.scale);
  return { digits: left + sign * b.digits * 10n ** BigInt(scale - b.scale), scale };
}

export function multiplyDecimals(a: Decimal, b: Decimal): Decimal {
  return { digits: a.digits * b.digits, scale: a.scale + b.scale };
}

/** The nearest double, as every engine converts. */
export function toDouble(value: Value): number | undefined {
  if (typeof value === 'number') return value;
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (typeof value !== 'object' || value === null) return undefined;
  if ('int' in value) return Number(value.int);
  return 'decimal' in value ? Number(value.decimal) : undefined;
}

/** A number that tells equal numbers of any representation: `1`, `1.0` and `1.00` alike. */
export function numericKey(value: Value): string | undefined {
  const exact = toDecimal(value);
  if (exact === undefined) return typeof value === 'number' ? `n${value}` : undefined;
  const text = decimalText(exact);
  return `n${text.includes('.') ? text.replace(/\.?0+$/, '').replace(/^-0$/, '0') : text}`;
}

/**
 * PostgreSQL's numeric division: at least 16 significant digits, counted in groups of four decimal digits as the
 * server stores them, rounded half away from zero.
 */
export function divideAsPostgres(a: Decimal, b: Decimal): Decimal {
  const [weightA, firstA] = leadingGroup(a);
  const [weightB, firstB] = leadingGroup(b);
  const weight = weightA - weightB - (firstA <= firstB ? 1 : 0);
  const scale = Math.min(Math.max(16 - weight * 4, a.scale, b.scale, 0), 1000);
  return { digits: divideRounding(a, b, scale), scale };
}

/** `a / b` with a number of digits after the point, rounded half away from zero. */
export function divideRounding(a: Decimal, b: Decimal, scale: number): bigint {
  const numerator = a.digits * 10n ** BigInt(scale + b.scale);
  const denominator = b.digits * 10n ** BigInt(a.scale);
  const negative = numerator < 0n !== denominator < 0n;
  const n = numerator < 0n ? -numerator : numerator;
  const d = denominator < 0n ? -denominator : denominator;
  const quotient = (n * 2n + d) / (d * 2n);
  return negative ? -quotient : quotient;
}

/** Position and value of the first non-zero group of four digits; zero counts as group 0 of weight 0. */
function leadingGroup({ digits, scale }: Decimal): [weight: number, group: number] {
  const n = digits < 0n ? -digits : digits;
  if (n === 0n) return [0, 0];
  const padding = (4 - (scale % 4)) % 4;
  const text = (n * 10n ** BigInt(padding)).toString();
  const groups = Math.ceil(text.length / 4);
  const first = Number(text.slice(0, text.length - (groups - 1) * 4));
  return [groups - 1 - (scale + padding) / 4, first];
}
