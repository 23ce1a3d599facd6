/**
 * Expressions compiled to closures: names are looked up and types decided once, so that a predicate costs little per
 * row. Three-valued logic throughout; what the dialect leaves open comes out as `Undecidable` with its reason. AND and OR still decide
 * when the known side settles them.
 *
 * An answer holds on the condition that the engine's statement succeeds: engines may evaluate more than they need, and
 * fail on a row our short cut never looked at.
 */
import type { ComparisonOperator, Expression } from '../ast.js';
import { temporalValue } from '../parse/literal.js';
import type { Value } from '../value.js';
import { visitNodes } from '../walk.js';
import { arithmetic, convertTo, negate, unifyTypes } from './arithmetic.js';
import { compileCast } from './cast.js';
import { comparison } from './compare.js';
import { compileCall } from './functions.js';
import { matchLike } from './like.js';
import { decimalValue, expandExponent } from './number.js';
import {
  type Compiled,
  type CompiledTruth,
  type Context,
  type Env,
  resolveColumn,
  type Scope,
} from './scope.js';
import { compileExists, compileInQuery, compileQuantified, compileScalarQuery } from './subquery.js';
import { literalType, type SqlType, truthType, types } from './types.js';
import { type Evaluated, isUndecidable, NotDecidable, type Truth, undecidable } from './undecidable.js';

/** An expression as a value. */
export function compileValue(e: Expression, scope: Scope, ctx: Context): Compiled {
  const computed = scope.computed?.get(e);
  if (computed !== undefined) return { type: computed.type, run: (env) => env.row[computed.index]! };
  switch (e.type) {
    case 'literal':
      return constant(e.value, ctx);
    case 'float': {
      const number = Number(e.text);
      if (!Number.isFinite(number)) throw new NotDecidable('a number beyond doubles');
      if (ctx.dialect !== 'postgres') return { type: types.double, run: () => number };
      const decimal = expandExponent(e.text);
      if (decimal === undefined) throw new NotDecidable('a number with a large exponent');
      return constant(decimalValue(decimal), ctx);
    }
    case 'column': {
      const { depth, index, type } = resolveColumn(e, scope, ctx.dialect);
      if (depth === 0) return { type, run: (env) => env.row[index]! };
      return { type, run: (env) => outerRow(env, depth)[index]! };
    }
    case 'unary':
      if (e.op === 'NOT') break;
      if (ctx.dialect === 'mysql' && !variesByRow(e.operand))
        return negateConstant(e.op, compileValue(e.operand, scope, ctx));
      return compileSign(e.op, compileValue(e.operand, scope, ctx));
    case 'binary':
      if (isArithmetic(e.op)) {
        const a = compileValue(e.left, scope, ctx);
        const b = compileValue(e.right, scope, ctx);
        const operation = arithmetic(e.op, a.type, b.type, ctx.dialect);
        return { type: operation.type, run: strict(a.run, b.run, operation.apply) };
      }
      if (e.op === '||')
        return concatenate(compileValue(e.left, scope, ctx), compileValue(e.right, scope, ctx));
      break;
    case 'case':
      return compileCase(e, scope, ctx);
    case 'cast':
      return compileCast(compileValue(e.operand, scope, ctx), e, ctx.dialect);
    case 'call':
      return compileCall(
        e,
        e.args.map((arg) => compileValue(arg, scope, ctx)),
        ctx,
      );
    case 'subquery':
      return compileScalarQuery(e.query, scope, ctx);
    case 'collate':
      throw new NotDecidable('a collation');
    case 'parameter':
    case 'raw':
    case 'default':
    case 'interval':
    case 'row':
      throw new NotDecidable(
        `${e.type === 'row' ? 'a row' : e.type === 'default' ? 'DEFAULT' : 'text we do not read'} as a value`,
      );
  }
  const truth = compileTruth(e, scope, ctx);
  const type = truthType(ctx.dialect);
  if (type.family === 'bool') return { type, run: truth };
  return {
    type,
    run: (env) => {
      const result = truth(env);
      return typeof result === 'boolean' ? Number(result) : result;
    },
  };
}

function constant(value: Value, ctx: Context): Compiled {
  const type = literalType(value, ctx.dialect);
  let fixed = value;
  if (typeof value === 'boolean' && type.family === 'int') fixed = Number(value);
  else if (type.family === 'double' && typeof value === 'object' && value !== null && 'decimal' in value) {
    fixed = Number(value.decimal);
  }
  return { type, run: () => fixed };
}

/** Whether an expression names a column outside subqueries, so that no engine can take it for a constant. */
function variesByRow(e: Expression): boolean {
  if (e.type === 'column') return true;
  let varies = false;
  visitNodes(e, {
    expression: (node) => {
      if (node.type === 'column') varies = true;
    },
  });
  return varies && !/"type":"(subquery|in-query|exists|quantified)"/.test(JSON.stringify(e));
}

