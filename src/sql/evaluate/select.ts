/**
 * Queries evaluated on given rows: FROM, WHERE, GROUP BY, HAVING, the list, DISTINCT, set operations, ORDER BY, LIMIT.
 *
 * LIMIT is decided only where the order leaves no choice: a tie that crosses the limit is undecidable unless the tied rows are
 * the same. What a query does beyond this (windows, LATERAL, recursion, DISTINCT ON, SKIP LOCKED) is undecidable.
 */
import type {
  Expression,
  OrderItem,
  QueryBody,
  SelectCore,
  SelectItem,
  SelectStatement,
  SetOperation,
  WithClause,
} from '../ast.js';
import { sameName } from '../names.js';
import { valueKey } from '../value.js';
import { visitNodes } from '../walk.js';
import { compileGrouping, findAggregates } from './aggregate.js';
import { convertTo, unifyTypes } from './arithmetic.js';
import { compileTruth } from './condition.js';
import { compileValue } from './expression.js';
import { compileFrom, holds } from './from.js';
import { KeyKeeper } from './keys.js';
import { compileOrder, cutRows, type KeyedRow, type Order } from './order.js';
import {
  type Compiled,
  type Context,
  type Env,
  indexOfColumn,
  type Relation,
  type Scope,
  type ScopeColumn,
} from './scope.js';
import type { SqlType } from './types.js';
import { type Evaluated, isUndecidable, NotDecidable } from './undecidable.js';

/** Rows with the keys they are to be sorted by. */
interface Body {
  readonly columns: readonly ScopeColumn[];
  readonly correlated: boolean;
  readonly order: Order | undefined;
  readonly run: (outer: Env | undefined) => KeyedRow[];
}

export function compileQuery(query: SelectStatement, parent: Scope | undefined, outside: Context): Relation {
  if (query.locks.some(({ wait }) => wait === 'SKIP LOCKED')) throw new NotDecidable('SKIP LOCKED');
  const ctx = query.with === undefined ? outside : withTables(query.with, parent, outside);
  const body = compileBody(query.body, query.orderBy, parent, ctx);
  const limit = constantCount(query.limit);
  const offset = constantCount(query.offset) ?? 0;
  return {
    columns: body.columns,
    correlated: body.correlated,
    run: (outer) => cutRows(body.run(outer), body.order, limit, offset),
  };
}

function constantCount(expression: Expression | undefined): number | undefined {
  if (expression === undefined) return undefined;
  if (expression.type !== 'literal' || (expression.value !== null && typeof expression.value !== 'number')) {
    throw new NotDecidable('LIMIT by an expression');
  }
  const { value } = expression;
  if (value !== null && (value < 0 || !Number.isInteger(value))) throw new NotDecidable('a LIMIT below zero');
  return value ?? undefined;
}

/** Each common table is evaluated once, in the context of those before it. */
function withTables(clause: WithClause, parent: Scope | undefined, outside: Context): Context {
  if (clause.recursive) throw new NotDecidable('WITH RECURSIVE');
  let ctx = outside;
  for (const cte of clause.ctes) {
    if (cte.statement.type !== 'select') throw new NotDecidable('a write inside WITH');
    const before = ctx;
    const relation = compileQuery(cte.statement, parent, before);
    // Where it is used, the row it reads may be further out than where it was written.
    if (relation.correlated) throw new NotDecidable('a common table that reads the query around it');
    const columns = relation.columns.map((column, i) => ({
      ...column,
      name: cte.columns?.[i] ?? column.name,
    }));
    const named: Relation = { ...relation, columns };
    const table: Context['table'] = (name, schema) =>
      schema === undefined && sameName(name, cte.name, before.dialect) ? named : before.table(name, schema);
    ctx = { ...before, table };
  }
  return ctx;
}

function compileBody(
  body: QueryBody,
  orderBy: readonly OrderItem[],
  parent: Scope | undefined,
  ctx: Context,
): Body {
  switch (body.type) {
    case 'core':
      return compileCore(body, orderBy, parent, ctx);
    case 'values':
      return compileValues(body.rows, orderBy, parent, ctx);
    case 'set-operation':
      return compileSetOperation(body, orderBy, parent, ctx);
    case 'select': {
      const relation = compileQuery(body, parent, ctx);
      const order = outputOrder(orderBy, relation.columns, ctx);
      return { ...relation, order, run: (outer) => keyed(relation.run(outer).rows, order) };
    }
    default:
      return body satisfies never;
  }
}

