/** Operands: constants, columns, calls, CASE, CAST, subqueries, parentheses and prefix operators. */
import type { CaseBranch, Expression } from '../ast.js';
import { foldName } from '../names.js';
import { isNameWord, notFunctions } from '../words.js';
import { parseCall } from './call.js';
import type { Cursor } from './cursor.js';
import { makeCast, numberLiteral, stringLiteral, temporalValue } from './literal.js';
import { attemptQuery, nestedExpression, parseExpressions } from './nested.js';
import { operatorsOf } from './operators.js';
import { parseTypeName } from './type-name.js';

export function parseOperand(c: Cursor): Expression {
  switch (c.kind()) {
    case 'number':
      return parseNumber(c, false);
    case 'string':
      return stringLiteral(c);
    case 'quoted':
      return parseNamed(c);
    case 'word':
      return parseWord(c);
    case 'symbol':
      return parseSymbol(c);
    default:
      return c.fail('an expression');
  }
}

function parseNumber(c: Cursor, negative: boolean): Expression {
  const literal = numberLiteral(c.text(), negative, c.dialect);
  if (literal === undefined) return c.fail('a number');
  // `1_000` is a thousand, a name, or one with an alias.
  if (c.touches() && c.kind(1) === 'word') return c.fail('a number that ends');
  c.advance();
  return literal;
}

function parseSymbol(c: Cursor): Expression {
  const { unary } = operatorsOf(c.dialect);
  switch (c.key()) {
    case '(':
      return parseParenthesized(c);
    case '-':
      c.advance();
      // `-5::int` is the negation of a cast, and hexadecimal digits have no negative form: neither is a constant.
      if (c.kind() === 'number' && c.key(1) !== '::' && !/^0[xX]/.test(c.text())) return parseNumber(c, true);
      return { type: 'unary', op: '-', operand: nestedExpression(c, unary) };
    case '+':
      c.advance();
      return { type: 'unary', op: '+', operand: nestedExpression(c, unary) };
    case '~':
      c.advance();
      return { type: 'unary', op: '~', operand: nestedExpression(c, unary) };
    case '!':
      if (c.dialect !== 'mysql') break;
      c.advance();
      return { type: 'unary', op: 'NOT', operand: nestedExpression(c, unary) };
    case '?':
      return { type: 'parameter', text: c.advance() };
    case '$':
    case ':':
    case '@':
    case '@@':
      return parseParameter(c);
    case '[':
    case '{':
      return parseBracketed(c);
  }
  return c.fail('an expression');
}

function parseParameter(c: Cursor): Expression {
  if (!c.touches()) c.fail('a parameter');
  const from = c.position;
  c.advance();
  c.advance();
  while (c.key() === '.' && c.kind(1) === 'word') {
    c.advance();
    c.advance();
  }
  return { type: 'parameter', text: c.textSince(from) };
}

/** Lists and structures are kept as text. */
function parseBracketed(c: Cursor, from = c.position): Expression {
  const close = c.key() === '[' ? ']' : '}';
  c.advance();
  c.textUntil(close);
  c.expect(close);
  return { type: 'raw', sql: c.textSince(from) };
}

function parseParenthesized(c: Cursor): Expression {
  c.expect('(');
  const query = attemptQuery(c);
  if (query !== undefined) {
    c.expect(')');
    return { type: 'subquery', query };
  }
  const items = parseExpressions(c);
  c.expect(')');
  return items.length === 1 ? items[0]! : { type: 'row', items };
}

const bareFunctions = new Set(
  'CURRENT_DATE CURRENT_TIME CURRENT_TIMESTAMP CURRENT_USER CURRENT_ROLE CURRENT_SCHEMA CURRENT_CATALOG LOCALTIME LOCALTIMESTAMP SESSION_USER UTC_DATE UTC_TIME UTC_TIMESTAMP'.split(
    ' ',
  ),
);

function parseWord(c: Cursor): Expression {
  const key = c.key();
  const opens = c.key(1) === '(';
  switch (key) {
    case 'NULL':
      c.advance();
      return { type: 'literal', value: null };
    case 'TRUE':
    case 'FALSE':
      c.advance();
      return { type: 'literal', value: key === 'TRUE' };
    case 'NOT':
      c.advance();
      return { type: 'unary', op: 'NOT', operand: nestedExpression(c, operatorsOf(c.dialect).not) };
    case 'CASE':
      return parseCase(c);
    case 'DEFAULT':
      if (opens) break;
      c.advance();
      return { type: 'default' };
    case 'EXISTS':
      if (!opens) break;
      c.advance();
      return { type: 'exists', query: c.parenthesized(() => c.grammar.query(c)) };
    case 'CAST':
    case 'TRY_CAST':
      if (opens) return parseCast(c);
      break;
    case 'ROW':
      if (!opens) break;
      c.advance();
      return { type: 'row', items: c.parenthesized(() => parseExpressions(c)) };
    case 'BINARY':
      if (c.dialect !== 'mysql' || opens) break;
      c.advance();
      return { type: 'cast', operand: nestedExpression(c, operatorsOf(c.dialect).unary), to: 'BINARY' };
    case 'INTERVAL':
      // MySQL has both `INTERVAL (a) DAY` and the function `INTERVAL(a, b)`.
      if (!opens || c.dialect !== 'mysql') return parseInterval(c) ?? parseNamed(c);
      return c.attempt(() => parseInterval(c)) ?? parseNamed(c);
    case 'ARRAY':
      if (c.key(1) === '[') {
        const from = c.position;
        c.advance();
        return parseBracketed(c, from);
      }
      break;
  }
  if (c.kind(1) === 'string') {
    const typed = parseTypedString(c);
    if (typed !== undefined) return typed;
  }
  if (bareFunctions.has(key) && !opens) {
    c.advance();
    return { type: 'call', name: key.toLowerCase(), args: [], bare: true };
  }
  return parseNamed(c);
}

