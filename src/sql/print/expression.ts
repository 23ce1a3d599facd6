/**
 * Expressions as SQL, with the fewest parentheses on which all four grammars agree.
 *
 * The dialects differ in how comparisons, IS, LIKE, NOT, bit operators and `||` nest in each other, so only what is the
 * same everywhere is left bare: `*` in `+` in comparisons in NOT in AND in OR, and chains to the left. A tree printed
 * here reads back as the same tree.
 */
import type { BinaryOperator, CallExpression, Expression, OrderItem, WindowSpec } from '../ast.js';
import type { Dialect } from '../dialect.js';
import { printName } from '../words.js';
import { printLiteral } from './literal.js';
import { printQuery } from './query.js';

/** How tightly a printed expression holds together. */
const tight = {
  or: 1,
  xor: 2,
  and: 3,
  not: 4,
  predicate: 5,
  other: 6,
  add: 7,
  multiply: 8,
  prefix: 9,
  atom: 10,
} as const;

export function printExpression(expression: Expression, dialect: Dialect): string {
  return print(expression, dialect, 0);
}

export function printExpressions(expressions: readonly Expression[], dialect: Dialect): string {
  return expressions.map((expression) => print(expression, dialect, 0)).join(', ');
}

/** The text, in parentheses if it holds together less than asked. */
function print(expression: Expression, dialect: Dialect, atLeast: number): string {
  const text = printBare(expression, dialect);
  return tightness(expression) < atLeast ? `(${text})` : text;
}

const binaryTightness: Partial<Record<BinaryOperator, number>> = {
  OR: tight.or,
  XOR: tight.xor,
  AND: tight.and,
  '=': tight.predicate,
  '<>': tight.predicate,
  '<': tight.predicate,
  '<=': tight.predicate,
  '>': tight.predicate,
  '>=': tight.predicate,
  'IS DISTINCT FROM': tight.predicate,
  'IS NOT DISTINCT FROM': tight.predicate,
  '+': tight.add,
  '-': tight.add,
  '*': tight.multiply,
  '/': tight.multiply,
  '%': tight.multiply,
  DIV: tight.multiply,
};

function tightness(expression: Expression): number {
  switch (expression.type) {
    case 'binary':
      return binaryTightness[expression.op] ?? tight.other;
    case 'unary':
      return expression.op === 'NOT' ? tight.not : tight.prefix;
    case 'between':
    case 'in-list':
    case 'in-query':
    case 'like':
    case 'is':
    case 'quantified':
      return tight.predicate;
    case 'collate':
    case 'interval':
      return tight.prefix;
    case 'literal':
      return isNegative(expression.value) ? tight.prefix : tight.atom;
    case 'float':
      return expression.text.startsWith('-') ? tight.prefix : tight.atom;
    default:
      return tight.atom;
  }
}

function isNegative(value: unknown): boolean {
  if (typeof value === 'number') return value < 0;
  const digits = (value as { int?: string; decimal?: string } | null) ?? {};
  return typeof value === 'object' && (digits.int ?? digits.decimal ?? '').startsWith('-');
}

function printBare(e: Expression, dialect: Dialect): string {
  const side = (operand: Expression) => print(operand, dialect, tight.other);
  const not = 'negated' in e && e.negated ? 'NOT ' : '';
  switch (e.type) {
    case 'literal':
      return printLiteral(e.value, dialect);
    case 'float':
    case 'parameter':
      return e.text;
    case 'column':
      return [e.schema, e.table, e.name]
        .filter((part) => part !== undefined)
        .map((part) => printName(part, dialect))
        .join('.');
    case 'raw':
      return e.sql;
    case 'default':
      return 'DEFAULT';
    case 'unary':
      return printUnary(e.op, e.operand, dialect);
    case 'binary':
      return printBinary(e.op, e.left, e.right, dialect);
    case 'between':
      return `${side(e.operand)} ${not}BETWEEN ${side(e.low)} AND ${side(e.high)}`;
    case 'in-list':
      return `${side(e.operand)} ${not}IN (${printExpressions(e.list, dialect)})`;
    case 'in-query':
      return `${side(e.operand)} ${not}IN (${printQuery(e.query, dialect)})`;
    case 'like': {
      const escaped = e.escape === undefined ? '' : ` ESCAPE ${print(e.escape, dialect, tight.atom)}`;
      return `${side(e.operand)} ${not}${e.op} ${print(e.pattern, dialect, tight.atom)}${escaped}`;
    }
    case 'is':
      return `${side(e.operand)} IS ${not}${e.test}`;
    case 'case': {
      const operand = e.operand === undefined ? '' : ` ${print(e.operand, dialect, 0)}`;
      const branches = e.branches.map(
        ({ when, result }) => ` WHEN ${print(when, dialect, 0)} THEN ${print(result, dialect, 0)}`,
      );
      const otherwise = e.otherwise === undefined ? '' : ` ELSE ${print(e.otherwise, dialect, 0)}`;
      return `CASE${operand}${branches.join('')}${otherwise} END`;
    }
    case 'cast':
      return `${e.attempt === true ? 'TRY_CAST' : 'CAST'}(${print(e.operand, dialect, 0)} AS ${e.to})`;
    case 'call':
      return printCall(e, dialect);
    case 'exists':
      return `EXISTS (${printQuery(e.query, dialect)})`;
    case 'subquery':
      return `(${printQuery(e.query, dialect)})`;
    case 'quantified':
      return `${side(e.operand)} ${e.op} ${e.quantifier} (${printQuery(e.query, dialect)})`;
    case 'row':
      return `${e.items.length === 1 ? 'ROW' : ''}(${printExpressions(e.items, dialect)})`;
    case 'collate':
      return `${print(e.operand, dialect, tight.atom)} COLLATE ${printName(e.collation, dialect)}`;
    case 'interval': {
      const unit = e.unit === undefined ? '' : ` ${e.unit}`;
      return `INTERVAL ${print(e.amount, dialect, tight.atom)}${unit}`;
    }
    default:
      return e satisfies never;
  }
}