function outerRow(env: Env, depth: number): readonly Evaluated[] {
  let at = env;
  for (let i = 0; i < depth; i++) at = at.outer!;
  return at.row;
}

function isArithmetic(op: string): boolean {
  return op === '+' || op === '-' || op === '*' || op === '/' || op === '%' || op === 'DIV';
}

/** NULL and undecidable pass through; an operation sees only values. */
export function strict(
  a: Compiled['run'],
  b: Compiled['run'],
  apply: (a: Value, b: Value) => Evaluated,
): Compiled['run'] {
  return (env) => {
    const x = a(env);
    if (x === null) return null;
    const y = b(env);
    if (y === null) return null;
    if (isUndecidable(x)) return x;
    if (isUndecidable(y)) return y;
    return apply(x, y);
  };
}

/** MariaDB makes the negation of a negative constant a decimal, whatever the constant is made of. */
function negateConstant(op: '-' | '+' | '~', operand: Compiled): Compiled {
  const { type, run } = compileSign(op, operand);
  return {
    type,
    run: (env) => {
      const value = operand.run(env);
      return op === '-' && typeof value === 'number' && value < 0 ? doubtfulSign : run(env);
    },
  };
}

const doubtfulSign = undecidable('the type of the negation of a constant');

function compileSign(op: '-' | '+' | '~', operand: Compiled): Compiled {
  if (op === '~') throw new NotDecidable('bitwise NOT');
  if (op === '+' && /^(int|decimal|double)$/.test(operand.type.family)) return operand;
  if (op === '+') throw new NotDecidable('a sign before what is not a number');
  const apply = negate(operand.type);
  return {
    type: operand.type,
    run: (env) => {
      const value = operand.run(env);
      return value === null || isUndecidable(value) ? value : apply(value, null);
    },
  };
}

const notText = undecidable('concatenation of what is not text');

function concatenate(a: Compiled, b: Compiled): Compiled {
  const text = (value: Value) =>
    typeof value === 'string'
      ? value
      : typeof value === 'number' && Number.isInteger(value)
        ? String(value)
        : undefined;
  const texts = (type: SqlType) => type.family === 'text' || type.family === 'int' || type.family === 'null';
  if (!texts(a.type) || !texts(b.type)) throw new NotDecidable('concatenation of what is not text');
  return {
    type: types.text,
    run: strict(a.run, b.run, (x, y) => {
      const left = text(x);
      const right = text(y);
      return left === undefined || right === undefined ? notText : left + right;
    }),
  };
}

function compileCase(e: Extract<Expression, { type: 'case' }>, scope: Scope, ctx: Context): Compiled {
  const { operand } = e;
  const conditions = e.branches.map(({ when }) =>
    operand === undefined ? compileTruth(when, scope, ctx) : compileCompare('=', operand, when, scope, ctx),
  );
  const results = e.branches.map(({ result }) => compileValue(result, scope, ctx));
  const otherwise: Compiled =
    e.otherwise === undefined ? constant(null, ctx) : compileValue(e.otherwise, scope, ctx);
  const type = unifyTypes([...results.map((result) => result.type), otherwise.type], ctx.dialect);
  if (type === undefined) throw new NotDecidable('CASE with results of different types');
  const convert = convertTo(type, ctx.dialect);
  return {
    type,
    run: (env) => {
      for (let i = 0; i < conditions.length; i++) {
        const holds = conditions[i]!(env);
        if (isUndecidable(holds)) return holds;
        if (holds === true) return convert(results[i]!.run(env));
      }
      return convert(otherwise.run(env));
    },
  };
}

