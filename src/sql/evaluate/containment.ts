/**
 * PostgreSQL's `@>` in the two forms that GiST and GIN indexes serve: a range of integers with both ends, `int4range(a, b, '[]') @> x`, and a list
 * made of a text, `string_to_array(a, ',') @> string_to_array(b, ',')`. A range without an end is open there; a list of nothing is NULL.
 */
import type { BinaryExpression, CallExpression, Expression } from '../ast.js';
import type { CompiledTruth, Context, Scope } from './scope.js';
import { isUndecidable, NotDecidable, undecidable } from './undecidable.js';

export function compileContains(
  { left, right }: BinaryExpression,
  scope: Scope,
  ctx: Context,
): CompiledTruth {
  const range = callOf(left, 'int4range', 3, '[]');
  if (range !== undefined) return rangeContains([range.args[0]!, range.args[1]!, right], scope, ctx);
  const lists = [left, right].map((side) => callOf(side, 'string_to_array', 2, ','));
  const [all, some] = lists;
  if (all !== undefined && some !== undefined) return listContains([all.args[0]!, some.args[0]!], scope, ctx);
  throw new NotDecidable('the operator @> of other types');
}

/** A call whose last argument is this text. */
function callOf(e: Expression, name: string, count: number, last: string): CallExpression | undefined {
  if (e.type !== 'call' || e.name !== name || e.schema !== undefined || e.args.length !== count)
    return undefined;
  const end = e.args.at(-1)!;
  return end.type === 'literal' && end.value === last ? e : undefined;
}

const largest = 2_147_483_647;

function rangeContains(parts: readonly Expression[], scope: Scope, ctx: Context): CompiledTruth {
  const compiled = parts.map((part) => ctx.compileValue(part, scope, ctx));
  return (env) => {
    const [low, high, item] = compiled.map(({ run }) => run(env));
    for (const each of [low, high, item]) {
      if (isUndecidable(each!)) return each;
      if (each !== null && !(Number.isInteger(each) && Math.abs(each as number) < largest))
        return undecidable('a range of other numbers');
    }
    if (item === null) return null;
    if (low !== null && high !== null && low! > high!)
      return undecidable('a range that ends before it begins');
    return (low === null || low! <= item!) && (high === null || item! <= high!);
  };
}

function listContains(parts: readonly Expression[], scope: Scope, ctx: Context): CompiledTruth {
  const compiled = parts.map((part) => ctx.compileValue(part, scope, ctx));
  return (env) => {
    const texts = compiled.map(({ run }) => run(env));
    for (const each of texts) if (isUndecidable(each)) return each;
    if (texts.includes(null)) return null;
    if (!texts.every((each) => typeof each === 'string')) return undecidable('a list made of no text');
    const [all, some] = texts.map((text) => (text === '' ? [] : (text as string).split(',')));
    return some!.every((item) => all!.includes(item));
  };
}
