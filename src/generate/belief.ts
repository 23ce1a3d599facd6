/**
 * What an expression is worth on shadow rows: a value, or `undefined` when that cannot be told. It understands what
 * the generator writes into predicates and assignments, with SQL's three-valued logic, and only where all engines agree:
 * whole-number arithmetic, comparisons (texts only for equality, because collations order them), subqueries over one
 * table.
 */
import type { Expression, SelectStatement, Value } from '../sql/index.js';
import type { Scope, ShadowRow } from './shadow.js';

/** A value of SQL's logic, or undefined: not known. */
export type Belief = boolean | null | undefined;

/** Whether a condition holds. */
export function believe(condition: Expression, scope: Scope): Belief {
  const value = believeValue(condition, scope);
  return typeof value === 'boolean' || value === null ? value : undefined;
}

/** The value of an expression; booleans stand for SQL's truth values. */
export function believeValue(expression: Expression, scope: Scope): Value | undefined {
  switch (expression.type) {
    case 'literal':
      return expression.value;
    case 'float':
      return Number(expression.text);
    case 'column':
      return lookUp(expression.table, expression.name, scope);
    case 'unary': {
      const value = believeValue(expression.operand, scope);
      if (expression.op === 'NOT')
        return not(typeof value === 'boolean' || value === null ? value : undefined);
      return typeof value === 'number' && expression.op === '-' ? -value : value === null ? null : undefined;
    }
    case 'binary':
      return believeBinary(expression.op, expression.left, expression.right, scope);
    case 'between': {
      const low = compare('>=', expression.operand, expression.low, scope);
      const high = compare('<=', expression.operand, expression.high, scope);
      return negate(and(low, high), expression.negated);
    }
    case 'in-list':
      return negate(
        expression.list.map((each) => compare('=', expression.operand, each, scope)).reduce(or, false),
        expression.negated,
      );
    case 'like': {
      const value = believeValue(expression.operand, scope);
      const { pattern } = expression;
      if (value === undefined || pattern.type !== 'literal') return undefined;
      if (typeof value !== 'string' || typeof pattern.value !== 'string')
        return value === null ? null : undefined;
      return likePattern(pattern.value).test(value) !== expression.negated;
    }
    case 'is': {
      const value = believeValue(expression.operand, scope);
      if (value === undefined || expression.test !== 'NULL') return undefined;
      return (value === null) !== expression.negated;
    }
    case 'case': {
      for (const { when, result } of expression.branches) {
        const holds = believe(when, scope);
        if (holds === undefined || expression.operand !== undefined) return undefined;
        if (holds === true) return believeValue(result, scope);
      }
      return expression.otherwise === undefined ? null : believeValue(expression.otherwise, scope);
    }
    case 'exists': {
      const rows = believeRows(expression.query, scope);
      return rows === undefined ? undefined : rows.length > 0;
    }
    case 'subquery':
      return believeScalar(expression.query, scope);
    case 'in-query': {
      const rows = believeRows(expression.query, scope);
      if (rows === undefined) return undefined;
      const operand = believeValue(expression.operand, scope);
      const found = rows.map((value) => compareValues('=', operand, value)).reduce(or, false);
      return negate(found, expression.negated);
    }
    default:
      return undefined;
  }
}

/** LIKE without escapes. Our texts are in lower case, so it does not matter who ignores case. */
function likePattern(pattern: string): RegExp {
  const escaped = pattern.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`^${escaped.replaceAll('%', '.*').replaceAll('_', '.')}$`, 's');
}

function lookUp(table: string | undefined, name: string, { names }: Scope): Value | undefined {
  for (const [owner, row] of names) {
    if ((table === undefined || table === owner) && name in row.values) return row.values[name];
  }
  return undefined;
}

function not(value: Belief): Belief {
  return typeof value === 'boolean' ? !value : value;
}

function negate(value: Belief, negated: boolean): Belief {
  return negated ? not(value) : value;
}

function and(a: Belief, b: Belief): Belief {
  if (a === false || b === false) return false;
  if (a === undefined || b === undefined) return undefined;
  return a === null || b === null ? null : a && b;
}

function or(a: Belief, b: Belief): Belief {
  return not(and(not(a), not(b)));
}