/** An expression as a condition. */
export function compileTruth(e: Expression, scope: Scope, ctx: Context): CompiledTruth {
  if (scope.computed?.has(e) === true) return truthOf(compileValue(e, scope, ctx), ctx);
  const side = (operand: Expression) => compileTruth(operand, scope, ctx);
  switch (e.type) {
    case 'unary':
      return e.op === 'NOT' ? negateTruth(side(e.operand)) : truthOf(compileValue(e, scope, ctx), ctx);
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
          return compileCompare(e.op, e.left, e.right, scope, ctx);
        case 'IS DISTINCT FROM':
        case 'IS NOT DISTINCT FROM':
          return compileDistinct(e.left, e.right, e.op === 'IS DISTINCT FROM', scope, ctx);
        default:
          if (isArithmetic(e.op) || e.op === '||') return truthOf(compileValue(e, scope, ctx), ctx);
          throw new NotDecidable(`the operator ${e.op}`);
      }
    case 'between': {
      const low = compileCompare('>=', e.operand, e.low, scope, ctx);
      const high = compileCompare('<=', e.operand, e.high, scope, ctx);
      return e.negated ? negateTruth(and(low, high)) : and(low, high);
    }
    case 'in-list': {
      const equal = e.list.map((item) => compileCompare('=', e.operand, item, scope, ctx));
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
      return truthOf(compileValue(e, scope, ctx), ctx);
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

export function negateTruth(truth: CompiledTruth): CompiledTruth {
  return (env) => {
    const result = truth(env);
    return typeof result === 'boolean' ? !result : result;
  };
}

function and(a: CompiledTruth, b: CompiledTruth): CompiledTruth {
  return (env) => {
    const left = a(env);
    if (left === false) return false;
    const right = b(env);
    if (left === true || right === false) return right;
    return isUndecidable(left) ? left : isUndecidable(right) ? right : null;
  };
}

/** OR over many. */
export function any(truths: readonly CompiledTruth[]): CompiledTruth {
  return (env) => {
    let result: Truth = false;
    for (const truth of truths) {
      const next = truth(env);
      if (next === true) return true;
      if (isUndecidable(next)) result = next;
      else if (next === null && result === false) result = null;
    }
    return result;
  };
}

function xor(a: CompiledTruth, b: CompiledTruth): CompiledTruth {
  return (env) => {
    const left = a(env);
    const right = b(env);
    if (typeof left === 'boolean' && typeof right === 'boolean') return left !== right;
    if (left === null || right === null) return null;
    return isUndecidable(left) ? left : right;
  };
}

const tests: Readonly<Record<ComparisonOperator, (sign: number) => boolean>> = {
  '=': (sign) => sign === 0,
  '<>': (sign) => sign !== 0,
  '<': (sign) => sign < 0,
  '<=': (sign) => sign <= 0,
  '>': (sign) => sign > 0,
  '>=': (sign) => sign >= 0,
};

export function compileCompare(
  op: ComparisonOperator,
  left: Expression,
  right: Expression,
  scope: Scope,
  ctx: Context,
): CompiledTruth {
  if (left.type === 'row' && right.type === 'row')
    return compareRows(op, left.items, right.items, scope, ctx);
  const [a, b] = matchLiterals(left, right, scope, ctx);
  return compareCompiled(op, a, b, ctx);
}

export function compareCompiled(
  op: ComparisonOperator,
  a: Compiled,
  b: Compiled,
  ctx: Context,
): CompiledTruth {
  const equality = op === '=' || op === '<>';
  const compare = comparison(a.type, b.type, ctx.dialect, ctx.textOrder, equality);
  const test = tests[op];
  return (env) => {
    const x = a.run(env);
    if (x === null) return null;
    const y = b.run(env);
    if (y === null) return null;
    if (isUndecidable(x)) return x;
    if (isUndecidable(y)) return y;
    const sign = compare(x, y);
    return typeof sign === 'number' ? test(sign) : sign;
  };
}

function compareRows(
  op: ComparisonOperator,
  left: readonly Expression[],
  right: readonly Expression[],
  scope: Scope,
  ctx: Context,
): CompiledTruth {
  if (left.length !== right.length || (op !== '=' && op !== '<>'))
    throw new NotDecidable('the order of rows');
  const different = any(left.map((item, i) => compileCompare('<>', item, right[i]!, scope, ctx)));
  return op === '<>' ? different : negateTruth(different);
}

/** A text constant beside a date or a number is read as one, where its spelling leaves no doubt. */
function matchLiterals(
  left: Expression,
  right: Expression,
  scope: Scope,
  ctx: Context,
): [Compiled, Compiled] {
  const a = compileValue(left, scope, ctx);
  const b = compileValue(right, scope, ctx);
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
  left: Expression,
  right: Expression,
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
    compileValue(e.operand, scope, ctx).run,
    compileValue(e.pattern, scope, ctx).run,
    (text, pattern) => {
      if (typeof text !== 'string' || typeof pattern !== 'string')
        return undecidable('LIKE on what is not text');
      return matchLike(text, pattern, escaped, ctx.dialect, e.op === 'ILIKE');
    },
  ) as CompiledTruth;
  return e.negated ? negateTruth(matched) : matched;
}

function compileIs(e: Extract<Expression, { type: 'is' }>, scope: Scope, ctx: Context): CompiledTruth {
  const { test, negated } = e;
  if (test === 'NULL') {
    if (e.operand.type === 'row') throw new NotDecidable('IS NULL on a row');
    const { run } = compileValue(e.operand, scope, ctx);
    return (env) => {
      const value = run(env);
      return isUndecidable(value) ? value : (value === null) !== negated;
    };
  }
  const truth = compileTruth(e.operand, scope, ctx);
  const wanted = test === 'TRUE' ? true : test === 'FALSE' ? false : null;
  return (env) => {
    const value = truth(env);
    return isUndecidable(value) ? value : (value === wanted) !== negated;
  };
}
