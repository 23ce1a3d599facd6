/** Truth values of compiled expressions: three-valued logic, with undecidable as a fourth that nothing but certainty hides. */
import type { ComparisonOperator } from '../ast.js';
import type { Value } from '../value.js';
import { comparison } from './compare.js';
import type { Compiled, CompiledTruth, Context } from './scope.js';
import { type Evaluated, isUndecidable, type Truth } from './undecidable.js';

export function negateTruth(truth: CompiledTruth): CompiledTruth {
  return (env) => {
    const result = truth(env);
    return typeof result === 'boolean' ? !result : result;
  };
}

export function and(a: CompiledTruth, b: CompiledTruth): CompiledTruth {
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

export function xor(a: CompiledTruth, b: CompiledTruth): CompiledTruth {
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

export function compareCompiled(
  op: ComparisonOperator,
  a: Compiled,
  b: Compiled,
  ctx: Context,
): CompiledTruth {
  const equality = op === '=' || op === '<>';
  const compare = comparison(a.type, b.type, ctx, equality);
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
