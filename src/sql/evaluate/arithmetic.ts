/**
 * Arithmetic as each dialect does it: which type the result has, when integers overflow, what `/` means.
 *
 * Integer division truncates in PostgreSQL and SQLite, gives a double in DuckDB and a decimal with four more digits in
 * MySQL. Division by zero is NULL in SQLite; elsewhere it depends on settings or is an error, so it is undecidable.
 */
import type { BinaryOperator } from '../ast.js';
import type { Dialect } from '../dialect.js';
import { doubleValue, integerValue, type Value } from '../value.js';
import {
  addDecimals,
  decimalValue,
  divideAsPostgres,
  multiplyDecimals,
  rescale,
  toDecimal,
  toDouble,
} from './number.js';
import { isNumeric, type SqlType, types } from './types.js';
import { type Evaluated, type Undecidable, undecidable } from './undecidable.js';

export interface Operation {
  readonly type: SqlType;
  /** On two values that are not NULL. */
  readonly apply: (a: Value, b: Value) => Evaluated;
}

const notANumber = undecidable('arithmetic on values that are not numbers');
const overflow = undecidable('the result may overflow its type');
const byZero = undecidable('division by zero');
const imprecise = undecidable('a quotient that is not exact');

/** An arithmetic operator on two static types. */
export function arithmetic(op: BinaryOperator, a: SqlType, b: SqlType, dialect: Dialect): Operation {
  if (!isNumeric(a) || !isNumeric(b)) return { type: types.unknown, apply: () => notANumber };
  if (op === '/') return division(a, b, dialect);
  if (a.family === 'double' || b.family === 'double') return doubles(op, dialect);
  if (a.family === 'decimal' || b.family === 'decimal') return decimals(op, a, b);
  return integers(op, a, b, dialect);
}

function integers(op: BinaryOperator, a: SqlType, b: SqlType, dialect: Dialect): Operation {
  const wide = dialect === 'mysql' || dialect === 'sqlite';
  const bits = wide ? 64 : Math.max(a.bits ?? 32, b.bits ?? 32);
  const limit = bits >= 54 ? Number.MAX_SAFE_INTEGER : 2 ** (bits - 1) - 1;
  const unsigned = a.unsigned === true || b.unsigned === true;
  const check = (result: number): Evaluated => {
    if (unsigned && result < 0) return overflow;
    return result <= limit && result >= -limit ? (result === 0 ? 0 : result) : overflow;
  };
  const small = smallIntegers(op, dialect);
  const apply = (x: Value, y: Value): Evaluated => {
    if (typeof x === 'boolean' || typeof y === 'boolean')
      return wide ? apply(Number(x), Number(y)) : notANumber;
    if (typeof x === 'number' && typeof y === 'number') {
      if (!Number.isInteger(x) || !Number.isInteger(y)) return notANumber;
      const result = small(x, y);
      if (typeof result !== 'number') return result;
      if (Number.isSafeInteger(result)) return check(result);
    }
    return bits === 64 && !unsigned ? bigIntegers(op, x, y) : overflow;
  };
  return { type: { family: 'int', bits, ...(unsigned ? { unsigned: true as const } : {}) }, apply };
}

function smallIntegers(
  op: BinaryOperator,
  dialect: Dialect,
): (a: number, b: number) => number | null | Undecidable {
  switch (op) {
    case '+':
      return (a, b) => a + b;
    case '-':
      return (a, b) => a - b;
    case '*':
      return (a, b) => a * b;
    case '%':
      return (a, b) => (b === 0 ? (dialect === 'sqlite' ? null : byZero) : a % b);
    case 'DIV':
      // DuckDB rounds down, MySQL towards zero: they agree where no sign is involved.
      return (a, b) => (b === 0 ? byZero : a % b === 0 || a < 0 === b < 0 ? Math.trunc(a / b) : imprecise);
    default:
      return () => undecidable(`the operator ${op}`);
  }
}

function bigIntegers(op: BinaryOperator, x: Value, y: Value): Evaluated {
  const a = toDecimal(x);
  const b = toDecimal(y);
  if (a === undefined || b === undefined || a.scale !== 0 || b.scale !== 0) return notANumber;
  const results: Partial<Record<BinaryOperator, bigint>> = {
    '+': a.digits + b.digits,
    '-': a.digits - b.digits,
    '*': a.digits * b.digits,
  };
  const result = results[op];
  if (result === undefined) return undecidable(`the operator ${op} on large integers`);
  return BigInt.asIntN(64, result) === result ? integerValue(result) : overflow;
}

function decimals(op: BinaryOperator, a: SqlType, b: SqlType): Operation {
  const known = (type: SqlType) => (type.family === 'int' ? 0 : type.scale);
  const [left, right] = [known(a), known(b)];
  const scale =
    left === undefined || right === undefined ? undefined : op === '*' ? left + right : Math.max(left, right);
  return {
    type: { family: 'decimal', ...(scale === undefined ? {} : { scale }) },
    apply: (x, y) => {
      const first = toDecimal(x);
      const second = toDecimal(y);
      if (first === undefined || second === undefined) return notANumber;
      if (op !== '+' && op !== '-' && op !== '*') return undecidable(`the operator ${op} on decimals`);
      const result =
        op === '*' ? multiplyDecimals(first, second) : addDecimals(first, second, op === '+' ? 1n : -1n);
      const digits = result.digits < 0n ? -result.digits : result.digits;
      return digits < 10n ** 17n && result.scale < 20 ? decimalValue(result) : overflow;
    },
  };
}

