/** CAST, where the result is certain. */
import type { CastExpression } from '../ast.js';
import type { Value } from '../value.js';
import { coerce } from './coerce.js';
import type { Compiled, Context } from './scope.js';
import { sqlType } from './types.js';
import { isUndecidable, NotDecidable, undecidable } from './undecidable.js';

const tooLong = undecidable('a number longer than its text type');

export function compileCast(
  operand: Compiled,
  cast: CastExpression,
  { dialect, borrowed }: Pick<Context, 'dialect' | 'borrowed'>,
): Compiled {
  if (cast.attempt === true) throw new NotDecidable('TRY_CAST');
  const sqliteNumeric = dialect === 'sqlite' && !/^(INTEGER|INT|REAL|TEXT)$/.test(cast.to);
  const type = sqlType(cast.to, dialect);
  const ownScale = borrowed && type.family === 'decimal' && type.scale === undefined;
  if (type.family === 'unknown' || sqliteNumeric || ownScale) throw new NotDecidable(`a cast to ${cast.to}`);
  const convert = (value: Value) => {
    if (
      type.family === 'text' &&
      typeof value === 'number' &&
      Number.isInteger(value) &&
      operand.type.family === 'int'
    ) {
      // Longer digits are cut off or refused.
      return String(value).length > (type.length ?? Number.POSITIVE_INFINITY) ? tooLong : String(value);
    }
    if (dialect === 'postgres' && type.family === 'int' && typeof value === 'boolean') return Number(value);
    return coerce(value, operand.type, type, dialect);
  };
  return {
    type,
    run: (env) => {
      const value = operand.run(env);
      return value === null || isUndecidable(value) ? value : convert(value);
    },
  };
}