function believeBinary(op: string, left: Expression, right: Expression, scope: Scope): Value | undefined {
  if (op === 'AND') return and(believe(left, scope), believe(right, scope));
  if (op === 'OR') return or(believe(left, scope), believe(right, scope));
  if (['=', '<>', '<', '<=', '>', '>='].includes(op)) return compare(op, left, right, scope);
  const a = believeValue(left, scope);
  const b = believeValue(right, scope);
  if (a === undefined || b === undefined) return undefined;
  if (a === null || b === null) return null;
  if (!Number.isSafeInteger(a) || !Number.isSafeInteger(b)) return undefined;
  const [x, y] = [a as number, b as number];
  const result = op === '+' ? x + y : op === '-' ? x - y : op === '%' && y !== 0 ? x % y : undefined;
  // JavaScript's remainder of a negative number can be −0.
  return result === undefined ? undefined : result + 0;
}

function compare(op: string, left: Expression, right: Expression, scope: Scope): Belief {
  return compareValues(op, believeValue(left, scope), believeValue(right, scope));
}

function compareValues(op: string, left: Value | undefined, right: Value | undefined): Belief {
  if (left === undefined || right === undefined) return undefined;
  if (left === null || right === null) return null;
  const [a, b] = [sortable(left), sortable(right)];
  const numbers = typeof a !== 'string' && typeof b !== 'string';
  if (!numbers && typeof a !== typeof b) return undefined;
  const temporal = typeof left === 'object' && !('int' in left);
  if (!numbers && !temporal && op !== '=' && op !== '<>') return undefined;
  switch (op) {
    case '=':
      return a <= b && a >= b;
    case '<>':
      return a < b || a > b;
    case '<':
      return a < b;
    case '<=':
      return a <= b;
    case '>':
      return a > b;
    default:
      return a >= b;
  }
}

/** Something JavaScript orders as SQL does. */
function sortable(value: NonNullable<Value>): number | bigint | string {
  if (typeof value === 'boolean') return Number(value);
  if (typeof value !== 'object') return value;
  if ('int' in value) return BigInt(value.int);
  return 'decimal' in value ? Number(value.decimal) : String(Object.values(value)[0]);
}

/** The first column of a query over one table; undefined when a row of it is doubtful. */
function believeRows(query: SelectStatement, outer: Scope): (Value | undefined)[] | undefined {
  const rows = selectedRows(query, outer);
  if (rows === undefined || query.body.type !== 'core') return undefined;
  const first = query.body.items[0];
  if (first?.type !== 'item') return undefined;
  return rows.map((scope) => believeValue(first.expression, scope));
}

function selectedRows(query: SelectStatement, outer: Scope): Scope[] | undefined {
  const { body } = query;
  const from = body.type === 'core' ? body.from[0] : undefined;
  if (body.type !== 'core' || from?.type !== 'table' || body.from.length !== 1) return undefined;
  if (body.groupBy.length > 0 || query.limit !== undefined || query.with !== undefined) return undefined;
  const table = outer.shadow.table(from.name);
  if (table === undefined) return undefined;
  const scopes: Scope[] = [];
  for (const row of table.list()) {
    const scope = inner(outer, from.alias ?? from.name, row);
    const hit = body.where === undefined ? true : believe(body.where, scope);
    if (hit === undefined || (hit === true && !row.sure)) return undefined;
    if (hit === true) scopes.push(scope);
  }
  return scopes;
}

function inner(outer: Scope, name: string, row: ShadowRow): Scope {
  return { shadow: outer.shadow, names: [[name, row], ...outer.names] };
}

/** A scalar subquery: COUNT(*), MIN, MAX or SUM over whole numbers, or at most one row. */
function believeScalar(query: SelectStatement, outer: Scope): Value | undefined {
  const scopes = selectedRows(query, outer);
  const first = query.body.type === 'core' ? query.body.items[0] : undefined;
  if (scopes === undefined || first?.type !== 'item') return undefined;
  const { expression } = first;
  if (expression.type !== 'call') {
    return scopes.length === 1
      ? believeValue(expression, scopes[0]!)
      : scopes.length === 0
        ? null
        : undefined;
  }
  if (expression.star === true) return scopes.length;
  const values = scopes.map((scope) => believeValue(expression.args[0]!, scope));
  const numbers = values.filter((value) => value !== null);
  if (!numbers.every((value): value is number => Number.isSafeInteger(value))) return undefined;
  if (numbers.length === 0) return null;
  if (expression.name === 'min') return Math.min(...numbers);
  if (expression.name === 'max') return Math.max(...numbers);
  return expression.name === 'sum' ? numbers.reduce((sum, each) => sum + each, 0) : undefined;
}
