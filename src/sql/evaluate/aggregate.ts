/**
 * GROUP BY and the aggregates COUNT, SUM, MIN, MAX, AVG (TOTAL in SQLite).
 *
 * Rows are put into groups by their key; a group becomes one row: the columns that are constant in it, then the
 * aggregates, then the grouping values. A column that varies inside its group is undecidable there, which covers functional
 * dependency, and SQLite's arbitrary row. A sum of doubles is decided only if no order of adding could round.
 */
import type { CallExpression, Expression } from '../ast.js';
import { isAggregateCall } from '../features.js';
import { doubleValue, integerValue, sameValue, type Value } from '../value.js';
import { comparison } from './compare.js';
import { compileTruth } from './condition.js';
import { compileValue } from './expression.js';
import { KeyKeeper } from './keys.js';
import { addDecimals, type Decimal, decimalValue, divideAsPostgres, toDecimal, toDouble } from './number.js';
import type { Compiled, Context, Env, Scope } from './scope.js';
import { type SqlType, types } from './types.js';
import { type Evaluated, isUndecidable, NotDecidable, undecidable } from './undecidable.js';

export interface Grouping {
  /** The scope expressions behind the grouping are compiled in. */
  readonly scope: Scope;
  readonly group: (rows: readonly (readonly Evaluated[])[], outer: Env | undefined) => Evaluated[][];
}

/** Aggregate calls outside subqueries. */
export function findAggregates(
  node: unknown,
  sqlite: boolean,
  found: CallExpression[] = [],
): CallExpression[] {
  if (typeof node !== 'object' || node === null || (node as { type?: string }).type === 'select')
    return found;
  if (Array.isArray(node)) for (const item of node) findAggregates(item, sqlite, found);
  else if (isAggregateCall(node as Expression, sqlite)) found.push(node as CallExpression);
  else for (const value of Object.values(node)) findAggregates(value, sqlite, found);
  return found;
}

/** Prepares grouping for the expressions that will be evaluated on groups. */
export function compileGrouping(
  groupBy: readonly Expression[],
  used: readonly Expression[],
  scope: Scope,
  ctx: Context,
): Grouping {
  const keys = groupBy.map((expression) => compileValue(expression, scope, ctx));
  const calls = used.flatMap((expression) => findAggregates(expression, ctx.dialect === 'sqlite'));
  const aggregates = calls.map((call) => compileAggregate(call, scope, ctx));
  const width = scope.columns.length;
  const computed = new Map<Expression, { index: number; type: SqlType }>();
  for (const [i, call] of calls.entries())
    computed.set(call, { index: width + i, type: aggregates[i]!.type });
  groupBy.forEach((expression, i) => {
    const at = { index: width + calls.length + i, type: keys[i]!.type };
    const text = JSON.stringify(expression);
    for (const outside of used) markEqual(outside, text, at, computed);
  });
  const group = (rows: readonly (readonly Evaluated[])[], outer: Env | undefined) => {
    const keeper = new KeyKeeper(
      ctx,
      keys.map(({ type }) => type),
    );
    const groups = new Map<string, { rows: (readonly Evaluated[])[]; keys: Evaluated[] }>();
    for (const row of rows) {
      const values = keys.map(({ run }) => run({ row, outer }));
      const key = keeper.key(values);
      const known = groups.get(key);
      if (known === undefined) groups.set(key, { rows: [row], keys: values });
      else {
        known.rows.push(row);
        known.keys = known.keys.map((value, i) => constantCell(value, values[i]!));
      }
    }
    if (groups.size === 0 && groupBy.length === 0) groups.set('', { rows: [], keys: [] });
    return [...groups.values()].map((members) => [
      ...representative(members.rows, width),
      ...aggregates.map(({ compute }) => compute(members.rows, outer)),
      ...members.keys,
    ]);
  };
  return { scope: { ...scope, computed }, group };
}

