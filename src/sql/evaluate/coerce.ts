/** A value on its way into a column of another type: only conversions that lose nothing and that all engines agree on. */
import type { Dialect } from '../dialect.js';
import { doubleValue, type Value } from '../value.js';
import { decimalValue, rescale, toDecimal, toDouble } from './number.js';
import { isNumeric, type SqlType } from './types.js';
import { type Evaluated, undecidable } from './undecidable.js';

const uncertain = undecidable('a conversion between types');
const tooWide = undecidable('a value its column may not hold');

export function coerce(value: Value, from: SqlType, to: SqlType, dialect: Dialect): Evaluated {
  if (value === null) return null;
  switch (to.family) {
    case 'int':
      return toInteger(value, from, to, dialect);
    case 'decimal': {
      if (!isNumeric(from) || from.family === 'double') return uncertain;
      const exact = toDecimal(value);
      if (exact === undefined) return uncertain;
      if (to.scale === undefined) return decimalValue(exact);
      const scaled = rescale(exact, to.scale);
      if (scaled === undefined) return undecidable('a value that must be rounded');
      const digits = (scaled.digits < 0n ? -scaled.digits : scaled.digits).toString().length;
      return digits > (to.precision ?? 1000) ? tooWide : decimalValue(scaled);
    }
    case 'double': {
      const double = isNumeric(from) ? toDouble(value) : undefined;
      return double === undefined ? uncertain : doubleValue(double);
    }
    case 'text': {
      if (typeof value !== 'string') return uncertain;
      return [...value].length > (to.length ?? Number.POSITIVE_INFINITY) ? tooWide : value;
    }
    case 'bool':
      return typeof value === 'boolean' ? value : uncertain;
    case 'timestamp':
      if (typeof value === 'object' && 'date' in value) return { timestamp: `${value.date} 00:00:00` };
      return from.family === 'timestamp' && !hasFraction(value) ? value : uncertain;
    case 'date':
    case 'bytes':
      return from.family === to.family ? value : uncertain;
    case 'time':
    case 'instant':
      return from.family === to.family && !hasFraction(value) && to.family === 'time' ? value : uncertain;
    case 'null':
    case 'unknown':
      return uncertain;
    default:
      return to.family satisfies never;
  }
}

/** How many digits of a fraction survive is the column's business. */
function hasFraction(value: Value): boolean {
  return typeof value !== 'object' || Object.values(value ?? {}).some((text) => String(text).includes('.'));
}

function toInteger(value: Value, from: SqlType, to: SqlType, dialect: Dialect): Evaluated {
  if (typeof value === 'boolean')
    return dialect === 'mysql' || dialect === 'sqlite' ? Number(value) : uncertain;
  if (!isNumeric(from)) return uncertain;
  // Nearly all integers are small.
  if (typeof value === 'number' && Number.isInteger(value) && Math.abs(value) < 2 ** 31) {
    if ((to.bits ?? 64) >= 32 && (value >= 0 || to.unsigned !== true)) return value;
  }
  const exact = toDecimal(value);
  const whole = exact === undefined ? undefined : rescale(exact, 0);
  if (whole === undefined) return undecidable('a value that must be rounded');
  const bits = BigInt(to.bits ?? 64);
  const [low, high] = to.unsigned === true ? [0n, 1n << bits] : [-(1n << (bits - 1n)), 1n << (bits - 1n)];
  if (whole.digits < low || whole.digits >= high) return tooWide;
  const small = Number(whole.digits);
  return Number.isSafeInteger(small) ? small : { int: whole.digits.toString() };
}
