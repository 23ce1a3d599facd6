/**
 * Conditions in three-valued logic, compiled to closures. AND, OR and IN still decide when the known side settles them, so that one
 * undecidable part need not spoil the whole.
 */
import type { ComparisonOperator, Expression } from '../ast.js';
import { temporalValue } from '../parse/literal.js';
import type { Value } from '../value.js';
import { isArithmetic } from './arithmetic.js';
import { compileContains } from './containment.js';
import { matchLike } from './like.js';
import type { Compiled, CompiledTruth, Context, Scope } from './scope.js';
import { compileExists, compileInQuery, compileQuantified } from './subquery.js';
import { and, any, compareCompiled, negateTruth, strict, xor } from './truth.js';
import type { SqlType } from './types.js';
import { isUndecidable, NotDecidable, undecidable } from './undecidable.js';

/** An expression as a condition. */
export function compileTruth(e: Expression, scope: Scope, ctx: Context): CompiledTruth {
  if (scope.computed?.has(e) === true) return truthOf(ctx.compileValue(e, scope, ctx), ctx);
  const side = (operand: Expression) => compileTruth(operand, scope, ctx);
  switch (e.type) {
    case 'unary':
      return e.op === 'NOT' ? negateTruth(side(e.operand)) : truthOf(ctx.compileValue(e, scope, ctx), ctx);
    case 'binary':
      switch (e.op) {
        case 'AND':
          return and(side(e.left), side(e.right));
        case 'OR':
          return negateTruth(and(negateTruth(side(e.left)), negateTruth(side(e.right))));
        case 'XOR':
          return xor(side(e.left), side(e.right));
        case '=':
        case '<>':
        case '<':
        case '<=':
        case '>':
        case '>=':
          return compileCompare({ op: e.op, left: e.left, right: e.right }, scope, ctx);
        case 'IS DISTINCT FROM':
        case 'IS NOT DISTINCT FROM':
          return compileDistinct(e, e.op === 'IS DISTINCT FROM', scope, ctx);
        case '@>':
          return compileContains(e, scope, ctx);
        default:
          if (isArithmetic(e.op) || e.op === '||') return truthOf(ctx.compileValue(e, scope, ctx), ctx);
          throw new NotDecidable(`the operator ${e.op}`);
      }
    case 'between': {
      const low = compileCompare({ op: '>=', left: e.operand, right: e.low }, scope, ctx);
      const high = compileCompare({ op: '<=', left: e.operand, right: e.high }, scope, ctx);
      return e.negated ? negateTruth(and(low, high)) : and(low, high);
    }
    case 'in-list': {
      const equal = e.list.map((item) =>
        compileCompare({ op: '=', left: e.operand, right: item }, scope, ctx),
      );
      const found = any(equal);
      return e.negated ? negateTruth(found) : found;
    }
    case 'in-query': {
      const found = compileInQuery(e.operand, e.query, scope, ctx);
      return e.negated ? negateTruth(found) : found;
    }
    case 'quantified':
      return compileQuantified(e, scope, ctx);
    case 'exists':
      return compileExists(e.query, scope, ctx);
    case 'like':
      return compileLike(e, scope, ctx);
    case 'is':
      return compileIs(e, scope, ctx);
    default:
      return truthOf(ctx.compileValue(e, scope, ctx), ctx);
  }
}

/** A value where a condition is wanted: a boolean, or where 0 and 1 are the truth values a number. */
function truthOf(value: Compiled, ctx: Context): CompiledTruth {
  const numbers = ctx.dialect === 'mysql' || ctx.dialect === 'sqlite';
  return (env) => {
    const result = value.run(env);
    if (result === null || typeof result === 'boolean' || isUndecidable(result)) return result;
    return numbers && typeof result === 'number'
      ? result !== 0
      : undecidable('the truth of what is not a boolean');
  };
}

/** `left op right`. */
interface Compared<Side> {
  readonly op: ComparisonOperator;
  readonly left: Side;
  readonly right: Side;
}

export function compileCompare(
  { op, left, right }: Compared<Expression>,
  scope: Scope,
  ctx: Context,
): CompiledTruth {
  if (left.type === 'row' && right.type === 'row')
    return compareRows({ op, left: left.items, right: right.items }, scope, ctx);
  const [a, b] = matchLiterals(left, right, scope, ctx);
  return compareCompiled(op, a, b, ctx);
}

function compareRows(
  { op, left, right }: Compared<readonly Expression[]>,
  scope: Scope,
  ctx: Context,
): CompiledTruth {
  if (left.length !== right.length || (op !== '=' && op !== '<>'))
    throw new NotDecidable('the order of rows');
  const different = any(
    left.map((item, i) => compileCompare({ op: '<>', left: item, right: right[i]! }, scope, ctx)),
  );
  const truth = op === '<>' ? different : negateTruth(different);
  if (ctx.dialect !== 'duckdb') return truth;
  return (env) => truth(env) ?? nullInRow;
}