function doubles(op: BinaryOperator, dialect: Dialect): Operation {
  return {
    type: types.double,
    apply: (x, y) => {
      const a = toDouble(x);
      const b = toDouble(y);
      if (a === undefined || b === undefined) return notANumber;
      if (op === '+') return finite(a + b);
      if (op === '-') return finite(a - b);
      if (op === '*') return finite(a * b);
      if (op === '/') return b === 0 ? (dialect === 'sqlite' ? null : byZero) : finite(a / b);
      return undecidable(`the operator ${op} on doubles`);
    },
  };
}

function finite(result: number): Evaluated {
  return Number.isFinite(result) ? doubleValue(result) : overflow;
}

function division(a: SqlType, b: SqlType, dialect: Dialect): Operation {
  if (a.family === 'double' || b.family === 'double') return doubles('/', dialect);
  if (dialect === 'duckdb')
    return a.family === 'int' && b.family === 'int' ? doubles('/', dialect) : unsure(types.double);
  if (dialect === 'mysql') return mysqlDivision(a);
  if (a.family === 'int' && b.family === 'int') {
    const bits = Math.max(a.bits ?? 64, b.bits ?? 64);
    const apply = (x: Value, y: Value): Evaluated => {
      if (typeof x !== 'number' || typeof y !== 'number') return overflow;
      if (!Number.isInteger(x) || !Number.isInteger(y)) return notANumber;
      if (y === 0) return dialect === 'sqlite' ? null : byZero;
      return Math.trunc(x / y) || 0;
    };
    return { type: { family: 'int', bits }, apply };
  }
  const apply = (x: Value, y: Value): Evaluated => {
    const first = toDecimal(x);
    const second = toDecimal(y);
    if (first === undefined || second === undefined) return notANumber;
    return second.digits === 0n ? byZero : decimalValue(divideAsPostgres(first, second));
  };
  return { type: { family: 'decimal' }, apply };
}

function unsure(type: SqlType): Operation {
  return { type, apply: () => imprecise };
}

/** MySQL keeps four digits more than the dividend has; only quotients that end there are certain. */
function mysqlDivision(a: SqlType): Operation {
  const scale = (a.family === 'decimal' ? (a.scale ?? 0) : 0) + 4;
  return {
    type: { family: 'decimal', scale },
    apply: (x, y) => {
      const first = toDecimal(x);
      const second = toDecimal(y);
      if (first === undefined || second === undefined) return notANumber;
      if (second.digits === 0n) return byZero;
      const numerator = first.digits * 10n ** BigInt(scale + second.scale);
      const denominator = second.digits * 10n ** BigInt(first.scale);
      return numerator % denominator === 0n
        ? decimalValue({ digits: numerator / denominator, scale })
        : imprecise;
    },
  };
}

/** Unary minus. */
export function negate(type: SqlType): Operation['apply'] {
  return (value) => {
    if (type.family === 'double') return typeof value === 'number' ? doubleValue(-value) : notANumber;
    if (typeof value === 'number') {
      const limit = 2 ** Math.min((type.bits ?? 32) - 1, 53) - 1;
      if (type.unsigned === true || value < -limit) return overflow;
      return Number.isInteger(value) ? (value === 0 ? 0 : -value) : notANumber;
    }
    const exact = toDecimal(value);
    if (exact === undefined || typeof value === 'boolean' || exact.scale === 0) return notANumber;
    return decimalValue({ digits: -exact.digits, scale: exact.scale });
  };
}

/** A common type for values that stand in one column, and how each gets there; `undefined` when it is not certain. */
export function unifyTypes(all: readonly SqlType[], dialect: Dialect): SqlType | undefined {
  const known = all.filter(({ family }) => family !== 'null');
  const [first] = known;
  if (first === undefined) return types.null;
  if (known.every(isNumeric)) {
    if (known.some(({ family }) => family === 'double')) {
      // SQLite has no column types in results: each value keeps its own.
      if (dialect !== 'sqlite') return types.double;
      return known.every(({ family }) => family === 'double') ? types.double : types.unknown;
    }
    if (known.every(({ family }) => family === 'int')) {
      return { family: 'int', bits: Math.max(...known.map(({ bits }) => bits ?? 64)) };
    }
    const scales = known.map((type) => (type.family === 'int' ? 0 : type.scale));
    if (dialect === 'postgres' || scales.includes(undefined)) return { family: 'decimal' };
    return { family: 'decimal', scale: Math.max(...(scales as number[])) };
  }
  return known.every(({ family }) => family === first.family) && first.family !== 'unknown'
    ? first
    : undefined;
}

/** A value as one of the unified type. */
export function convertTo(type: SqlType, dialect: Dialect): (value: Evaluated) => Evaluated {
  if (type.family === 'double') {
    return (value) => {
      if (value === null || typeof value === 'number') return value;
      if (typeof value === 'object' && 'undecidable' in value) return value;
      const double = toDouble(value as Value);
      return double === undefined ? notANumber : doubleValue(double);
    };
  }
  if (type.family !== 'decimal') return (value) => value;
  return (value) => {
    if (value === null || (typeof value === 'object' && 'undecidable' in value)) return value;
    const exact = toDecimal(value as Value);
    if (exact === undefined) return notANumber;
    if (type.scale === undefined)
      return dialect === 'postgres' ? decimalValue(exact) : undecidable('a scale that is not known');
    const scaled = rescale(exact, type.scale);
    return scaled === undefined ? imprecise : decimalValue(scaled);
  };
}

export function isArithmetic(op: string): boolean {
  return op === '+' || op === '-' || op === '*' || op === '/' || op === '%' || op === 'DIV';
}