function printUnary(op: string, operand: Expression, dialect: Dialect): string {
  if (op === 'NOT') return `NOT ${print(operand, dialect, tight.predicate)}`;
  // A bare number behind a minus would read back as a negative constant.
  const number =
    operand.type === 'float' ||
    (operand.type === 'literal' && /^\d/.test(printLiteral(operand.value, dialect)));
  return number ? `${op}(${print(operand, dialect, 0)})` : `${op}${print(operand, dialect, tight.atom)}`;
}

function printBinary(op: BinaryOperator, left: Expression, right: Expression, dialect: Dialect): string {
  const own = binaryTightness[op] ?? tight.other;
  if (own === tight.predicate) return printComparison(op, left, right, dialect);
  if (own === tight.other) {
    const chained = op === '||' && left.type === 'binary' && left.op === '||';
    const first = print(left, dialect, chained ? tight.other : tight.atom);
    return `${first} ${spelling(op, dialect)} ${print(right, dialect, tight.atom)}`;
  }
  const chains = op !== 'XOR' || (left.type === 'binary' && left.op === 'XOR');
  const leftLeast = chains ? own : tight.not;
  return `${print(left, dialect, leftLeast)} ${spelling(op, dialect)} ${print(right, dialect, op === 'XOR' ? tight.not : own + 1)}`;
}

function printComparison(op: BinaryOperator, left: Expression, right: Expression, dialect: Dialect): string {
  const a = print(left, dialect, tight.other);
  const b = print(right, dialect, tight.other);
  if (op === 'IS DISTINCT FROM' && dialect === 'mysql') return `NOT (${a} <=> ${b})`;
  return `${a} ${spelling(op, dialect)} ${b}`;
}

function spelling(op: BinaryOperator, dialect: Dialect): string {
  switch (op) {
    case 'IS NOT DISTINCT FROM':
      return dialect === 'mysql' ? '<=>' : op;
    case 'DIV':
      return dialect === 'duckdb' ? '//' : op;
    case 'POWER':
      return '^';
    case '#':
      return dialect === 'mysql' ? '^' : op;
    default:
      return op;
  }
}

export function printCall(call: CallExpression, dialect: Dialect): string {
  const plain = /^[a-z_][a-z0-9_]*$/.test(call.name);
  const own = plain ? call.name.toUpperCase() : printName(call.name, dialect);
  const name = call.schema === undefined ? own : `${printName(call.schema, dialect)}.${own}`;
  if (call.bare === true) return name;
  const distinct = call.distinct === true ? 'DISTINCT ' : '';
  const order = call.orderBy === undefined ? '' : ` ${printOrderBy(call.orderBy, dialect)}`;
  const args = call.star === true ? '*' : distinct + printExpressions(call.args, dialect) + order;
  const filter = call.filter === undefined ? '' : ` FILTER (WHERE ${print(call.filter, dialect, 0)})`;
  return `${name}(${args})${filter}${call.over === undefined ? '' : ` OVER ${printOver(call.over, dialect)}`}`;
}

function printOver(window: WindowSpec, dialect: Dialect): string {
  const onlyBase =
    window.base !== undefined && window.partitionBy.length === 0 && window.orderBy.length === 0;
  return onlyBase && window.frame === undefined
    ? printName(window.base!, dialect)
    : printWindow(window, dialect);
}

export function printWindow(window: WindowSpec, dialect: Dialect): string {
  const parts: string[] = [];
  if (window.base !== undefined) parts.push(printName(window.base, dialect));
  if (window.partitionBy.length > 0)
    parts.push(`PARTITION BY ${printExpressions(window.partitionBy, dialect)}`);
  if (window.orderBy.length > 0) parts.push(printOrderBy(window.orderBy, dialect));
  if (window.frame !== undefined) parts.push(window.frame);
  return `(${parts.join(' ')})`;
}

export function printOrderBy(items: readonly OrderItem[], dialect: Dialect): string {
  const printed = items.map(({ expression, descending, nulls }) => {
    const order = descending ? ' DESC' : '';
    return `${print(expression, dialect, 0)}${order}${nulls === undefined ? '' : ` NULLS ${nulls.toUpperCase()}`}`;
  });
  return `ORDER BY ${printed.join(', ')}`;
}