/** DuckDB compares rows as structs, in which NULL is a value like others. */
const nullInRow = undecidable('NULL in rows that are compared');

/** A text constant beside a date or a number is read as one, where its spelling leaves no doubt. */
function matchLiterals(
  left: Expression,
  right: Expression,
  scope: Scope,
  ctx: Context,
): [Compiled, Compiled] {
  const a = ctx.compileValue(left, scope, ctx);
  const b = ctx.compileValue(right, scope, ctx);
  return [adaptLiteral(left, a, b.type, ctx), adaptLiteral(right, b, a.type, ctx)];
}

function adaptLiteral(e: Expression, compiled: Compiled, beside: SqlType, ctx: Context): Compiled {
  if (e.type !== 'literal' || typeof e.value !== 'string' || ctx.dialect === 'sqlite') return compiled;
  const value = textAs(e.value, beside, ctx);
  return value === undefined ? compiled : { type: beside, run: () => value };
}

/** The value a text constant takes beside another type. */
export function textAs(text: string, beside: SqlType, ctx: Pick<Context, 'dialect'>): Value | undefined {
  if (beside.family === 'int' && ctx.dialect !== 'mysql')
    return /^-?\d{1,9}$/.test(text) ? Number(text) : undefined;
  const names = { date: 'DATE', time: 'TIME', timestamp: 'TIMESTAMP', instant: 'TIMESTAMPTZ' } as const;
  const name = names[beside.family as keyof typeof names];
  const value = name === undefined ? undefined : temporalValue(text, name);
  return value !== undefined && Number.isNaN(Date.parse(text.replace(/^(\d\d:)/, '2000-01-01 $1')))
    ? undefined
    : value;
}

function compileDistinct(
  { left, right }: { readonly left: Expression; readonly right: Expression },
  negated: boolean,
  scope: Scope,
  ctx: Context,
): CompiledTruth {
  const [a, b] = matchLiterals(left, right, scope, ctx);
  const equal = compareCompiled('=', a, b, ctx);
  return (env) => {
    const x = a.run(env);
    const y = b.run(env);
    if (isUndecidable(x)) return x;
    if (isUndecidable(y)) return y;
    const same = x === null || y === null ? x === y : equal(env);
    return typeof same === 'boolean' ? same !== negated : same;
  };
}

function compileLike(e: Extract<Expression, { type: 'like' }>, scope: Scope, ctx: Context): CompiledTruth {
  if (e.op !== 'LIKE' && e.op !== 'ILIKE') throw new NotDecidable(`the operator ${e.op}`);
  const mark = e.escape;
  if (
    mark !== undefined &&
    (mark.type !== 'literal' || typeof mark.value !== 'string' || [...mark.value].length !== 1)
  ) {
    throw new NotDecidable('an escape that is not one character');
  }
  const escaped = mark?.type === 'literal' ? (mark.value as string) : undefined;
  const matched = strict(
    ctx.compileValue(e.operand, scope, ctx).run,
    ctx.compileValue(e.pattern, scope, ctx).run,
    (text, pattern) => {
      if (typeof text !== 'string' || typeof pattern !== 'string')
        return undecidable('LIKE on what is not text');
      return matchLike(text, pattern, {
        dialect: ctx.dialect,
        borrowed: ctx.borrowed,
        escape: escaped,
        ignoreCase: e.op === 'ILIKE',
      });
    },
  ) as CompiledTruth;
  return e.negated ? negateTruth(matched) : matched;
}

/** True by the standard; HSQLDB takes IS NOT TRUE for NOT. */
const nullIsNot = undecidable('IS NOT TRUE or IS NOT FALSE of NULL');

function compileIs(e: Extract<Expression, { type: 'is' }>, scope: Scope, ctx: Context): CompiledTruth {
  const { test, negated } = e;
  if (test === 'NULL') {
    if (e.operand.type === 'row') throw new NotDecidable('IS NULL on a row');
    const { run } = ctx.compileValue(e.operand, scope, ctx);
    return (env) => {
      const value = run(env);
      return isUndecidable(value) ? value : (value === null) !== negated;
    };
  }
  const truth = compileTruth(e.operand, scope, ctx);
  const wanted = test === 'TRUE' ? true : test === 'FALSE' ? false : null;
  return (env) => {
    const value = truth(env);
    if (value === null && negated && ctx.borrowed) return nullIsNot;
    return isUndecidable(value) ? value : (value === wanted) !== negated;
  };
}