/** Expressions that are spelt like a grouping expression have its value. */
function markEqual(
  node: unknown,
  text: string,
  at: { index: number; type: SqlType },
  computed: Map<Expression, { index: number; type: SqlType }>,
): void {
  if (typeof node !== 'object' || node === null) return;
  if (Array.isArray(node)) for (const item of node) markEqual(item, text, at, computed);
  else if (JSON.stringify(node) === text) computed.set(node as Expression, at);
  else if (!isAggregateCall(node as Expression) && (node as { type?: string }).type !== 'select') {
    for (const value of Object.values(node)) markEqual(value, text, at, computed);
  }
}

const varies = undecidable('a column that varies inside its group');

function constantCell(a: Evaluated, b: Evaluated): Evaluated {
  return isUndecidable(a) || isUndecidable(b) || !sameValue(a, b) ? varies : a;
}

function representative(rows: readonly (readonly Evaluated[])[], width: number): Evaluated[] {
  const [first] = rows;
  if (first === undefined) return new Array<Evaluated>(width).fill(varies);
  return first.map((cell, i) =>
    rows.every((row) => !isUndecidable(constantCell(cell, row[i]!))) ? cell : varies,
  );
}

interface Aggregate {
  readonly type: SqlType;
  readonly compute: (rows: readonly (readonly Evaluated[])[], outer: Env | undefined) => Evaluated;
}

function compileAggregate(call: CallExpression, scope: Scope, ctx: Context): Aggregate {
  const filter = call.filter === undefined ? undefined : compileTruth(call.filter, scope, ctx);
  const kept = (row: readonly Evaluated[], outer: Env | undefined) => {
    const holds = filter === undefined ? true : filter({ row, outer });
    if (isUndecidable(holds)) throw new NotDecidable(holds.undecidable);
    return holds === true;
  };
  if (call.star === true) {
    if (call.name !== 'count') throw new NotDecidable(`the aggregate ${call.name}(*)`);
    return { type: types.bigint, compute: (rows, outer) => rows.filter((row) => kept(row, outer)).length };
  }
  if (call.args.length !== 1 || call.orderBy !== undefined)
    throw new NotDecidable(`the aggregate ${call.name}`);
  const argument = compileValue(call.args[0]!, aggregateScope(call, scope), ctx);
  const { type, reduce } = reduction(call.name, argument, ctx);
  const compute: Aggregate['compute'] = (rows, outer) => {
    const values: Value[] = [];
    const seen = new Set<string>();
    const keeper = new KeyKeeper(ctx, [argument.type]);
    for (const row of rows) {
      if (!kept(row, outer)) continue;
      const value = argument.run({ row, outer });
      if (isUndecidable(value)) return value;
      if (value === null) continue;
      if (call.distinct === true) {
        const key = keeper.key([value]);
        if (seen.has(key)) continue;
        seen.add(key);
      }
      values.push(value);
    }
    return reduce(values);
  };
  return { type, compute };
}

/** An aggregate whose argument names only outer columns belongs to the outer query. */
function aggregateScope(call: CallExpression, scope: Scope): Scope {
  const text = JSON.stringify(call.args);
  const own = { columns: scope.columns, parent: undefined };
  return text.includes('"type":"column"') ? own : scope;
}

interface Reduction {
  readonly type: SqlType;
  readonly reduce: (values: readonly Value[]) => Evaluated;
}

function reduction(name: string, argument: Compiled, ctx: Context): Reduction {
  switch (name) {
    case 'count':
      return { type: types.bigint, reduce: (values) => values.length };
    case 'min':
    case 'max':
      return extreme(name === 'max' ? 1 : -1, argument.type, ctx);
    case 'sum':
      return sum(argument.type, ctx);
    case 'avg':
      if (ctx.borrowed) throw new NotDecidable('an average as another engine gives it');
      return average(argument.type, ctx);
    default:
      throw new NotDecidable(`the aggregate ${name}`);
  }
}

function extreme(wanted: number, type: SqlType, ctx: Context): Reduction {
  if (type.family === 'unknown' || (type.family === 'bool' && ctx.dialect === 'postgres')) {
    throw new NotDecidable('MIN or MAX of this type');
  }
  const compare = comparison(type, type, ctx, false);
  const reduce = (values: readonly Value[]): Evaluated => {
    let best: Value = null;
    for (const value of values) {
      if (best === null) {
        best = value;
        continue;
      }
      const sign = compare(value, best);
      if (typeof sign !== 'number') return sign;
      if (sign === 0 && !sameValue(value, best)) return undecidable('two spellings of one value');
      if (sign * wanted > 0) best = value;
    }
    return best;
  };
  return { type, reduce };
}

