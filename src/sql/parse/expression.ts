/**
 * Expressions, by precedence climbing: read an operand, then as long as the operator that follows binds at least as
 * tightly as asked, take it and its right side. The binding strengths are the dialect's (`operators.ts`).
 */
import type { Expression } from '../ast.js';
import { type Cursor, ParseFailure } from './cursor.js';
import { makeCast } from './literal.js';
import { attemptQuery, parseExpressions } from './nested.js';
import { parseOperand } from './operand.js';
import { type Infix, operatorsOf } from './operators.js';

import { parseTypeName } from './type-name.js';

/** A chain of this many operators makes a tree no recursive function should walk. */
const maxChain = 1500;

export function parseExpression(c: Cursor, atLeast = 0): Expression {
  c.enter();
  const { infix } = operatorsOf(c.dialect);
  let left = parseOperand(c);
  for (let length = 0; ; length++) {
    const operator = infix.get(c.key());
    if (operator === undefined || operator.level < atLeast) break;
    const next = parseInfix(c, left, operator, atLeast);
    if (next === undefined) break;
    left = next;
    if (length > maxChain) throw new ParseFailure('it chains too many operators');
  }
  c.leave();
  return left;
}

/** What an operator makes of its left operand; `undefined` when the word belongs to someone else. */
function parseInfix(c: Cursor, left: Expression, operator: Infix, atLeast: number): Expression | undefined {
  switch (operator.kind) {
    case 'binary': {
      c.advance();
      if (operator.comparison) {
        const quantified = parseQuantified(c, left, operator);
        if (quantified !== undefined) return quantified;
      }
      return { type: 'binary', op: operator.op, left, right: parseExpression(c, operator.level + 1) };
    }
    case 'is':
      return parseIs(c, left, operator.level, atLeast);
    case 'isnull':
    case 'notnull':
      c.advance();
      return { type: 'is', operand: left, test: 'NULL', negated: operator.kind === 'notnull' };
    case 'cast': {
      c.advance();
      return makeCast(c, left, parseTypeName(c));
    }
    case 'collate':
      c.advance();
      return { type: 'collate', operand: left, collation: c.anyName() };
    default:
      return parsePredicate(c, left);
  }
}

/** IN, BETWEEN, LIKE and relatives, with or without NOT. */
function parsePredicate(c: Cursor, operand: Expression): Expression | undefined {
  const { infix, predicate } = operatorsOf(c.dialect);
  const negated = c.key() === 'NOT';
  const operator = infix.get(c.key(negated ? 1 : 0));
  if (negated && c.key(1) === 'NULL' && c.dialect === 'sqlite') {
    c.accept('NOT', 'NULL');
    return { type: 'is', operand, test: 'NULL', negated: true };
  }
  const kind = operator?.kind;
  if (kind !== 'in' && kind !== 'between' && kind !== 'like') return undefined;
  if (negated) c.advance();
  c.advance();
  const side = () => parseExpression(c, predicate + 1);
  if (kind === 'in') return parseIn(c, operand, negated);
  if (operator?.kind !== 'like') {
    const low = side();
    c.expect('AND');
    return { type: 'between', operand, low, high: side(), negated };
  }
  if (operator.op === 'SIMILAR TO') c.expect('TO');
  const pattern = side();
  const escaped = c.accept('ESCAPE') ? { escape: side() } : {};
  return { type: 'like', op: operator.op, operand, pattern, ...escaped, negated };
}

function parseIn(c: Cursor, operand: Expression, negated: boolean): Expression {
  return c.parenthesized(() => {
    if (c.key() === ')' && c.dialect === 'sqlite') return { type: 'in-list', operand, list: [], negated };
    // SQLite alone reads a query in double parentheses as a list of one value.
    const query = c.dialect === 'sqlite' && c.key() === '(' ? undefined : attemptQuery(c);
    if (query !== undefined) return { type: 'in-query', operand, query, negated };
    return { type: 'in-list', operand, list: parseExpressions(c), negated };
  });
}

function parseQuantified(
  c: Cursor,
  operand: Expression,
  operator: Extract<Infix, { kind: 'binary' }>,
): Expression | undefined {
  const key = c.key();
  if ((key !== 'ANY' && key !== 'SOME' && key !== 'ALL') || c.key(1) !== '(') return undefined;
  return c.attempt(() => {
    c.advance();
    const query = c.parenthesized(() => c.grammar.query(c));
    const op = operator.op as '=' | '<>' | '<' | '<=' | '>' | '>=';
    return { type: 'quantified', op, quantifier: key === 'ALL' ? 'ALL' : 'ANY', operand, query };
  });
}

function parseIs(c: Cursor, operand: Expression, level: number, atLeast: number): Expression | undefined {
  const { isTruth } = operatorsOf(c.dialect);
  const negated = c.key(1) === 'NOT';
  const test = c.key(negated ? 2 : 1);
  if (test === 'NULL' || test === 'TRUE' || test === 'FALSE' || test === 'UNKNOWN') {
    if (test !== 'NULL' && isTruth < atLeast) return undefined;
    for (let i = negated ? 3 : 2; i > 0; i--) c.advance();
    return { type: 'is', operand, test, negated };
  }
  c.advance();
  if (negated) c.advance();
  if (c.accept('DISTINCT', 'FROM')) {
    const op = negated ? 'IS NOT DISTINCT FROM' : 'IS DISTINCT FROM';
    return { type: 'binary', op, left: operand, right: parseExpression(c, level + 1) };
  }
  if (c.dialect !== 'sqlite') c.fail('NULL, TRUE, FALSE or DISTINCT FROM');
  const op = negated ? 'IS DISTINCT FROM' : 'IS NOT DISTINCT FROM';
  return { type: 'binary', op, left: operand, right: parseExpression(c, level + 1) };
}
