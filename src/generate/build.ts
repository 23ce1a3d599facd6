/** Short hands for the trees the generator builds most. */
import type {
  Assignment,
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
  UpdateStatement,
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

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

export interface CoreParts {
  readonly items: readonly SelectItem[];
  readonly from: FromItem;
  readonly where?: Expression | undefined;
  readonly groupBy?: readonly Expression[];
  readonly having?: Expression | undefined;
  readonly distinct?: boolean;
}

export function core(parts: CoreParts): SelectCore {
  // Fields are set one by one: spreading objects that are mostly empty was seen in profiles.
  const made: Mutable<SelectCore> = {
    type: 'core',
    distinct: parts.distinct ?? false,
    items: parts.items,
    from: [parts.from],
    groupBy: parts.groupBy ?? [],
  };
  if (parts.where !== undefined) made.where = parts.where;
  if (parts.having !== undefined) made.having = parts.having;
  return made;
}

export interface QueryTail {
  readonly with?: SelectStatement['with'];
  readonly orderBy?: readonly OrderItem[];
  readonly limit?: number | undefined;
  readonly locks?: readonly LockClause[];
}

export function query(body: QueryBody, tail: QueryTail = {}): SelectStatement {
  const made: Mutable<SelectStatement> = {
    type: 'select',
    body,
    orderBy: tail.orderBy ?? [],
    locks: tail.locks ?? [],
  };
  if (tail.with !== undefined) made.with = tail.with;
  if (tail.limit !== undefined) made.limit = literal(tail.limit);
  return made;
}

/** UPDATE of one table. */
export function update(
  name: string,
  set: Readonly<Record<string, Expression>>,
  where: Expression | undefined,
): UpdateStatement {
  return {
    type: 'update',
    table: table(name),
    set: assignments(set),
    from: [],
    ...(where === undefined ? {} : { where }),
    orderBy: [],
  };
}

export function assignments(set: Readonly<Record<string, Expression>>): Assignment[] {
  return Object.entries(set).map(([name, value]) => ({ columns: [name], value }));
}

/** The conjunction of what is there. */
export function both(left: Expression | undefined, right: Expression | undefined): Expression | undefined {
  if (left === undefined || right === undefined) return left ?? right;
  return binary('AND', left, right);
}