/** Sort keys that are output columns, by name or number. */
function outputOrder(
  orderBy: readonly OrderItem[],
  columns: readonly ScopeColumn[],
  ctx: Context,
): Order | undefined {
  if (orderBy.length === 0) return undefined;
  const indexes = orderBy.map(({ expression }) => {
    const index = outputIndex(expression, columns, ctx);
    if (index === undefined) throw new NotDecidable('ORDER BY of what is not in the list');
    return index;
  });
  return compileOrder(
    orderBy,
    indexes.map((i) => columns[i]!.type),
    indexes,
    ctx,
  );
}

function outputIndex(
  expression: Expression,
  columns: readonly ScopeColumn[],
  ctx: Context,
): number | undefined {
  if (expression.type === 'literal' && typeof expression.value === 'number') {
    return expression.value >= 1 && expression.value <= columns.length ? expression.value - 1 : undefined;
  }
  if (expression.type !== 'column' || expression.table !== undefined) return undefined;
  return indexOfColumn(expression, columns, ctx.dialect);
}

function keyed(rows: readonly (readonly Evaluated[])[], order: Order | undefined): KeyedRow[] {
  return rows.map((row) => ({ row, keys: order === undefined ? [] : order.indexes.map((i) => row[i]!) }));
}

function compileValues(
  rows: readonly (readonly Expression[])[],
  orderBy: readonly OrderItem[],
  parent: Scope | undefined,
  ctx: Context,
): Body {
  const scope: Scope = { columns: [], parent };
  const compiled = rows.map((row) => row.map((item) => compileValue(item, scope, ctx)));
  const columns = (compiled[0] ?? []).map((_, i): ScopeColumn => {
    const type = unifyTypes(
      compiled.map((row) => row[i]?.type ?? { family: 'unknown' }),
      ctx.dialect,
    );
    if (type === undefined) throw new NotDecidable('VALUES with different types in one column');
    return { table: undefined, name: `column${i + 1}`, type };
  });
  const converts = columns.map(({ type }) => convertTo(type, ctx.dialect));
  const order = outputOrder(orderBy, columns, ctx);
  return {
    columns,
    correlated: scope.correlated === true,
    order,
    run: (outer) =>
      keyed(
        compiled.map((row) => row.map((item, i) => converts[i]!(item.run({ row: [], outer })))),
        order,
      ),
  };
}

function compileSetOperation(
  operation: SetOperation,
  orderBy: readonly OrderItem[],
  parent: Scope | undefined,
  ctx: Context,
): Body {
  const left = compileBody(operation.left, [], parent, ctx);
  const right = compileBody(operation.right, [], parent, ctx);
  if (left.columns.length !== right.columns.length)
    throw new NotDecidable('a set operation on different widths');
  const columns = left.columns.map((column, i): ScopeColumn => {
    const type = unifyTypes([column.type, right.columns[i]!.type], ctx.dialect);
    if (type === undefined) throw new NotDecidable('a set operation on different types');
    return { table: undefined, name: column.name, type };
  });
  const converts = columns.map(({ type }) => convertTo(type, ctx.dialect));
  const convert = ({ row }: KeyedRow) => row.map((cell, i) => converts[i]!(cell));
  const order = outputOrder(orderBy, columns, ctx);
  return {
    columns,
    correlated: left.correlated || right.correlated,
    order,
    run: (outer) =>
      keyed(
        combine(
          operation,
          [left.run(outer).map(convert), right.run(outer).map(convert)],
          typesOf(columns),
          ctx,
        ),
        order,
      ),
  };
}

type Rows = readonly (readonly Evaluated[])[];

function typesOf(columns: readonly ScopeColumn[]): SqlType[] {
  return columns.map(({ type }) => type);
}

