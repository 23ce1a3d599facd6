/** The functions whose results are the same on every engine of a dialect. All others are undecidable by name. */
import type { CallExpression } from '../ast.js';
import type { Value } from '../value.js';
import { arithmetic, convertTo, unifyTypes } from './arithmetic.js';
import { comparison } from './compare.js';
import { decimalValue, toDecimal } from './number.js';
import type { Compiled, Context, Env } from './scope.js';
import { isNumeric, type SqlType, types } from './types.js';
import { type Evaluated, isUndecidable, NotDecidable, undecidable } from './undecidable.js';

const ascii = /^\p{ASCII}*$/u;
const nullOfSeveral = undecidable('GREATEST or LEAST of NULL and values');
const beyondAscii = undecidable('letters beyond ASCII');

export function compileCall(call: CallExpression, args: readonly Compiled[], ctx: Context): Compiled {
  if (call.over !== undefined) throw new NotDecidable('a window function');
  if (
    call.schema !== undefined ||
    call.distinct === true ||
    call.star === true ||
    call.filter !== undefined
  ) {
    throw new NotDecidable(`the call of ${call.name}`);
  }
  const { dialect } = ctx;
  switch (`${call.name}/${args.length}`) {
    case 'abs/1':
      return absolute(args[0]!);
    case 'mod/2': {
      // SQLite has it as a function of floats, where it has it at all.
      if (args.some(({ type }) => type.family !== 'int') || dialect === 'sqlite')
        throw new NotDecidable('MOD');
      const operation = arithmetic('%', args[0]!.type, args[1]!.type, dialect);
      return { type: operation.type, run: spread(args, ([a, b]) => operation.apply(a!, b!)) };
    }
    case 'lower/1':
    case 'upper/1':
      return text(args[0]!, (value) => (call.name === 'lower' ? value.toLowerCase() : value.toUpperCase()));
    case 'length/1':
    case 'char_length/1':
    case 'character_length/1': {
      const [argument] = args;
      if (argument!.type.family !== 'text') throw new NotDecidable('the length of what is not text');
      const run = spread(args, ([value]) =>
        typeof value === 'string' ? (ascii.test(value) ? value.length : beyondAscii) : beyondAscii,
      );
      return { type: types.int, run };
    }
    case 'nullif/2':
      return nullIf(args[0]!, args[1]!, ctx);
    case 'ifnull/2':
      if (dialect === 'postgres') break;
      return coalesce(args, ctx);
  }
  if (call.name === 'coalesce' && args.length > 0) return coalesce(args, ctx);
  if (call.name === 'concat' && dialect === 'mysql' && args.every(({ type }) => type.family === 'text')) {
    return { type: types.text, run: spread(args, (values) => values.map(String).join('')) };
  }
  const extreme =
    /^(greatest|least)$/.test(call.name) || (dialect === 'sqlite' && /^(min|max)$/.test(call.name));
  if (extreme && args.length > 1) return greatest(call.name, args, ctx);
  throw new NotDecidable(`the function ${call.name}`);
}

/** NULL if an argument is, otherwise the function of the values. */
function spread(args: readonly Compiled[], apply: (values: readonly Value[]) => Evaluated): Compiled['run'] {
  return (env) => {
    const values = args.map((arg) => arg.run(env));
    if (values.includes(null)) return null;
    return values.find(isUndecidable) ?? apply(values as Value[]);
  };
}

function text(argument: Compiled, apply: (value: string) => string): Compiled {
  if (argument.type.family !== 'text') throw new NotDecidable('a text function on what is not text');
  const run = spread([argument], ([value]) =>
    typeof value === 'string' && ascii.test(value) ? apply(value) : beyondAscii,
  );
  return { type: types.text, run };
}

function absolute(argument: Compiled): Compiled {
  if (!isNumeric(argument.type)) throw new NotDecidable('ABS of what is not a number');
  const run = spread([argument], ([value]) => {
    if (typeof value === 'number') {
      return Math.abs(value) < 2 ** (argument.type.family === 'int' ? (argument.type.bits ?? 32) - 1 : 53)
        ? Math.abs(value)
        : undecidable('overflow');
    }
    const exact = toDecimal(value!);
    if (exact === undefined || argument.type.family !== 'decimal')
      return undecidable('ABS of a large number');
    return exact.digits < 0n ? decimalValue({ digits: -exact.digits, scale: exact.scale }) : value!;
  });
  return { type: argument.type, run };
}

function commonType(args: readonly Compiled[], ctx: Context): SqlType {
  const type = unifyTypes(
    args.map((arg) => arg.type),
    ctx.dialect,
  );
  if (type === undefined) throw new NotDecidable('arguments of different types');
  return type;
}

function coalesce(args: readonly Compiled[], ctx: Context): Compiled {
  const type = commonType(args, ctx);
  const convert = convertTo(type, ctx.dialect);
  const run = (env: Env): Evaluated => {
    for (const arg of args) {
      const value = arg.run(env);
      if (value !== null) return convert(value);
    }
    return null;
  };
  return { type, run };
}

function nullIf(a: Compiled, b: Compiled, ctx: Context): Compiled {
  if (a.type.family !== b.type.family && b.type.family !== 'null')
    throw new NotDecidable('NULLIF of different types');
  const compare = comparison(a.type, b.type, ctx, true);
  const run = (env: Env): Evaluated => {
    const x = a.run(env);
    const y = b.run(env);
    if (x === null || y === null || isUndecidable(x)) return x;
    if (isUndecidable(y)) return y;
    const sign = compare(x, y);
    return typeof sign === 'number' ? (sign === 0 ? null : x) : sign;
  };
  return { type: a.type, run };
}

/** PostgreSQL and DuckDB pass over NULLs, MySQL and SQLite answer NULL; of other engines it is not known. */
function greatest(name: string, args: readonly Compiled[], ctx: Context): Compiled {
  const type = commonType(args, ctx);
  const convert = convertTo(type, ctx.dialect);
  const compare = comparison(type, type, ctx, false);
  const skipsNull = ctx.dialect === 'postgres' || ctx.dialect === 'duckdb';
  const wanted = name === 'greatest' || name === 'max' ? 1 : -1;
  const run = (env: Env): Evaluated => {
    let best: Value = null;
    let seenNull = false;
    for (const arg of args) {
      const value = convert(arg.run(env));
      if (isUndecidable(value)) return value;
      if (value === null) seenNull = true;
      else if (best === null) best = value;
      else {
        const sign = compare(value, best);
        if (typeof sign !== 'number') return sign;
        if (sign * wanted > 0) best = value;
      }
    }
    if (seenNull && ctx.borrowed && best !== null) return nullOfSeveral;
    return seenNull && !skipsNull ? null : best;
  };
  return { type, run };
}
