/**
 * Expressions as SQL, with the fewest parentheses on which all four grammars agree.
 *
 * The dialects differ in how comparisons, IS, LIKE, NOT, bit operators and `||` nest in each other, so only what is the
 * same everywhere is left bare: `*` in `+` in comparisons in NOT in AND in OR, and chains to the left. A tree printed
 * here reads back as the same tree.
 */
import type { BinaryOperator, CallExpression, Expression, OrderItem, WindowSpec } from '../ast.js';
import { printName } from '../words.js';
import { printLiteral } from './literal.js';
import type { Printer } from './printer.js';

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

export function printExpression(expression: Expression, p: Printer): string {
  return print(expression, p, 0);
}

export function printExpressions(expressions: readonly Expression[], p: Printer): string {
  return expressions.map((expression) => print(expression, p, 0)).join(', ');
}

/** The text, in parentheses if it holds together less than asked. */
function print(expression: Expression, p: Printer, atLeast: number): string {
  const text = printBare(expression, p);
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

function printBare(e: Expression, p: Printer): string {
  const side = (operand: Expression) => print(operand, p, tight.other);
  const not = 'negated' in e && e.negated ? 'NOT ' : '';
  switch (e.type) {
    case 'literal':
      return printLiteral(e.value, p.dialect);
    case 'float':
    case 'parameter':
      return e.text;
    case 'column':
      return [e.schema, e.table, e.name]
        .filter((part) => part !== undefined)
        .map((part) => printName(part, p.dialect))
        .join('.');
    case 'raw':
      return e.sql;
    case 'default':
      return 'DEFAULT';
    case 'unary':
      return printUnary(e.op, e.operand, p);
    case 'binary':
      return printBinary(e.op, e.left, e.right, p);
    case 'between':
      return `${side(e.operand)} ${not}BETWEEN ${side(e.low)} AND ${side(e.high)}`;
    case 'in-list':
      return `${side(e.operand)} ${not}IN (${printExpressions(e.list, p)})`;
    case 'in-query':
      return `${side(e.operand)} ${not}IN (${p.query(e.query)})`;
    case 'like': {
      const escaped = e.escape === undefined ? '' : ` ESCAPE ${print(e.escape, p, tight.atom)}`;
      return `${side(e.operand)} ${not}${e.op} ${print(e.pattern, p, tight.atom)}${escaped}`;
    }
    case 'is':
      return `${side(e.operand)} IS ${not}${e.test}`;
    case 'case': {
      const operand = e.operand === undefined ? '' : ` ${print(e.operand, p, 0)}`;
      const branches = e.branches.map(
        ({ when, result }) => ` WHEN ${print(when, p, 0)} THEN ${print(result, p, 0)}`,
      );
      const otherwise = e.otherwise === undefined ? '' : ` ELSE ${print(e.otherwise, p, 0)}`;
      return `CASE${operand}${branches.join('')}${otherwise} END`;
    }
    case 'cast':
      return `${e.attempt === true ? 'TRY_CAST' : 'CAST'}(${print(e.operand, p, 0)} AS ${e.to})`;
    case 'call':
      return printCall(e, p);
    case 'exists':
      return `EXISTS (${p.query(e.query)})`;
    case 'subquery':
      return `(${p.query(e.query)})`;
    case 'quantified':
      return `${side(e.operand)} ${e.op} ${e.quantifier} (${p.query(e.query)})`;
    case 'row':
      return `${e.items.length === 1 ? 'ROW' : ''}(${printExpressions(e.items, p)})`;
    case 'collate':
      return `${print(e.operand, p, tight.atom)} COLLATE ${printName(e.collation, p.dialect)}`;
    case 'interval': {
      const unit = e.unit === undefined ? '' : ` ${e.unit}`;
      return `INTERVAL ${print(e.amount, p, tight.atom)}${unit}`;
    }
    default:
      return e satisfies never;
  }
}

function printUnary(op: string, operand: Expression, p: Printer): string {
  if (op === 'NOT') return `NOT ${print(operand, p, tight.predicate)}`;
  // A bare number behind a minus would read back as a negative constant.
  const number =
    operand.type === 'float' ||
    (operand.type === 'literal' && /^\d/.test(printLiteral(operand.value, p.dialect)));
  return number ? `${op}(${print(operand, p, 0)})` : `${op}${print(operand, p, tight.atom)}`;
}

function printBinary(op: BinaryOperator, left: Expression, right: Expression, p: Printer): string {
  const own = binaryTightness[op] ?? tight.other;
  if (own === tight.predicate) return printComparison(op, left, right, p);
  if (own === tight.other) {
    const chained = op === '||' && left.type === 'binary' && left.op === '||';
    const first = print(left, p, chained ? tight.other : tight.atom);
    return `${first} ${spelling(op, p)} ${print(right, p, tight.atom)}`;
  }
  const chains = op !== 'XOR' || (left.type === 'binary' && left.op === 'XOR');
  const leftLeast = chains ? own : tight.not;
  return `${print(left, p, leftLeast)} ${spelling(op, p)} ${print(right, p, op === 'XOR' ? tight.not : own + 1)}`;
}

function printComparison(op: BinaryOperator, left: Expression, right: Expression, p: Printer): string {
  const a = print(left, p, tight.other);
  const b = print(right, p, tight.other);
  if (op === 'IS DISTINCT FROM' && p.dialect === 'mysql') return `NOT (${a} <=> ${b})`;
  return `${a} ${spelling(op, p)} ${b}`;
}

function spelling(op: BinaryOperator, p: Printer): string {
  switch (op) {
    case 'IS NOT DISTINCT FROM':
      return p.dialect === 'mysql' ? '<=>' : op;
    case 'DIV':
      return p.dialect === 'duckdb' ? '//' : op;
    case 'POWER':
      return '^';
    case '#':
      return p.dialect === 'mysql' ? '^' : op;
    default:
      return op;
  }
}

export function printCall(call: CallExpression, p: Printer): string {
  const plain = /^[a-z_][a-z0-9_]*$/.test(call.name);
  const own = plain ? call.name.toUpperCase() : printName(call.name, p.dialect);
  const name = call.schema === undefined ? own : `${printName(call.schema, p.dialect)}.${own}`;
  if (call.bare === true) return name;
  const distinct = call.distinct === true ? 'DISTINCT ' : '';
  const order = call.orderBy === undefined ? '' : ` ${printOrderBy(call.orderBy, p)}`;
  const args = call.star === true ? '*' : distinct + printExpressions(call.args, p) + order;
  const filter = call.filter === undefined ? '' : ` FILTER (WHERE ${print(call.filter, p, 0)})`;
  return `${name}(${args})${filter}${call.over === undefined ? '' : ` OVER ${printOver(call.over, p)}`}`;
}

function printOver(window: WindowSpec, p: Printer): string {
  const onlyBase =
    window.base !== undefined && window.partitionBy.length === 0 && window.orderBy.length === 0;
  return onlyBase && window.frame === undefined ? printName(window.base!, p.dialect) : printWindow(window, p);
}

export function printWindow(window: WindowSpec, p: Printer): string {
  const parts: string[] = [];
  if (window.base !== undefined) parts.push(printName(window.base, p.dialect));
  if (window.partitionBy.length > 0) parts.push(`PARTITION BY ${printExpressions(window.partitionBy, p)}`);
  if (window.orderBy.length > 0) parts.push(printOrderBy(window.orderBy, p));
  if (window.frame !== undefined) parts.push(window.frame);
  return `(${parts.join(' ')})`;
}

export function printOrderBy(items: readonly OrderItem[], p: Printer): string {
  const printed = items.map(({ expression, descending, nulls }) => {
    const order = descending ? ' DESC' : '';
    return `${print(expression, p, 0)}${order}${nulls === undefined ? '' : ` NULLS ${nulls.toUpperCase()}`}`;
  });
  return `ORDER BY ${printed.join(', ')}`;
}
