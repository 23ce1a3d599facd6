/** Values as SQL constants. */
import { type Dialect, quoteText } from '../dialect.js';
import type { Value } from '../value.js';

/** A value as a constant the dialect reads back as that value, as far as the dialect has such a constant. */
export function printLiteral(value: Value, dialect: Dialect): string {
  if (value === null) return 'NULL';
  if (typeof value === 'boolean') return value ? 'TRUE' : 'FALSE';
  if (typeof value === 'number') return printNumber(value);
  if (typeof value === 'string') return quoteText(value, dialect);
  if ('int' in value) return value.int;
  if ('decimal' in value)
    return /^-?[0-9]/.test(value.decimal) ? value.decimal : printSpecial(value.decimal, 'NUMERIC', dialect);
  if ('double' in value) return printSpecial(value.double, 'DOUBLE PRECISION', dialect);
  if ('bytes' in value) return printBytes(value.bytes, dialect);
  if ('date' in value) return printTyped('DATE', value.date, dialect);
  if ('time' in value) return printTyped('TIME', value.time, dialect);
  if ('timestamp' in value) {
    const instant = /:\d\d(\.\d+)?([+-]\d\d(:?\d\d)?|Z)$/.test(value.timestamp);
    return printTyped(instant && dialect !== 'mysql' ? 'TIMESTAMPTZ' : 'TIMESTAMP', value.timestamp, dialect);
  }
  return quoteText(value.other, dialect);
}

/** The exponent makes a fraction a double, not a decimal. */
function printNumber(value: number): string {
  if (Number.isSafeInteger(value)) return String(value);
  const text = String(value);
  return text.includes('e') ? text : `${text}e0`;
}

function printTyped(type: string, text: string, dialect: Dialect): string {
  return dialect === 'sqlite' ? quoteText(text, dialect) : `${type} ${quoteText(text, dialect)}`;
}

function printSpecial(text: string, type: string, dialect: Dialect): string {
  if (dialect === 'sqlite') return text === 'NaN' ? 'NULL' : text === 'Infinity' ? '9e999' : '-9e999';
  if (dialect === 'mysql') return 'NULL';
  return `CAST('${text}' AS ${type})`;
}

function printBytes(hex: string, dialect: Dialect): string {
  if (dialect === 'postgres') return `'\\x${hex}'::BYTEA`;
  if (dialect === 'duckdb') return `'${hex.replaceAll(/../g, '\\x$&')}'::BLOB`;
  return `X'${hex}'`;
}
