/**
 * Walking and rebuilding trees. Every node is a plain object with a `type`, so one reflective walk serves all kinds;
 * what is unchanged is kept by reference, which makes a mapping that changes nothing free of garbage.
 */
import type { Expression, FromItem, SelectStatement, Statement } from './ast.js';

const expressionTypes: ReadonlySet<string> = new Set<Expression['type']>([
  'literal',
  'float',
  'column',
  'parameter',
  'raw',
  'default',
  'unary',
  'binary',
  'between',
  'in-list',
  'in-query',
  'like',
  'is',
  'case',
  'cast',
  'call',
  'exists',
  'subquery',
  'quantified',
  'row',
  'collate',
  'interval',
]);
const fromTypes: ReadonlySet<string> = new Set<FromItem['type']>(['table', 'derived', 'function', 'join']);

type Node = { readonly type?: unknown };

/** Rebuilds a statement or an expression with every expression replaced, innermost first. */
export function mapExpressions<T extends Statement | Expression>(
  node: T,
  map: (expression: Expression) => Expression,
): T {
  return mapNode(node, map) as T;
}

function mapNode(node: unknown, map: (expression: Expression) => Expression): unknown {
  if (typeof node !== 'object' || node === null) return node;
  if (Array.isArray(node)) {
    let changed = false;
    const items = node.map((item) => {
      const mapped = mapNode(item, map);
      changed ||= mapped !== item;
      return mapped;
    });
    return changed ? items : node;
  }
  let result: Record<string, unknown> = node as Record<string, unknown>;
  if ((node as Node).type !== 'literal') {
    for (const [key, value] of Object.entries(node)) {
      const mapped = mapNode(value, map);
      if (mapped === value) continue;
      if (result === node) result = { ...result };
      result[key] = mapped;
    }
  }
  return isExpression(result) ? map(result) : result;
}

export interface Visitor {
  readonly expression?: (expression: Expression) => void;
  readonly query?: (query: SelectStatement) => void;
  readonly from?: (item: FromItem) => void;
}

/** Calls the visitor for every node, outermost first. */
export function visitNodes(node: Statement | Expression, visitor: Visitor): void {
  visitNode(node, visitor);
}

function visitNode(node: unknown, visitor: Visitor): void {
  if (typeof node !== 'object' || node === null) return;
  if (Array.isArray(node)) {
    for (const item of node) visitNode(item, visitor);
    return;
  }
  if (isExpression(node)) visitor.expression?.(node);
  else if ((node as Node).type === 'select') visitor.query?.(node as SelectStatement);
  else if (fromTypes.has((node as Node).type as string)) visitor.from?.(node as FromItem);
  if ((node as Node).type === 'literal') return;
  for (const value of Object.values(node)) visitNode(value, visitor);
}

function isExpression(node: object): node is Expression {
  return expressionTypes.has((node as Node).type as string);
}