function combine(
  { op, all }: SetOperation,
  [left, right]: readonly [Rows, Rows],
  types: readonly SqlType[],
  ctx: Context,
): Rows {
  if (op === 'UNION') return all ? [...left, ...right] : distinctRows([...left, ...right], types, ctx);
  const keeper = new KeyKeeper(ctx, types);
  const counts = new Map<string, number>();
  for (const row of right) {
    const key = keeper.key(row);
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  const kept = left.filter((row) => {
    const key = keeper.key(row);
    const count = counts.get(key) ?? 0;
    if (all && count > 0) counts.set(key, count - 1);
    return count > 0 === (op === 'INTERSECT');
  });
  return all ? kept : distinctRows(kept, types, ctx);
}

/** One row per key. Rows of one key that are spelt differently leave the choice to the engine. */
function distinctRows(rows: Rows, types: readonly SqlType[], ctx: Context): Rows {
  const keeper = new KeyKeeper(ctx, types);
  const seen = new Map<string, readonly Evaluated[]>();
  for (const row of rows) {
    const key = keeper.key(row);
    const first = seen.get(key);
    if (first === undefined) seen.set(key, row);
    else if (rowText(first) !== rowText(row)) throw new NotDecidable('two spellings of one value');
  }
  return [...seen.values()];
}

function rowText(row: readonly Evaluated[]): string {
  return row.map((cell) => (isUndecidable(cell) ? '?' : valueKey(cell))).join();
}

function compileCore(
  core: SelectCore,
  orderBy: readonly OrderItem[],
  parent: Scope | undefined,
  ctx: Context,
): Body {
  if (core.distinctOn !== undefined || core.windows !== undefined)
    throw new NotDecidable('DISTINCT ON or WINDOW');
  const source = compileFrom(core.from, parent, ctx);
  const scope: Scope = { columns: source.columns, parent };
  const where = core.where === undefined ? undefined : compileTruth(core.where, scope, ctx);
  const items = core.items.flatMap((item) => expandItem(item, source.columns, ctx));
  const ordered = orderBy.map(({ expression }) => orderTarget(expression, items, ctx));
  const used = [
    ...items.map(({ expression }) => expression),
    ...(core.having === undefined ? [] : [core.having]),
  ];
  for (const target of ordered) if (typeof target !== 'number') used.push(target);
  const sqlite = ctx.dialect === 'sqlite';
  const inGroups = core.groupBy.length > 0 || findAggregates(used, sqlite).length > 0;
  if (core.having !== undefined) rejectUnsureHaving(core.having, inGroups, items, ctx);
  const grouped = inGroups || core.having !== undefined;
  const groupBy = core.groupBy.map((expression) => groupTarget(expression, items, source.columns, ctx));
  const grouping = grouped ? compileGrouping(groupBy, used, scope, ctx) : undefined;
  const inner = grouping?.scope ?? scope;
  const compiled = items.map(({ expression }) => compileValue(expression, inner, ctx));
  const having = core.having === undefined ? undefined : compileTruth(core.having, inner, ctx);
  const keys = ordered.map(
    (target): Compiled => (typeof target === 'number' ? compiled[target]! : compileValue(target, inner, ctx)),
  );
  if (core.distinct && ordered.some((target) => typeof target !== 'number')) {
    throw new NotDecidable('DISTINCT ordered by what is not in the list');
  }
  const order =
    orderBy.length === 0
      ? undefined
      : compileOrder(
          orderBy,
          keys.map(({ type }) => type),
          [],
          ctx,
        );
  const run = (outer: Env | undefined): KeyedRow[] => {
    let rows: Rows = source.run(outer);
    if (where !== undefined) rows = rows.filter((row) => holds(where, { row, outer }));
    if (grouping !== undefined) rows = grouping.group(rows, outer);
    if (having !== undefined) rows = rows.filter((row) => holds(having, { row, outer }));
    const result = rows.map((row) => {
      const env = { row, outer };
      return { row: compiled.map(({ run: cell }) => cell(env)), keys: keys.map(({ run: key }) => key(env)) };
    });
    return core.distinct ? distinctKeyed(result, typesOf(columns), ctx) : result;
  };
  const correlated = source.correlated || scope.correlated === true || inner.correlated === true;
  const columns = items.map(
    ({ name }, i): ScopeColumn => ({ table: undefined, name, type: compiled[i]!.type }),
  );
  return { columns, correlated, order, run };
}

/**
 * In MySQL and DuckDB a name in HAVING is an alias of the list before it is a column, unless the query groups by that column. In MySQL a
 * HAVING without groups filters single rows.
 */
function rejectUnsureHaving(
  having: Expression,
  inGroups: boolean,
  items: readonly OutputItem[],
  ctx: Context,
): void {
  if (ctx.dialect !== 'mysql' && ctx.dialect !== 'duckdb') return;
  if (!inGroups && ctx.dialect === 'mysql') throw new NotDecidable('HAVING without groups');
  visitNodes(having, {
    expression: (node) => {
      if (node.type !== 'column' || node.table !== undefined) return;
      const unlike = ({ expression, name }: OutputItem) =>
        sameName(name, node.name, ctx.dialect) &&
        !(expression.type === 'column' && sameName(expression.name, name, ctx.dialect));
      if (items.some(unlike)) throw new NotDecidable(`HAVING by the alias ${node.name}`);
    },
  });
}

function distinctKeyed(rows: readonly KeyedRow[], types: readonly SqlType[], ctx: Context): KeyedRow[] {
  const kept = new Set(
    distinctRows(
      rows.map(({ row }) => row),
      types,
      ctx,
    ),
  );
  return rows.filter(({ row }) => kept.has(row));
}

interface OutputItem {
  readonly expression: Expression;
  readonly name: string;
}

function expandItem(item: SelectItem, columns: readonly ScopeColumn[], ctx: Context): OutputItem[] {
  if (item.type === 'item') {
    const { expression, alias } = item;
    return [{ expression, name: alias ?? (expression.type === 'column' ? expression.name : '') }];
  }
  const { table } = item;
  const own = columns.filter(
    (column) =>
      table === undefined || (column.table !== undefined && sameName(column.table, table, ctx.dialect)),
  );
  if (own.length === 0 || (table !== undefined && own.some(({ hidden }) => hidden === true))) {
    throw new NotDecidable('a star that cannot be expanded');
  }
  return own
    .filter(({ hidden }) => hidden !== true)
    .map((column) => ({
      expression: {
        type: 'column',
        ...(column.table === undefined ? {} : { table: column.table }),
        name: column.name,
      },
      name: column.name,
    }));
}

/** What an ORDER BY item means: a number or an alias of the list, else an expression of its own. */
function orderTarget(
  expression: Expression,
  items: readonly OutputItem[],
  ctx: Context,
): number | Expression {
  if (expression.type === 'literal' && typeof expression.value === 'number') {
    if (!Number.isInteger(expression.value) || items[expression.value - 1] === undefined)
      throw new NotDecidable('ORDER BY a number');
    return expression.value - 1;
  }
  const text = JSON.stringify(expression);
  const same = items.findIndex((item) => JSON.stringify(item.expression) === text);
  if (expression.type !== 'column' || expression.table !== undefined) return same >= 0 ? same : expression;
  const named = items.flatMap((item, i) => (sameName(item.name, expression.name, ctx.dialect) ? [i] : []));
  if (named.length > 1 && same < 0) throw new NotDecidable(`ORDER BY ${expression.name} is ambiguous`);
  return named.length === 1 ? named[0]! : same >= 0 ? same : expression;
}

/** What a GROUP BY item means: a column first, then an alias, or a number of the list. */
function groupTarget(
  expression: Expression,
  items: readonly OutputItem[],
  columns: readonly ScopeColumn[],
  ctx: Context,
): Expression {
  if (expression.type === 'literal' && typeof expression.value === 'number') {
    const item = items[expression.value - 1];
    if (item === undefined) throw new NotDecidable('GROUP BY a number');
    return item.expression;
  }
  if (expression.type !== 'column' || expression.table !== undefined) return expression;
  const called = items.find(({ name }) => sameName(name, expression.name, ctx.dialect))?.expression;
  if (indexOfColumn(expression, columns, ctx.dialect) === undefined) return called ?? expression;
  const same = called === undefined || (called.type === 'column' && called.name === expression.name);
  if (ctx.borrowed && !same) throw new NotDecidable('GROUP BY a name of a column and of another value');
  return expression;
}
