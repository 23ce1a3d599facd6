/**
 * Expressions compiled to closures: names are looked up and types decided once, so that a predicate costs little per row. What the
 * dialect leaves open comes out as `Undecidable` with its reason.
 *
 * An answer holds on the condition that the engine's statement succeeds: engines may evaluate more than they need, and
 * fail on a row our short cut never looked at.
 */
import type { Expression } from '../ast.js';
import { doubleValue, type Value } from '../value.js';
import { visitNodes } from '../walk.js';
import { arithmetic, convertTo, isArithmetic, negate, unifyTypes } from './arithmetic.js';
import { compileCast } from './cast.js';
import { compileCompare, compileTruth } from './condition.js';
import { compileCall } from './functions.js';
import { decimalValue, expandExponent } from './number.js';
import { type Compiled, type Context, type Env, resolveColumn, type Scope } from './scope.js';
import { compileScalarQuery } from './subquery.js';
import { strict } from './truth.js';
import { literalType, type SqlType, truthType, types } from './types.js';
import { type Evaluated, isUndecidable, NotDecidable, undecidable } from './undecidable.js';

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
      if (ctx.dialect !== 'postgres') return { type: types.double, run: () => doubleValue(number) };
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
      if (isArithmetic(e.op)) return compileArithmetic(e, scope, ctx);
      if (e.op === '||')
        return concatenate(compileValue(e.left, scope, ctx), compileValue(e.right, scope, ctx));
      break;
    case 'case':
      return compileCase(e, scope, ctx);
    case 'cast':
      return compileCast(compileValue(e.operand, scope, ctx), e, ctx);
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
  if (type.family === 'unknown') throw new NotDecidable('a constant of unknown type');
  let fixed = value;
  if (typeof value === 'boolean' && type.family === 'int') fixed = Number(value);
  else if (type.family === 'double' && typeof value === 'object' && value !== null && 'decimal' in value) {
    fixed = doubleValue(Number(value.decimal));
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
    operand === undefined
      ? compileTruth(when, scope, ctx)
      : compileCompare({ op: '=', left: operand, right: when }, scope, ctx),
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

function compileArithmetic(e: Extract<Expression, { type: 'binary' }>, scope: Scope, ctx: Context): Compiled {
  if (e.op === '/' && ctx.borrowed) throw new NotDecidable('a quotient as another engine gives it');
  const a = compileValue(e.left, scope, ctx);
  const b = compileValue(e.right, scope, ctx);
  if (ctx.borrowed && isOfFloatAndDecimal(a, b))
    throw new NotDecidable('a float with a decimal as another engine computes it');
  const operation = arithmetic(e.op, a.type, b.type, ctx.dialect);
  return { type: operation.type, run: strict(a.run, b.run, operation.apply) };
}

/** PostgreSQL computes it in floats, H2 in decimals. */
function isOfFloatAndDecimal({ type: a }: Compiled, { type: b }: Compiled): boolean {
  return (
    (a.family === 'double' && b.family === 'decimal') || (a.family === 'decimal' && b.family === 'double')
  );
}
