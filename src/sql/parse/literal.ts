/** Constants: from a token to the value it stands for, in its dialect. */
import type { Expression } from '../ast.js';
import type { Dialect } from '../dialect.js';
import { integerValue, type Value } from '../value.js';
import type { Cursor } from './cursor.js';
import { unquoteString } from './strings.js';

/** A number token, with the sign that stood before it. */
export function numberLiteral(text: string, negative: boolean, dialect: Dialect): Expression | undefined {
  const sign = negative ? '-' : '';
  if (/^0[xX]/.test(text)) return hexNumber(text.slice(2), negative, dialect);
  if (/[eE]/.test(text)) return { type: 'float', text: sign + text };
  if (!text.includes('.')) {
    const value = text.length < 16 ? Number(text) : integerValue(BigInt(text));
    if (typeof value === 'number')
      return { type: 'literal', value: negative && value !== 0 ? -value : value };
    return { type: 'literal', value: integerValue(BigInt(sign + text)) };
  }
  const [whole, fraction] = text.split('.') as [string, string];
  // `1.` has no digit behind the point, and no spelling of its own that keeps it a decimal.
  if (fraction === '' && dialect !== 'sqlite') return { type: 'raw', sql: sign + text };
  return {
    type: 'literal',
    value: { decimal: `${sign}${whole === '' ? '0' : whole}.${fraction === '' ? '0' : fraction}` },
  };
}

function hexNumber(digits: string, negative: boolean, dialect: Dialect): Expression | undefined {
  // DuckDB reads `0xff` as zero with an alias.
  if (!/^[0-9a-fA-F]+$/.test(digits) || dialect === 'duckdb') return undefined;
  if (dialect !== 'mysql') {
    const value = BigInt(`0x${digits}`);
    return { type: 'literal', value: integerValue(negative ? -value : value) };
  }
  if (negative) return undefined;
  const even = digits.length % 2 === 0 ? digits : `0${digits}`;
  return { type: 'literal', value: { bytes: even.toLowerCase() } };
}

/** The string at the cursor; MySQL joins neighbours. */
export function stringLiteral(c: Cursor): Expression {
  let text = '';
  do {
    const part = unquoteString(c.text(), c.dialect);
    if (part === undefined) return c.fail('a string whose escapes are known');
    text += part;
    c.advance();
  } while (c.kind() === 'string' && c.dialect === 'mysql');
  return { type: 'literal', value: text };
}

const date = /^\d{4}-\d\d-\d\d$/;
const time = /^\d\d:\d\d:\d\d(\.\d{1,6})?$/;
const timestamp = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d{1,6})?$/;
const instant = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d{1,6})?[+-]\d\d(:\d\d)?$/;

/** What a text is as a value of a date or time type, when it is written exactly in the form we keep. */
export function temporalValue(text: string, type: string): Value | undefined {
  if (type === 'DATE') return date.test(text) ? { date: text } : undefined;
  if (type === 'TIME') return time.test(text) ? { time: text } : undefined;
  if (type === 'TIMESTAMP' || type === 'DATETIME')
    return timestamp.test(text) ? { timestamp: text } : undefined;
  return type === 'TIMESTAMPTZ' && instant.test(text) ? { timestamp: text } : undefined;
}

/** `'\xab'::bytea` and its DuckDB cousin are how binary constants are written. */
export function binaryValue(text: string, type: string, dialect: Dialect): Value | undefined {
  if (dialect === 'postgres' && type === 'BYTEA' && /^\\x([0-9a-fA-F]{2})*$/.test(text)) {
    return { bytes: text.slice(2).toLowerCase() };
  }
  if (dialect === 'duckdb' && type === 'BLOB' && /^(\\x[0-9a-fA-F]{2})*$/.test(text)) {
    return { bytes: text.replaceAll('\\x', '').toLowerCase() };
  }
  return undefined;
}

export function makeCast(c: Cursor, operand: Expression, to: string): Expression {
  if (operand.type === 'literal' && typeof operand.value === 'string') {
    const value = binaryValue(operand.value, to, c.dialect);
    if (value !== undefined) return { type: 'literal', value };
  }
  return { type: 'cast', operand, to };
}
