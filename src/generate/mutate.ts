/** Changes to single statements of a template: constants, conditions, harmless company. */
import type { Expression, Statement } from '../sql/index.js';
import { binary, core, countStar, item, query, table } from './build.js';
import type { Random } from './random.js';

/** Rebuilds a tree, innermost nodes first. What `change` returns takes the node's place. */
export function rebuild(
  node: unknown,
  change: (node: Readonly<Record<string, unknown>>, key: string) => unknown,
  key = '',
): unknown {
  if (Array.isArray(node)) return node.map((each) => rebuild(each, change, key));
  if (typeof node !== 'object' || node === null) return node;
  // The value of a constant is data, not a node.
  if ((node as { type?: unknown }).type === 'literal')
    return change(node as Readonly<Record<string, unknown>>, key);
  const entries = Object.entries(node).map(([name, child]) => [name, rebuild(child, change, name)] as const);
  return change(Object.fromEntries(entries), key);
}

/** A change that moves every whole number by one increasing function, and leaves LIMIT alone. */
export function moveValues(random: Random): (statement: Statement) => Statement {
  const factor = random.pick([1, 1, 2, 3]);
  const shift = random.pick([0, 1, 5, 100]);
  return (statement) =>
    rebuild(statement, (node, key) => {
      if (node.type !== 'literal' || key === 'limit' || key === 'offset') return node;
      const { value } = node;
      return typeof value === 'number' ? { ...node, value: value * factor + shift } : node;
    }) as Statement;
}

/** The same statement with its conditions spelt otherwise, seldom with a wider one. */
export function otherPredicates(statement: Statement, random: Random): Statement {
  if (statement.type === 'update' || statement.type === 'delete') {
    if (statement.where === undefined) return statement;
    return { ...statement, where: otherCondition(statement.where, random) };
  }
  if (statement.type !== 'select' || statement.body.type !== 'core') return statement;
  const { body } = statement;
  if (body.where === undefined) return statement;
  return { ...statement, body: { ...body, where: otherCondition(body.where, random) } };
}

function otherCondition(condition: Expression, random: Random): Expression {
  if (condition.type === 'binary' && (condition.op === 'AND' || condition.op === 'OR')) {
    const [left, right] = [otherCondition(condition.left, random), otherCondition(condition.right, random)];
    return { ...condition, left, right };
  }
  if (condition.type !== 'binary' || condition.op !== '=') return condition;
  const { left: operand, right: value } = condition;
  if (value.type !== 'literal') return condition;
  const forms: Expression[] = [
    { type: 'in-list', operand, list: [value], negated: false },
    { type: 'between', operand, low: value, high: value, negated: false },
    binary('AND', binary('>=', operand, value), binary('<=', operand, value)),
    { type: 'unary', op: 'NOT', operand: binary('<>', operand, value) },
    binary('OR', condition, { type: 'is', operand, test: 'NULL', negated: false }),
    binary('>=', operand, value),
  ];
  return random.pickSkewed(forms);
}

/** A query that changes nothing and whose answer nobody needs. */
export function harmlessQuery(name: string): Statement {
  return query(core({ items: [item(countStar, 'n')], from: table(name) }));
}
