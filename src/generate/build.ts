/** Short hands for the trees the generator builds most. */
import type {
  BinaryOperator,
  CallExpression,
  Expression,
  FromItem,
  LockClause,
  OrderItem,
  QueryBody,
  SelectCore,
  SelectItem,
  SelectStatement,
  TableReference,
  Value,
} from '../sql/index.js';

export function literal(value: Value): Expression {
  // A fraction that is a double reads back as a float, so it is built as one.
  if (typeof value === 'number' && !Number.isSafeInteger(value)) {
    const text = String(value);
    return { type: 'float', text: text.includes('e') ? text : `${text}e0` };
  }
  return { type: 'literal', value };
}

export function column(name: string, table?: string): Expression {
  return table === undefined ? { type: 'column', name } : { type: 'column', table, name };
}

export function binary(op: BinaryOperator, left: Expression, right: Expression): Expression {
  return { type: 'binary', op, left, right };
}

export function call(
  name: string,
  args: readonly Expression[],
  more: Partial<CallExpression> = {},
): CallExpression {
  return { type: 'call', name, args, ...more };
}

export const countStar: CallExpression = { type: 'call', name: 'count', args: [], star: true };

export function item(expression: Expression, alias?: string): SelectItem {
  return alias === undefined ? { type: 'item', expression } : { type: 'item', expression, alias };
}

export function table(name: string, alias?: string): TableReference {
  return alias === undefined ? { type: 'table', name } : { type: 'table', name, alias };
}

export interface CoreParts {
  readonly items: readonly SelectItem[];
  readonly from: FromItem;
  readonly where?: Expression | undefined;
  readonly groupBy?: readonly Expression[];
  readonly having?: Expression | undefined;
  readonly distinct?: boolean;
}

export function core(parts: CoreParts): SelectCore {
  return {
    type: 'core',
    distinct: parts.distinct ?? false,
    items: parts.items,
    from: [parts.from],
    ...(parts.where === undefined ? {} : { where: parts.where }),
    groupBy: parts.groupBy ?? [],
    ...(parts.having === undefined ? {} : { having: parts.having }),
  };
}

export interface QueryTail {
  readonly with?: SelectStatement['with'];
  readonly orderBy?: readonly OrderItem[];
  readonly limit?: number | undefined;
  readonly locks?: readonly LockClause[];
}

export function query(body: QueryBody, tail: QueryTail = {}): SelectStatement {
  return {
    type: 'select',
    ...(tail.with === undefined ? {} : { with: tail.with }),
    body,
    orderBy: tail.orderBy ?? [],
    ...(tail.limit === undefined ? {} : { limit: literal(tail.limit) }),
    locks: tail.locks ?? [],
  };
}

/** The conjunction of what is there. */
export function both(left: Expression | undefined, right: Expression | undefined): Expression | undefined {
  if (left === undefined || right === undefined) return left ?? right;
  return binary('AND', left, right);
}
