/** Walking statement trees without knowing every node: they are plain JSON, and a node is whatever has a `type`. */
import type {
  ColumnExpression,
  FromItem,
  QueryBody,
  SelectCore,
  SelectStatement,
  TableReference,
} from '../../sql/index.js';

type Node = { readonly type: string } & Readonly<Record<string, unknown>>;

/** Calls `visit` for every node below (and including) `tree`; `false` skips what is below a node. */
export function walk(tree: unknown, visit: (node: Node) => unknown): void {
  if (Array.isArray(tree)) {
    for (const item of tree) walk(item, visit);
    return;
  }
  if (typeof tree !== 'object' || tree === null) return;
  if (typeof (tree as Node).type === 'string' && visit(tree as Node) === false) return;
  for (const value of Object.values(tree)) walk(value, visit);
}

/** The tables a tree reads or writes, by the names that stand in it. */
export function tableNames(tree: unknown): string[] {
  const names = new Set<string>();
  walk(tree, (node) => {
    if (node.type === 'table') names.add((node as unknown as TableReference).name);
  });
  return [...names];
}

/** The tables, derived tables and functions a FROM clause joins, in order. */
export type Leaf = Exclude<FromItem, { type: 'join' }>;

export function leavesOf(from: readonly FromItem[]): Leaf[] {
  return from.flatMap((item) => (item.type === 'join' ? leavesOf([item.left, item.right]) : [item]));
}

export function leafName(leaf: Leaf): string | undefined {
  if (leaf.alias !== undefined) return leaf.alias;
  return leaf.type === 'table' ? leaf.name : leaf.type === 'function' ? leaf.call.name : undefined;
}

/** Subqueries of expressions, outermost ones only. */
export function subqueriesOf(expressions: unknown): SelectStatement[] {
  const found: SelectStatement[] = [];
  walk(expressions, (node) => {
    if (node.type !== 'select') return undefined;
    found.push(node as unknown as SelectStatement);
    return false;
  });
  return found;
}

/** Column references outside subqueries. */
export function columnsIn(expressions: unknown): ColumnExpression[] {
  const found: ColumnExpression[] = [];
  walk(expressions, (node) => {
    if (node.type === 'select') return false;
    if (node.type === 'column') found.push(node as unknown as ColumnExpression);
    return undefined;
  });
  return found;
}

/** The operands of a query's set operations; one for a query without. Parentheses with clauses of their own count as one. */
export function operandsOf(body: QueryBody): (SelectCore | SelectStatement | { readonly type: 'values' })[] {
  return body.type === 'set-operation' ? [...operandsOf(body.left), ...operandsOf(body.right)] : [body];
}
