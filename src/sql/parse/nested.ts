/**
 * What can stand inside almost anything: expressions, queries and writes. SQL's grammar is recursive, the files that read it
 * are not: the rules that stand lower reach the higher ones through the cursor's `grammar`.
 */
import type { Expression, SelectStatement } from '../ast.js';
import type { Cursor } from './cursor.js';

/** An expression whose operators bind at least this tightly. */
export function nestedExpression(c: Cursor, atLeast = 0): Expression {
  return c.grammar.expression(c, atLeast);
}

export function parseExpressions(c: Cursor): Expression[] {
  return c.list(() => nestedExpression(c));
}

/** Whether a query can begin here, perhaps behind parentheses. */
export function startsQuery(c: Cursor): boolean {
  let ahead = 0;
  while (c.key(ahead) === '(') ahead++;
  const key = c.key(ahead);
  if (key === 'SELECT' || key === 'WITH') return true;
  // MySQL's VALUES(column) is a function; its table constructor is VALUES ROW(…).
  if (key === 'VALUES') return c.dialect !== 'mysql' || c.key(ahead + 1) === 'ROW';
  return key === 'FROM' && c.dialect === 'duckdb';
}

/** A query up to the closing parenthesis, if that is what stands here. */
export function attemptQuery(c: Cursor): SelectStatement | undefined {
  if (!startsQuery(c)) return undefined;
  if (c.key() !== '(') return c.grammar.query(c);
  return c.attempt(() => {
    const query = c.grammar.query(c);
    if (c.key() !== ')') c.fail(')');
    return query;
  });
}