/** `X'ab'`, `DATE '2024-02-29'` and other constants that a word introduces. */
function parseTypedString(c: Cursor): Expression | undefined {
  const key = c.key();
  const inner = c.text(1).slice(1, -1);
  if (key === 'X' && c.touches() && (c.dialect === 'mysql' || c.dialect === 'sqlite')) {
    if (!/^([0-9a-fA-F]{2})*$/.test(inner)) return c.fail('hexadecimal digits');
    c.advance();
    c.advance();
    return { type: 'literal', value: { bytes: inner.toLowerCase() } };
  }
  if (c.touches() && (/^[XBN]$/.test(key) || key.startsWith('_'))) {
    const from = c.position;
    c.advance();
    c.advance();
    return { type: 'raw', sql: c.textSince(from) };
  }
  if (c.dialect === 'sqlite' || !/^(DATE|TIME|TIMESTAMP|TIMESTAMPTZ|JSON|UUID)$/.test(key)) return undefined;
  const to = parseTypeName(c);
  const operand = stringLiteral(c);
  const text = operand.type === 'literal' && typeof operand.value === 'string' ? operand.value : '';
  const value = temporalValue(text, to);
  return value === undefined ? { type: 'cast', operand, to } : { type: 'literal', value };
}

function parseInterval(c: Cursor): Expression | undefined {
  const next = c.kind(1);
  const starts =
    next === 'string' || next === 'number' || c.key(1) === '(' || c.key(1) === '-' || next === 'word';
  if (!starts || (next === 'word' && c.dialect !== 'mysql')) return undefined;
  c.advance();
  const mysql = c.dialect === 'mysql';
  const amount = mysql && c.key() !== '(' ? nestedExpression(c) : parseOperand(c);
  const unit = /^(MICROSECOND|SECOND|MINUTE|HOUR|DAY|WEEK|MONTH|QUARTER|YEAR)S?(_[A-Z]+)?$/.test(c.key());
  // `INTERVAL(1, 2) day` is that function with an alias.
  if (mysql && (!unit || amount.type === 'row')) c.fail('an amount and a unit');
  return { type: 'interval', amount, ...(unit ? { unit: c.advance().toUpperCase() } : {}) };
}

function parseCast(c: Cursor): Expression {
  const attempt = c.advance().toUpperCase() === 'TRY_CAST';
  c.expect('(');
  const operand = nestedExpression(c);
  c.expect('AS');
  const to = parseTypeName(c);
  c.expect(')');
  return attempt ? { type: 'cast', operand, to, attempt } : makeCast(c, operand, to);
}

function parseCase(c: Cursor): Expression {
  c.expect('CASE');
  const operand = c.key() === 'WHEN' ? {} : { operand: nestedExpression(c) };
  const branches: CaseBranch[] = [];
  while (c.accept('WHEN')) {
    const when = nestedExpression(c);
    c.expect('THEN');
    branches.push({ when, result: nestedExpression(c) });
  }
  if (branches.length === 0) c.fail('WHEN');
  const otherwise = c.accept('ELSE') ? { otherwise: nestedExpression(c) } : {};
  c.expect('END');
  return { type: 'case', ...operand, branches, ...otherwise };
}

/** A column or a call. */
function parseNamed(c: Cursor): Expression {
  const quoted = c.kind() === 'quoted';
  if (c.key(1) === '(' && (quoted || !notFunctions.has(c.key()))) {
    return parseCall(c, undefined, quoted ? c.name() : c.advance().toLowerCase());
  }
  if (!quoted && !isNameWord(c.key(), c.dialect)) return c.fail('an expression');
  const first = c.name();
  if (c.key() !== '.') return { type: 'column', name: first };
  c.advance();
  if (c.kind() === 'word' && c.key(1) === '(') return parseCall(c, first, c.advance().toLowerCase());
  const second = partName(c);
  if (!c.accept('.')) return { type: 'column', table: first, name: second };
  return { type: 'column', schema: first, table: second, name: partName(c) };
}

function partName(c: Cursor): string {
  return c.kind() === 'word' ? foldName(c.advance(), c.dialect) : c.name();
}