function exactSum(values: readonly Value[]): Decimal | undefined {
  let total: Decimal = { digits: 0n, scale: 0 };
  for (const value of values) {
    const exact = toDecimal(value);
    if (exact === undefined) return undefined;
    total = addDecimals(total, exact, 1n);
  }
  return total;
}

/** A sum that is the same in every order: all terms are multiples of 2⁻¹⁰ and small enough never to round. */
function doubleSum(values: readonly Value[]): number | undefined {
  let total = 0;
  let size = 0;
  for (const value of values) {
    const double = toDouble(value);
    if (double === undefined || !Number.isInteger(double * 1024)) return undefined;
    total += double;
    size += Math.abs(double);
  }
  return size < 2 ** 42 ? total : undefined;
}

const inexact = undecidable('a sum that depends on the order of its terms');
const notNumbers = undecidable('a sum of what is not numbers');

function sum(type: SqlType, ctx: Context): Reduction {
  if (type.family === 'double') {
    const reduce = (values: readonly Value[]) => {
      if (values.length === 0) return null;
      const total = doubleSum(values);
      return total === undefined ? inexact : doubleValue(total);
    };
    return { type, reduce };
  }
  if (type.family !== 'int' && type.family !== 'decimal')
    throw new NotDecidable('a sum of what is not numbers');
  const asDecimal =
    type.family === 'decimal' ||
    ctx.dialect === 'mysql' ||
    (ctx.dialect === 'postgres' && (type.bits ?? 64) > 32);
  const scale = type.family === 'int' ? 0 : type.scale;
  const result: SqlType = asDecimal
    ? { family: 'decimal', ...(scale === undefined ? {} : { scale }) }
    : types.bigint;
  const reduce = (values: readonly Value[]): Evaluated => {
    if (values.length === 0) return null;
    const total = exactSum(values);
    if (total === undefined || (total.scale > 0 && type.family === 'int')) return notNumbers;
    if (asDecimal) return decimalValue(total);
    return BigInt.asIntN(64, total.digits) === total.digits
      ? integerValue(total.digits)
      : undecidable('overflow');
  };
  return { type: result, reduce };
}

function average(type: SqlType, ctx: Context): Reduction {
  const { dialect } = ctx;
  const count = (values: readonly Value[]): Decimal => ({ digits: BigInt(values.length), scale: 0 });
  if (dialect === 'postgres' && (type.family === 'int' || type.family === 'decimal')) {
    const reduce = (values: readonly Value[]): Evaluated => {
      const total = exactSum(values);
      if (values.length === 0 || total === undefined) return total === undefined ? notNumbers : null;
      return decimalValue(divideAsPostgres(total, count(values)));
    };
    return { type: { family: 'decimal' }, reduce };
  }
  if (dialect === 'mysql' && (type.family === 'int' || type.family === 'decimal')) {
    const scale = (type.scale ?? 0) + 4;
    const reduce = (values: readonly Value[]): Evaluated => {
      const total = exactSum(values);
      if (values.length === 0 || total === undefined) return total === undefined ? notNumbers : null;
      const numerator = total.digits * 10n ** BigInt(scale - total.scale);
      const { digits } = count(values);
      return numerator % digits === 0n
        ? decimalValue({ digits: numerator / digits, scale })
        : undecidable('an average that must be rounded');
    };
    return { type: { family: 'decimal', scale }, reduce };
  }
  if (type.family !== 'int' && type.family !== 'double') throw new NotDecidable('an average of this type');
  const reduce = (values: readonly Value[]): Evaluated => {
    if (values.length === 0) return null;
    const total = doubleSum(values);
    return total === undefined ? inexact : doubleValue(total / values.length);
  };
  return { type: types.double, reduce };
}
